package dev.waymark.client;

import dev.waymark.client.connection.Requests;
import dev.waymark.client.connection.WaitDeadline;
import dev.waymark.client.failure.WaymarkException;
import dev.waymark.client.request.ApprovalRequest;
import dev.waymark.client.request.OutboundMessage;
import dev.waymark.client.request.Question;
import dev.waymark.conversation.Conversation;
import dev.waymark.conversation.decision.PendingItem;
import dev.waymark.conversation.fact.PersonFact.ApprovalDecided;
import dev.waymark.conversation.value.ProblemType;
import java.util.HashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;

/**
 * Passes open requests to the caller's callbacks while the client waits for an outcome. Passes on each request once. A
 * decision names the call and the digest of its arguments, so that it cannot apply to other arguments.
 */
final class CallbackDispatcher {
    private final ClientContext context;
    private final String thread;
    private final Set<PendingItem> asked = new HashSet<>();
    private final Set<PendingItem> decided = new HashSet<>();

    CallbackDispatcher(ClientContext context, String thread) {
        this.context = context;
        this.thread = thread;
    }

    /**
     * Returns whether this state has an open request that was not passed on yet, or whose decision was not applied yet.
     */
    boolean hasBusinessIn(Conversation state) {
        return open(state).stream().anyMatch(item -> decided.contains(item) || isToBeAsked(item));
    }

    /**
     * Returns whether the wait is over. A turn that waits for people is not over while callbacks still have requests to
     * handle.
     */
    boolean isOver(OutcomeDetector.Reached reached) {
        return !reached.turn().isRunning() || !hasBusinessIn(reached.state());
    }

    /** Returns whether this state has an open request that was not passed on yet. */
    boolean isToBeAsked(Conversation state) {
        return open(state).stream().anyMatch(this::isToBeAsked);
    }

    /** Passes on the open requests of this state that are new. */
    void attend(Conversation state) {
        open(state).stream().filter(this::isToBeAsked).toList().forEach(item -> {
            asked.add(item);
            decision(item).ifPresent(decision -> {
                send(decision);
                decided.add(item);
            });
        });
    }

    private List<PendingItem> open(Conversation state) {
        return state.pending(thread);
    }

    private boolean isToBeAsked(PendingItem item) {
        boolean heard = switch (item.kind()) {
            case APPROVAL -> context.callbacks().onApproval().isPresent();
            case QUESTION -> context.callbacks().onQuestion().isPresent();
            case UNKNOWN -> false;
        };
        return heard && !asked.contains(item);
    }

    private Optional<OutboundMessage> decision(PendingItem item) {
        return item.kind() == PendingItem.Kind.APPROVAL ? approval(item) : answer(item);
    }

    private Optional<OutboundMessage> approval(PendingItem item) {
        String digest = item.argsDigest().orElseThrow();
        ApprovalRequest request = new ApprovalRequest(
                thread, item.callId(), item.tool(), item.args().orElseThrow(), digest, item.since(), item.fromFile());
        return context.callbacks()
                .onApproval()
                .orElseThrow()
                .apply(request)
                .map(decision -> decision.withCall(item.callId()).withDigest(digest))
                .map(decision -> message(item, decision));
    }

    private OutboundMessage message(PendingItem item, ApprovalDecided decision) {
        return context.signing()
                .filter(key -> item.signers().isPresent())
                .map(key -> ThreadSender.signed(item, decision, key))
                .orElseGet(() -> OutboundMessage.of(decision));
    }

    private Optional<OutboundMessage> answer(PendingItem item) {
        Question question =
                new Question(thread, item.callId(), item.tool(), item.question().orElse(""), item.since());
        return context.callbacks()
                .onQuestion()
                .orElseThrow()
                .apply(question)
                .map(answer -> OutboundMessage.answer(item.callId(), answer));
    }

    /** Sends the decision. Does nothing if another decision has arrived first, or if the request is no longer open. */
    private void send(OutboundMessage decision) {
        try {
            // The thread may have been restored elsewhere while the callback decided.
            SavedThread.checkThatNoOtherServerHas(context, thread);
            WaitDeadline deadline = WaitDeadline.after(Requests.WORKER_WAIT);
            context.requests().update(thread, decision, deadline);
        } catch (WaymarkException.Refused e) {
            boolean late =
                    e.type().equals(ProblemType.ALREADY_DECIDED) || e.type().equals(ProblemType.ARGS_CHANGED);
            if (!late) {
                throw e;
            }
        } catch (WaymarkException.NotFound | WaymarkException.Closed e) {
            // The request is no longer open.
        }
    }
}
