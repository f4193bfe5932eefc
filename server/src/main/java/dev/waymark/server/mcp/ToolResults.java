package dev.waymark.server.mcp;

import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.waymark.client.AgentResult;
import dev.waymark.client.document.JsonDocuments;
import dev.waymark.contract.McpNames;
import dev.waymark.contract.PayloadJson;
import dev.waymark.conversation.decision.PendingItem;
import dev.waymark.conversation.value.Problem;
import dev.waymark.display.SafeText;
import dev.waymark.server.http.HttpProblem;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;

/** The results of tools. Their texts are for the model that has called the tool. */
final class ToolResults {
    private static final String STATUS = "status";

    private ToolResults() {}

    /** The outcome of a turn. */
    static ObjectNode of(AgentResult result) {
        ObjectNode answer;
        if (result instanceof AgentResult.Complete complete) {
            answer = text(complete.text());
            complete.structured().ifPresent(json -> answer.set("structuredContent", JsonDocuments.tree(json)));
        } else if (result instanceof AgentResult.Interrupted interrupted) {
            return waiting(result.thread(), interrupted.pending());
        } else {
            Problem problem = result.problem().orElseThrow();
            String words = result instanceof AgentResult.Cut cut ? "\n" + cut.text() : "";
            answer = error(problem.type(), problem.message() + " (thread " + result.thread() + ")" + words);
        }
        return onThread(answer, result.thread());
    }

    /** What waits for a person, and how it is answered. */
    static ObjectNode waiting(String thread, List<PendingItem> pending) {
        String questions = pending.stream()
                .map(item -> "- " + item.kind().wireName() + " " + item.callId() + ": "
                        + SafeText.line(Problem.cut(item.words(), 2_000)))
                .collect(Collectors.joining("\n"));
        ObjectNode answer = text("The agent waits for a person. Thread: " + thread + "\n" + questions
                + "\nAnswer a question with the tool `answer`, and then call `result`. People decide about approvals and"
                + " unknown outcomes in the console of `waymark serve`, or with `waymark pending`.");
        ObjectNode structured = structured(thread, "interrupted");
        structured.set(
                "pending",
                JsonDocuments.tree(pending.stream()
                        .map(item ->
                                Map.of("kind", item.kind().wireName(), "callId", item.callId(), "tool", item.tool()))
                        .toList()));
        answer.set("structuredContent", structured);
        return onThread(answer, thread);
    }

    /** The turn continues, but its caller has waited long enough. */
    static ObjectNode working(String thread) {
        ObjectNode answer = text("The agent is still working. Call the tool `result` with thread " + thread
                + " to wait for its result.");
        answer.set("structuredContent", structured(thread, "running"));
        return onThread(answer, thread);
    }

    /** The thread has stored a request. */
    static ObjectNode accepted(String thread) {
        ObjectNode answer =
                text("Thread " + thread + " has it. Call the tool `result` with this thread to wait for the result.");
        answer.set("structuredContent", structured(thread, "accepted"));
        return onThread(answer, thread);
    }

    /** Why a tool did nothing, for a model that may correct its call. */
    static ObjectNode of(HttpProblem problem) {
        return error(
                problem.code(),
                problem.getMessage()
                        + problem.remedy().map(words -> ". " + words).orElse(""));
    }

    /** Why the content of a form was not sent to the thread. */
    static ObjectNode of(HttpProblem problem, String thread) {
        HttpProblem named = HttpProblem.of(
                problem.status(),
                problem.code(),
                problem.getMessage() + ". Call the tool `result` with thread " + thread + " to see what it waits for");
        return onThread(of(problem.remedy().map(named::withRemedy).orElse(named)), thread);
    }

    static ObjectNode error(String type, String message) {
        return text(type + ": " + message).put("isError", true);
    }

    private static ObjectNode text(String words) {
        ObjectNode result = PayloadJson.MAPPER.createObjectNode();
        result.putArray("content").addObject().put("type", "text").put("text", words);
        return result.put("isError", false);
    }

    private static ObjectNode structured(String thread, String status) {
        return PayloadJson.MAPPER.createObjectNode().put("thread", thread).put(STATUS, status);
    }

    private static ObjectNode onThread(ObjectNode result, String thread) {
        result.putObject(McpNames.META).put(McpNames.THREAD, thread);
        return result;
    }
}
