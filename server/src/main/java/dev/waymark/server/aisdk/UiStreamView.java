package dev.waymark.server.aisdk;

import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.waymark.client.document.JsonDocuments;
import dev.waymark.contract.PayloadJson;
import dev.waymark.conversation.Conversation;
import dev.waymark.conversation.call.Call;
import dev.waymark.conversation.decision.PendingItem;
import dev.waymark.conversation.value.Problem;
import dev.waymark.conversation.value.ProblemType;
import dev.waymark.server.front.FrontEndRun;
import dev.waymark.server.front.PendingId;
import dev.waymark.server.front.RunView;
import dev.waymark.server.stream.ServerSentEvent;
import java.util.HashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.function.Consumer;

/** A run in chunks of the UI message stream. */
final class UiStreamView implements RunView {
    private static final String LAST = "[DONE]";

    private final FrontEndRun run;
    private final Set<String> shown;
    private final Consumer<ServerSentEvent> sent;

    private boolean started;
    private boolean inStep;
    private final Growing text = new Growing("text");
    private final Growing reasoning = new Growing("reasoning");

    /**
     * @param shown the ids of the requests in the message that the run continues. They are not sent again, because that
     *     would discard an answer given while the run streams
     */
    UiStreamView(FrontEndRun run, Set<String> shown, Consumer<ServerSentEvent> sent) {
        this.run = run;
        this.shown = new HashSet<>(shown);
        this.sent = sent;
    }

    @Override
    public void begun(Conversation state, boolean continued) {
        if (continued) {
            inStep = true;
            start(Optional.empty());
        }
    }

    /** Starts the message: with the id of its first reply, or as the continuation of the front end's last message. */
    private void start(Optional<String> messageId) {
        if (!started) {
            started = true;
            ObjectNode start = typed("start");
            start.set("messageMetadata", UiMessages.metadata(run.thread()));
            messageId.ifPresent(id -> start.put("messageId", id));
            sent.accept(ServerSentEvent.message(Optional.empty(), start));
        }
    }

    @Override
    public void workspaceChanged(Conversation state) {
        ObjectNode data = typed("data-workspace");
        data.put("id", UiMessages.WORKSPACE);
        data.set("data", JsonDocuments.tree(state.workspace()));
        send(data);
    }

    @Override
    public void replyBegun(String messageId) {
        start(Optional.of(messageId));
        endStep();
        send(typed("start-step"));
        inStep = true;
    }

    private void endStep() {
        if (inStep) {
            send(typed("finish-step"));
        }
        inStep = false;
    }

    @Override
    public void reasoningAdded(String messageId, String added) {
        reasoning.add(added);
    }

    @Override
    public void textAdded(String messageId, String added) {
        text.add(added);
    }

    @Override
    public void textWithdrawn(String messageId, Conversation state) {
        reasoning.end(true);
        text.end(true);
    }

    @Override
    public void replyEnded(String messageId) {
        reasoning.end(false);
        text.end(false);
    }

    /** A part of the message that is being streamed: its text, or the reasoning that the model shows. */
    private final class Growing {
        private final String kind;
        private int number;
        private boolean begun;

        Growing(String kind) {
            this.kind = kind;
        }

        void add(String piece) {
            if (!begun) {
                number++;
                send(chunk("start"));
                begun = true;
            }
            send(chunk("delta").put("delta", piece));
        }

        void end(boolean discarded) {
            if (begun) {
                ObjectNode end = chunk("end");
                if (discarded) {
                    end.putObject("providerMetadata").putObject("waymark").put("discarded", true);
                }
                send(end);
            }
            begun = false;
        }

        private ObjectNode chunk(String what) {
            return typed(kind + "-" + what).put("id", kind + "-" + number);
        }
    }

    @Override
    public void callIssued(String messageId, Call call) {
        input(call);
    }

    /**
     * Sends the call again, so that its part no longer has the state of an answered approval. Otherwise the front end
     * would send the answer again each time a run ends while something else waits.
     */
    @Override
    public void callApproved(Call call) {
        input(call);
    }

    private void input(Call call) {
        ObjectNode input = typed("tool-input-available");
        input.put("toolCallId", call.id());
        input.put("toolName", call.tool());
        input.put("dynamic", true);
        boolean isAnsweredHere = call.question().isPresent();
        // False takes back what was sent before the call became a question.
        input.put("providerExecuted", !isAnsweredHere);
        if (isAnsweredHere) {
            shown.add(call.id());
        }
        input.set("input", JsonDocuments.tree(call.args()));
        send(input);
    }

    @Override
    public void waits(Conversation state, PendingItem item) {
        if (UiMessages.isOfSubagent(item)) {
            ObjectNode data = typed("data-waiting").put("id", PendingId.of(item).text());
            data.set("data", UiMessages.waiting(item));
            send(data);
            return;
        }
        if (item.fromFile()) {
            ObjectNode data = typed("data-from-file").put("id", item.callId());
            data.set("data", UiMessages.fromFile(item));
            send(data);
        }
        switch (item.kind()) {
            case APPROVAL -> {
                String id = PendingId.of(item).text();
                if (!shown.contains(id)) {
                    send(typed("tool-approval-request").put("approvalId", id).put("toolCallId", item.callId()));
                }
            }
            case UNKNOWN -> {
                ObjectNode data = typed("data-unknown").put("id", item.callId());
                data.set("data", UiMessages.unknown(item));
                send(data);
            }
            case QUESTION -> {
                // A question is a call that the front end executes. A tool may ask after its call was sent.
                if (!shown.contains(item.callId())) {
                    state.calls().get(item.callId()).ifPresent(this::input);
                }
            }
        }
    }

    @Override
    public void resultKnown(Call call) {
        String content = call.toolResult().orElseThrow().content();
        ObjectNode output;
        if (call.status() == Call.Status.COMPLETED) {
            output = typed("tool-output-available").put("output", content);
        } else if (call.status() == Call.Status.DENIED) {
            output = typed("tool-output-denied");
        } else {
            output = typed("tool-output-error").put("errorText", content);
        }
        output.put("toolCallId", call.id());
        if (call.status() != Call.Status.DENIED) {
            // Ends what the front end regards as its own execution of a question, so that it does not send it again.
            output.put("providerExecuted", true);
        }
        send(output);
    }

    @Override
    public void interrupted(Conversation state, List<PendingItem> items) {
        send(typed("finish").put("finishReason", "tool-calls"));
        end();
    }

    @Override
    public void completed() {
        finished("stop");
    }

    @Override
    public void cut(Problem problem) {
        finished(problem.type().equals(ProblemType.REPLY_CUT) ? "length" : "other");
    }

    private void finished(String reason) {
        endStep();
        send(typed("finish").put("finishReason", reason));
        end();
    }

    @Override
    public void cancelled() {
        endStep();
        send(typed("abort").put("reason", "the turn was stopped"));
        end();
    }

    @Override
    public void failed(String code, String message) {
        endStep();
        send(typed("error").put("errorText", code + ": " + message));
        end();
    }

    private void end() {
        sent.accept(new ServerSentEvent(Optional.empty(), Optional.empty(), LAST));
    }

    private static ObjectNode typed(String type) {
        return PayloadJson.MAPPER.createObjectNode().put("type", type);
    }

    private void send(ObjectNode chunk) {
        start(Optional.empty());
        sent.accept(ServerSentEvent.message(Optional.empty(), chunk));
    }
}
