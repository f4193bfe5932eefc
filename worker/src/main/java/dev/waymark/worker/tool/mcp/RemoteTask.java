package dev.waymark.worker.tool.mcp;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.waymark.agent.McpServer;
import dev.waymark.contract.McpNames;
import dev.waymark.conversation.call.Suspension;
import dev.waymark.conversation.value.Problem;
import dev.waymark.conversation.value.ProblemType;
import dev.waymark.worker.activity.ActivityProblems;
import dev.waymark.worker.process.ProcessFence;
import dev.waymark.worker.tool.kind.Effect;
import io.temporal.failure.ApplicationFailure;
import java.time.Instant;
import java.util.Optional;

/** A task of a server. Its id is enough to ask for it, and requests about it may be repeated. */
final class RemoteTask {
    private final McpConnections servers;
    private final McpServer server;
    private final String id;
    private final ProcessFence fence;

    RemoteTask(McpConnections servers, McpServer server, String id, ProcessFence fence) {
        this.servers = servers;
        this.server = server;
        this.id = id;
        this.fence = fence;
    }

    /**
     * Delivers the responses to the server and asks for the status of the task.
     *
     * @return the result of the call, or what the task requires now
     * @throws ApplicationFailure if the server still works, or can't be asked now
     */
    McpResult follow(Suspension known) throws InterruptedException {
        if (!known.answers().isEmpty()) {
            ObjectNode params = JsonRpc.object();
            params.set("inputResponses", JsonRpc.responses(known));
            Optional<McpResult> lost =
                    ask(McpNames.UPDATE_TASK, params, known.until()).lost();
            if (lost.isPresent()) {
                return lost.get();
            }
        }
        Reply reply = ask(McpNames.GET_TASK, JsonRpc.object(), known.until());
        if (reply.lost().isPresent()) {
            return reply.lost().get();
        }
        JsonNode task = reply.result();
        String status = task.path("status").asText();
        return switch (status) {
            case "working" -> throw working(task);
            case "input_required" -> SuspendedCall.required(task, known).orElseThrow(() -> working(task));
            case "completed" -> McpResult.completed(task.path("result"));
            case "failed" ->
                new McpResult(task.path("error").path("message").asText("the task failed"), Effect.OWN_ERROR);
            case "cancelled" -> new McpResult("the server cancelled the task" + words(task), Effect.OWN_ERROR);
            default -> new McpResult("the task has the unknown status \"" + status + "\"", Effect.UNKNOWN);
        };
    }

    /** @throws ApplicationFailure if the server can't be told now */
    void cancel() throws InterruptedException {
        ask(McpNames.CANCEL_TASK, JsonRpc.object(), Optional.empty());
    }

    private static ApplicationFailure working(JsonNode task) {
        return ActivityProblems.passing(
                new Problem(ProblemType.TASK_WORKING, "the server works on it" + words(task)),
                Optional.of(SuspendedCall.pollInterval(task)));
    }

    private static String words(JsonNode task) {
        String words = task.path("statusMessage").asText("").strip();
        return words.isEmpty() ? "" : ": " + Problem.cut(words, 300);
    }

    /** An answer, or the reason why the task will have none. */
    private record Reply(JsonNode result, Optional<McpResult> lost) {}

    private Reply ask(String method, ObjectNode params, Optional<Instant> until) throws InterruptedException {
        params.put("taskId", id);
        RpcAnswer answer;
        try {
            answer = servers.ask(server, RpcRequest.of(method, params).about(id).suspending(), fence);
        } catch (RequestNotSentException | OutcomeUnknownException e) {
            return unreachable(String.valueOf(e.getMessage()), until);
        }
        if (answer instanceof RpcAnswer.Result result) {
            return new Reply(result.value(), Optional.empty());
        }
        RpcAnswer.Refusal refusal = (RpcAnswer.Refusal) answer;
        if (refusal.isUnreadable()) {
            return lost("the server's answer about the task " + id + " can't be read: " + refusal.words());
        }
        return refusal.code() == McpNames.INVALID_PARAMS || refusal.code() == McpNames.METHOD_NOT_FOUND
                ? lost("the server does not know the task " + id + ": " + refusal.words())
                : unreachable(refusal.words(), until);
    }

    private Reply unreachable(String why, Optional<Instant> until) {
        if (until.filter(Instant.now()::isAfter).isPresent()) {
            return lost("the server may have forgotten the task " + id + " by now, and can't be asked: " + why);
        }
        throw ActivityProblems.passing(
                new Problem(
                        ProblemType.MCP_CONNECTION_LOST,
                        "MCP server " + server.name() + " can't be asked about the task " + id + ": " + why),
                Optional.empty());
    }

    private static Reply lost(String why) {
        return new Reply(JsonRpc.object(), Optional.of(new McpResult(why, Effect.UNKNOWN)));
    }
}
