package dev.waymark.client;

import dev.waymark.client.connection.Requests;
import dev.waymark.client.connection.WaitDeadline;
import dev.waymark.client.failure.RequestLimits;
import dev.waymark.client.failure.WaymarkException;
import dev.waymark.client.request.Approval;
import dev.waymark.client.request.ApprovalRequest;
import dev.waymark.client.request.Question;
import dev.waymark.conversation.Conversation;
import dev.waymark.conversation.call.PendingItem;
import dev.waymark.conversation.fact.SignalNames;
import dev.waymark.conversation.value.Problem;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.UUID;

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

    /** Passes on the open requests of this state that are new. Returns whether there were any. */
    boolean attend(Conversation state) {
        List<PendingItem> items = open(state).stream().filter(this::isToBeAsked).toList();
        for (PendingItem item : items) {
            asked.add(item);
            decision(item).ifPresent(decision -> {
                send(decision);
                decided.add(item);
            });
        }
        return !items.isEmpty();
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

    /** An update that carries a decision or an answer. */
    private record Decision(String name, String id, Map<String, Object> payload) {}

    private Optional<Decision> decision(PendingItem item) {
        String id = UUID.randomUUID().toString();
        if (item.kind() == PendingItem.Kind.APPROVAL) {
            String digest = item.argsDigest().orElseThrow();
            ApprovalRequest request = new ApprovalRequest(
                    thread,
                    item.callId(),
                    item.tool(),
                    item.args().orElseThrow(),
                    digest,
                    item.since(),
                    item.fromFile());
            Approval approval = context.callbacks()
                    .onApproval()
                    .orElseThrow()
                    .apply(request)
                    .withCall(item.callId())
                    .withDigest(digest);
            return Optional.of(new Decision(
                    approval.approved() ? SignalNames.APPROVE : SignalNames.DENY, id, approval.payload(id)));
        }
        Question question =
                new Question(thread, item.callId(), item.tool(), item.question().orElse(""), item.since());
        return context.callbacks().onQuestion().orElseThrow().apply(question).map(answer -> {
            Map<String, Object> payload = new LinkedHashMap<>();
            payload.put("id", id);
            payload.put("callId", item.callId());
            payload.put("answer", RequestLimits.answer(answer));
            return new Decision(SignalNames.ANSWER, id, payload);
        });
    }

    /** Sends the decision. Does nothing if another decision has arrived first, or if the request is no longer open. */
    private void send(Decision decision) {
        try {
            // The thread may have been restored elsewhere while the callback decided.
            SavedThread.checkThatNoOtherServerHas(context, thread);
            WaitDeadline deadline = WaitDeadline.after(Requests.WORKER_WAIT);
            context.requests().update(thread, decision.name(), decision.id(), decision.payload(), deadline);
        } catch (WaymarkException.Refused e) {
            boolean late = e.type().equals(Problem.ALREADY_DECIDED) || e.type().equals(Problem.ARGS_CHANGED);
            if (!late) {
                throw e;
            }
        } catch (WaymarkException.NotFound | WaymarkException.Closed e) {
            // The request is not open any more.
        }
    }
}
