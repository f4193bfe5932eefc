package dev.waymark.server.agui;

import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.waymark.client.TextDelta;
import dev.waymark.client.WatchEvent;
import dev.waymark.contract.PayloadJson;
import dev.waymark.contract.PendingItem;
import dev.waymark.conversation.Call;
import dev.waymark.conversation.Conversation;
import dev.waymark.conversation.Fact;
import dev.waymark.conversation.Turn;
import dev.waymark.conversation.Workspace;
import dev.waymark.conversation.message.Message;
import dev.waymark.conversation.message.Part;
import dev.waymark.history.Moment;
import dev.waymark.server.stream.ServerSentEvent;
import dev.waymark.server.stream.WatchMapping;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;

/** Maps one run to AG-UI events, from its first fact until the thread is idle or waits for people. */
final class AgUiMapping implements WatchMapping {
    private static final String PROTOCOL = "1.0";

    private final AgUiRun run;
    private final List<ServerSentEvent> sent = new ArrayList<>();
    private final Set<String> results = new HashSet<>();
    private Optional<Conversation> state = Optional.empty();
    private Workspace workspace = Workspace.EMPTY;
    private boolean begun;
    private boolean over;

    /** The reply being streamed; {@link #words} is the part that was sent. */
    private Optional<String> messageId = Optional.empty();

    private int attempt;
    private String words = "";

    AgUiMapping(AgUiRun run) {
        this.run = run;
    }

    @Override
    public List<ServerSentEvent> events(WatchEvent event) {
        if (event instanceof WatchEvent.Happened happened) {
            happened(happened.moment());
        } else if (event instanceof WatchEvent.Said said && begun) {
            said(said.words());
        } else if (event instanceof WatchEvent.Restarted) {
            begin();
            error("Restarted", "the thread was reset; start a new run to see its current state");
        }
        List<ServerSentEvent> events = List.copyOf(sent);
        sent.clear();
        return events;
    }

    @Override
    public boolean isOver() {
        return over;
    }

    @Override
    public List<ServerSentEvent> end() {
        if (!over) {
            begin();
            error("Closed", "the thread has ended");
        }
        return List.copyOf(sent);
    }

    private void happened(Moment moment) {
        Conversation before = state.orElse(moment.state());
        state = Optional.of(moment.state());
        if (moment.state().counters().facts() < run.from()) {
            // Earlier than this run. Remembers results so that the run does not send them again.
            moment.state().batchCalls().stream().filter(AgUiMapping::hasResult).forEach(call -> results.add(call.id()));
            return;
        }
        if (!begun) {
            begin();
        } else {
            moment.fact()
                    .filter(Fact.ModelReplied.class::isInstance)
                    .map(Fact.ModelReplied.class::cast)
                    .ifPresent(replied -> replied(before, replied));
        }
        moment.state().batchCalls().forEach(this::result);
        if (begun && !moment.state().desk().equals(workspace)) {
            snapshotState();
        }
        if (moment.state().counters().facts() >= run.until() && isDone(moment.state())) {
            finish(moment.state());
        }
    }

    private static boolean isDone(Conversation state) {
        return state.turn().status() != Turn.Status.NONE && state.isSettled();
    }

    private void begin() {
        if (begun) {
            return;
        }
        begun = true;
        ObjectNode started = event("RUN_STARTED");
        started.put("protocolVersion", PROTOCOL);
        started.putObject("metadata").putObject("waymark").put("thread", run.thread());
        send(started);
        snapshotState();
        if (run.showsAll()) {
            snapshotMessages();
        }
    }

    private void snapshotState() {
        workspace = state.map(Conversation::desk).orElse(Workspace.EMPTY);
        state.ifPresent(now -> {
            ObjectNode event = typed("STATE_SNAPSHOT");
            event.set("snapshot", AgUiDocuments.state(run.thread(), now));
            send(event);
        });
    }

    private void snapshotMessages() {
        state.ifPresent(now -> {
            ObjectNode event = typed("MESSAGES_SNAPSHOT");
            event.set("messages", AgUiDocuments.messages(now));
            send(event);
            now.batchCalls().stream().filter(AgUiMapping::hasResult).forEach(call -> results.add(call.id()));
        });
    }

    private void said(TextDelta delta) {
        if (messageId.isPresent() && delta.attempt() != attempt) {
            takeBack();
        }
        attempt = delta.attempt();
        if (!delta.text().isEmpty()) {
            speak(delta.text());
        }
    }

    private void speak(String text) {
        if (messageId.isEmpty()) {
            messageId = state.map(AgUiDocuments::nextMessageId);
            ObjectNode start = message("TEXT_MESSAGE_START");
            start.put("role", "assistant");
            send(start);
        }
        ObjectNode content = message("TEXT_MESSAGE_CONTENT");
        content.put("delta", text);
        send(content);
        words += text;
    }

    /** Removes the text of a discarded attempt: sends a snapshot of the messages without it. */
    private void takeBack() {
        endMessage();
        snapshotMessages();
    }

    private void endMessage() {
        if (messageId.isPresent()) {
            send(message("TEXT_MESSAGE_END"));
        }
        messageId = Optional.empty();
        words = "";
    }

    private void replied(Conversation before, Fact.ModelReplied fact) {
        Message reply = Message.assistant(fact.reply().content().toArray(new Part[0]));
        Optional<Conversation> after = state;
        state = Optional.of(before);
        String text = reply.text();
        if (!text.startsWith(words)) {
            takeBack();
        }
        String parent = AgUiDocuments.nextMessageId(before);
        if (text.length() > words.length()) {
            speak(text.substring(words.length()));
        }
        endMessage();
        state = after;
        // Takes the calls from the state: a call id that was used before in the thread gets a suffix.
        after.orElseThrow().batchCalls().forEach(call -> callIssued(parent, call));
    }

    private void callIssued(String parent, Call call) {
        ObjectNode start = typed("TOOL_CALL_START");
        start.put("toolCallId", call.id());
        start.put("toolCallName", call.tool());
        start.put("parentMessageId", parent);
        send(start);
        ObjectNode args = typed("TOOL_CALL_ARGS");
        args.put("toolCallId", call.id());
        args.put("delta", call.args().canonical());
        send(args);
        ObjectNode end = typed("TOOL_CALL_END");
        end.put("toolCallId", call.id());
        send(end);
    }

    private static boolean hasResult(Call call) {
        return call.toolResult().isPresent();
    }

    private void result(Call call) {
        if (hasResult(call) && results.add(call.id())) {
            ObjectNode result = typed("TOOL_CALL_RESULT");
            result.put("messageId", AgUiDocuments.resultId(call.id()));
            result.put("toolCallId", call.id());
            result.put("content", call.toolResult().orElseThrow().content());
            result.put("role", "tool");
            send(result);
        }
    }

    private void finish(Conversation now) {
        endMessage();
        if (now.isInterrupted()) {
            ObjectNode finished = event("RUN_FINISHED");
            ObjectNode outcome = finished.putObject("outcome").put("type", "interrupt");
            var interrupts = outcome.putArray("interrupts");
            PendingItem.of(run.thread(), now).forEach(item -> interrupts.add(AgUiDocuments.interrupt(item)));
            send(finished);
            over = true;
            return;
        }
        switch (now.turn().status()) {
            case COMPLETE, NONE, RUNNING -> finished("success");
            case STOPPED, CANCELLED -> finished("cancelled");
            case FAILED, MAX_ITERATIONS, BUDGET ->
                error(
                        now.turn()
                                .problem()
                                .map(problem -> problem.type())
                                .orElse(now.turn().status().name()),
                        now.turn().problem().map(problem -> problem.message()).orElse("the turn failed"));
        }
    }

    private void finished(String outcome) {
        ObjectNode finished = event("RUN_FINISHED");
        finished.putObject("outcome").put("type", outcome);
        send(finished);
        over = true;
    }

    private void error(String code, String words) {
        endMessage();
        ObjectNode error = typed("RUN_ERROR");
        error.put("code", code);
        error.put("message", words);
        send(error);
        over = true;
    }

    private ObjectNode event(String type) {
        return typed(type).put("threadId", run.threadId()).put("runId", run.runId());
    }

    private ObjectNode message(String type) {
        return typed(type).put("messageId", messageId.orElseThrow());
    }

    private static ObjectNode typed(String type) {
        return PayloadJson.MAPPER.createObjectNode().put("type", type);
    }

    private void send(ObjectNode document) {
        sent.add(ServerSentEvent.message(Optional.empty(), document));
    }
}
