package dev.waymark.server.mcp;

import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.waymark.client.AgentResult;
import dev.waymark.contract.PayloadJson;
import dev.waymark.conversation.decision.PendingItem;
import dev.waymark.conversation.value.Problem;
import dev.waymark.conversation.value.ProblemType;
import dev.waymark.display.SafeText;
import java.time.Clock;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Optional;

/** A thread as a task, whose result is that of the thread's first turn. */
final class TaskDocument {
    /** Clients poll less often the longer they wait, like other callers. */
    private static final int POLLS_FOR_EACH_WAIT = 10;

    private static final Duration SHORTEST_POLL = Duration.ofSeconds(1);
    private static final Duration LONGEST_POLL = Duration.ofSeconds(15);
    private static final int LONGEST_MESSAGE = 300;

    private static final String WITHOUT_FORMS = "Waits for you, and this client cannot fill in forms. Answer a question"
            + " with the tool `answer`; decide about approvals and unknown outcomes in the console of `waymark serve`, or"
            + " with `waymark pending`: ";

    private TaskDocument() {}

    static ObjectNode of(McpRequest request, String thread, FollowedTurn turn, Clock clock) {
        ObjectNode task = PayloadJson.MAPPER.createObjectNode().put("taskId", thread);
        if (turn.isGone()) {
            throw RpcProblem.invalidParams(ProblemType.NOT_FOUND, "the task has expired: its history was deleted");
        }
        addStatus(request, task, turn);
        Instant begun = turn.begun().orElseGet(clock::instant);
        task.put("createdAt", begun.toString());
        task.put("lastUpdatedAt", turn.changed().orElse(begun).toString());
        task.putNull("ttlMs");
        task.put("pollIntervalMs", pollMillis(Duration.between(begun, clock.instant())));
        return task;
    }

    private static long pollMillis(Duration waited) {
        long millis = waited.toMillis() / POLLS_FOR_EACH_WAIT;
        return Math.max(SHORTEST_POLL.toMillis(), Math.min(LONGEST_POLL.toMillis(), millis));
    }

    private static void addStatus(McpRequest request, ObjectNode task, FollowedTurn turn) {
        Optional<AgentResult> result = turn.result();
        if (result.isPresent()) {
            addResult(task, result.get());
            return;
        }
        List<PendingItem> pending = turn.pending();
        List<PendingItem> own = pending.stream()
                .filter(item -> InputForms.mayAnswer(request.caller(), item))
                .toList();
        boolean asks = request.offersForms() && !own.isEmpty();
        task.put("status", asks ? "input_required" : "working");
        if (asks) {
            task.set("inputRequests", InputForms.requests(request.caller(), own));
        } else if (!own.isEmpty()) {
            task.put("statusMessage", WITHOUT_FORMS + words(own.get(0)));
        } else if (!pending.isEmpty()) {
            // This client cannot answer a request that waits for somebody else.
            task.put("statusMessage", "Waits for another person: " + words(pending.get(0)));
        }
    }

    private static String words(PendingItem item) {
        return SafeText.line(Problem.cut(item.words(), LONGEST_MESSAGE));
    }

    private static void addResult(ObjectNode task, AgentResult result) {
        boolean isCancelled = result instanceof AgentResult.Stopped || result instanceof AgentResult.Cancelled;
        task.put("status", isCancelled ? "cancelled" : "completed");
        if (isCancelled) {
            result.problem().ifPresent(why -> task.put("statusMessage", why.message()));
        } else {
            task.set("result", ToolResults.of(result));
        }
    }
}
