package dev.waymark.server.agui;

import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.waymark.agent.AgentSpec;
import dev.waymark.contract.PayloadJson;
import dev.waymark.conversation.Conversation;
import dev.waymark.conversation.call.Call;
import dev.waymark.conversation.decision.PendingItem;
import dev.waymark.conversation.value.Problem;
import dev.waymark.server.front.FrontEndRun;
import dev.waymark.server.front.FrontEndThreads;
import dev.waymark.server.front.MessageIds;
import dev.waymark.server.front.RunView;
import dev.waymark.server.stream.ServerSentEvent;
import java.util.List;
import java.util.Optional;
import java.util.function.Consumer;
import java.util.function.Supplier;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/** A run in AG-UI events. */
final class AgUiView implements RunView {
    private static final String PROTOCOL = "1.0";

    private final RequestedRun requested;
    private final FrontEndRun run;
    private final Supplier<Optional<AgentSpec>> agents;
    private final Consumer<ServerSentEvent> sent;
    private boolean textBegun;
    private boolean reasoningBegun;

    /**
     * The run that a front end requests.
     *
     * @param threadId the front end's id for the thread
     * @param statesVersion whether the front end states the version of the protocol. Clients before 1.0 do not, and
     * reject the outcome {@code cancelled}
     */
    record RequestedRun(String threadId, String runId, boolean statesVersion) {}

    /** @param agents the agent of the thread, whose tools interrupts describe */
    AgUiView(
            RequestedRun requested,
            FrontEndRun run,
            Supplier<Optional<AgentSpec>> agents,
            Consumer<ServerSentEvent> sent) {
        this.requested = requested;
        this.run = run;
        this.agents = agents;
        this.sent = sent;
    }

    /** The run of a chat without messages. */
    static String emptyRun(RequestedRun requested, String thread) {
        ObjectNode finished = typed("RUN_FINISHED");
        finished.putObject("outcome").put("type", "success");
        return Stream.of(started(thread), finished)
                .map(event -> ServerSentEvent.message(Optional.empty(), of(requested, event))
                        .text())
                .collect(Collectors.joining());
    }

    private static ObjectNode started(String thread) {
        ObjectNode started = typed("RUN_STARTED").put("protocolVersion", PROTOCOL);
        started.putObject("metadata").putObject("waymark").put("thread", thread);
        return started;
    }

    @Override
    public void begun(Conversation state, boolean continued) {
        send(of(requested, started(run.thread())));
        workspaceChanged(state);
        if (run.showsAll()) {
            snapshotMessages(state);
        }
    }

    @Override
    public void workspaceChanged(Conversation state) {
        ObjectNode event = typed("STATE_SNAPSHOT");
        event.set("snapshot", AgUiDocuments.state(run.thread(), state));
        send(event);
    }

    private void snapshotMessages(Conversation state) {
        ObjectNode event = typed("MESSAGES_SNAPSHOT");
        event.set("messages", AgUiDocuments.messages(state));
        send(event);
    }

    @Override
    public void replyBegun(String messageId) {
        // The protocol has no event for the beginning of a reply, only for its text and its calls.
    }

    @Override
    public void reasoningAdded(String messageId, String text) {
        String id = MessageIds.ofReasoning(messageId);
        if (!reasoningBegun) {
            send(message("REASONING_START", id));
            send(message("REASONING_MESSAGE_START", id).put("role", "reasoning"));
            reasoningBegun = true;
        }
        send(message("REASONING_MESSAGE_CONTENT", id).put("delta", text));
    }

    private void endReasoning(String messageId) {
        if (reasoningBegun) {
            String id = MessageIds.ofReasoning(messageId);
            send(message("REASONING_MESSAGE_END", id));
            send(message("REASONING_END", id));
        }
        reasoningBegun = false;
    }

    @Override
    public void textAdded(String messageId, String text) {
        if (!textBegun) {
            ObjectNode start = message("TEXT_MESSAGE_START", messageId);
            start.put("role", "assistant");
            send(start);
            textBegun = true;
        }
        ObjectNode content = message("TEXT_MESSAGE_CONTENT", messageId);
        content.put("delta", text);
        send(content);
    }

    /** Removes the text by sending a snapshot of the messages without it. */
    @Override
    public void textWithdrawn(String messageId, Conversation state) {
        replyEnded(messageId);
        snapshotMessages(state);
    }

    @Override
    public void replyEnded(String messageId) {
        endReasoning(messageId);
        if (textBegun) {
            send(message("TEXT_MESSAGE_END", messageId));
        }
        textBegun = false;
    }

    @Override
    public void callIssued(String messageId, Call call) {
        ObjectNode start = typed("TOOL_CALL_START");
        start.put("toolCallId", call.id());
        start.put("toolCallName", call.tool());
        start.put("parentMessageId", messageId);
        send(start);
        ObjectNode args = typed("TOOL_CALL_ARGS");
        args.put("toolCallId", call.id());
        args.put("delta", call.args().canonical());
        send(args);
        ObjectNode end = typed("TOOL_CALL_END");
        end.put("toolCallId", call.id());
        send(end);
    }

    @Override
    public void callApproved(Call call) {
        // The protocol can't replace arguments. The result and the next snapshot of the messages show what ran.
    }

    @Override
    public void waits(Conversation state, PendingItem item) {
        // The protocol reports all pending items at the end of the run.
    }

    @Override
    public void resultKnown(Call call) {
        ObjectNode result = typed("TOOL_CALL_RESULT");
        result.put("messageId", MessageIds.ofResult(call.id()));
        result.put("toolCallId", call.id());
        result.put("content", call.toolResult().orElseThrow().content());
        result.put("role", "tool");
        send(result);
    }

    @Override
    public void interrupted(Conversation state, List<PendingItem> items) {
        ObjectNode finished = event("RUN_FINISHED");
        ObjectNode outcome = finished.putObject("outcome").put("type", "interrupt");
        var interrupts = outcome.putArray("interrupts");
        Optional<AgentSpec> agent = agents.get();
        items.forEach(item -> interrupts.add(
                AgUiDocuments.interrupt(item, state.calls().get(item.callId()), FrontEndThreads.tool(agent, item))));
        send(finished);
    }

    @Override
    public void completed() {
        finished("success");
    }

    @Override
    public void cut(Problem problem) {
        failed(problem.type(), problem.message());
    }

    @Override
    public void cancelled() {
        if (requested.statesVersion()) {
            finished("cancelled");
        } else {
            send(event("RUN_FINISHED"));
        }
    }

    private void finished(String outcome) {
        ObjectNode finished = event("RUN_FINISHED");
        finished.putObject("outcome").put("type", outcome);
        send(finished);
    }

    @Override
    public void failed(String code, String message) {
        ObjectNode error = typed("RUN_ERROR");
        error.put("code", code);
        error.put("message", message);
        send(error);
    }

    private ObjectNode event(String type) {
        return of(requested, typed(type));
    }

    private static ObjectNode of(RequestedRun requested, ObjectNode event) {
        return event.put("threadId", requested.threadId()).put("runId", requested.runId());
    }

    private static ObjectNode message(String type, String messageId) {
        return typed(type).put("messageId", messageId);
    }

    private static ObjectNode typed(String type) {
        return PayloadJson.MAPPER.createObjectNode().put("type", type);
    }

    private void send(ObjectNode document) {
        sent.accept(ServerSentEvent.message(Optional.empty(), document));
    }
}
