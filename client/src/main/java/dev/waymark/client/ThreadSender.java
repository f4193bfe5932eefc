package dev.waymark.client;

import dev.waymark.agent.AgentSpec;
import dev.waymark.contract.PendingItem;
import dev.waymark.contract.SayPayload;
import dev.waymark.contract.WireNames;
import dev.waymark.conversation.value.Json;
import dev.waymark.history.Moment;
import dev.waymark.history.Timeline;
import dev.waymark.tool.ToolArguments;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.UUID;
import java.util.stream.Collectors;

/** Sends messages, answers and decisions to open threads. */
final class ThreadSender {
    private final ClientContext context;
    /** These go on with a thread, so a thread that only the saver has is restored for them. */
    private static final Set<String> CONTINUING = Set.of(
            WireNames.SAY,
            WireNames.ANSWER,
            WireNames.APPROVE,
            WireNames.DENY,
            WireNames.SETTLE,
            WireNames.BUDGET);

    private final OutcomeWaiter outcomes;
    private final ThreadContinuation continuation;

    ThreadSender(ClientContext context, OutcomeWaiter outcomes, ThreadContinuation continuation) {
        this.context = context;
        this.outcomes = outcomes;
        this.continuation = continuation;
    }

    /** Another message, and the outcome of the turn that consumes it. */
    AgentResult say(String thread, String message) {
        return say(thread, newId(), message);
    }

    /** The same under an id of the caller's: sent again, it is not said again, and has the same outcome. */
    AgentResult say(String thread, String id, String message) {
        WaitDeadline deadline = context.deadline();
        return context.translated(() ->
                say(RequestLimits.thread(thread), SayPayload.message(id, RequestLimits.message(message)), deadline));
    }

    /** The last failed or stopped turn once more. */
    AgentResult retry(String thread) {
        WaitDeadline deadline = context.deadline();
        return context.translated(() -> say(RequestLimits.thread(thread), SayPayload.retry(newId()), deadline));
    }

    AgentResult say(String thread, SayPayload say, WaitDeadline deadline) {
        Requests.Accepted accepted = update(thread, WireNames.SAY, say.id().orElseThrow(), say, deadline);
        return outcomes.await(
                thread, accepted, () -> waitingFor(say, accepted.ack().fact()), deadline);
    }

    static OutcomeDetector waitingFor(SayPayload say, int fact) {
        return say.content().isPresent()
                ? OutcomeDetector.forMessage(say.id().orElseThrow(), fact)
                : OutcomeDetector.forTurnAt(fact);
    }

    AgentResult answer(String thread, Optional<String> callId, String answer) {
        // The id makes a second sending harmless also where the update's own does not reach: in the thread's next run.
        String id = newId();
        Map<String, Object> payload = new LinkedHashMap<>();
        payload.put("id", id);
        callId.ifPresent(named -> payload.put("callId", named));
        payload.put("answer", RequestLimits.answer(answer));
        return sendAndAwait(thread, WireNames.ANSWER, id, payload);
    }

    /** Decides on a call that waits for approval. */
    AgentResult decide(String thread, Approval approval) {
        approval.args().ifPresent(args -> checkArguments(thread, approval, args));
        String id = newId();
        return sendAndAwait(thread, approval.approved() ? WireNames.APPROVE : WireNames.DENY, id, approval.payload(id));
    }

    /** Decides with a signature. It is about what waits now, and is refused if that has changed when it arrives. */
    AgentResult decide(String thread, Approval approval, DecisionKey key) {
        approval.args().ifPresent(args -> checkArguments(thread, approval, args));
        PendingItem item = waiting(thread, PendingItem.APPROVAL, approval.callId());
        String name = approval.approved() ? WireNames.APPROVE : WireNames.DENY;
        DecisionKey.Signed signed = key.sign(item, name, approval.args(), approval.reason(), approval.by());
        String id = newId();
        Map<String, Object> payload = approval.payload(id);
        payload.put("callId", item.callId());
        // What the person was shown, if they say so: the signature does not cover anything else then.
        item.argsDigest().ifPresent(digest -> payload.putIfAbsent("argsDigest", digest));
        payload.put("by", signed.by());
        payload.put("signature", signed.signature());
        return sendAndAwait(thread, name, id, payload);
    }

    /** The one thing of this kind that waits for a person, or the one of this call. */
    private PendingItem waiting(String thread, String kind, Optional<String> callId) {
        Timeline timeline = context.translated(() -> read(RequestLimits.thread(thread)));
        List<PendingItem> items = PendingItem.of(thread, timeline.now()).stream()
                .filter(item -> item.kind().equals(kind))
                .filter(item -> callId.map(item.callId()::equals).orElse(true))
                .toList();
        if (items.isEmpty()) {
            throw new WaymarkException.NotFound(
                    "nothing to sign: "
                            + callId.map(id -> "call " + id + " does not wait").orElse("no call waits")
                            + " for this in " + thread,
                    Remedy.of(Remedy.Action.LIST_PENDING, thread));
        }
        if (items.size() > 1) {
            throw RequestLimits.badInput(
                    "several calls wait: "
                            + items.stream().map(PendingItem::callId).collect(Collectors.joining(", ")),
                    Remedy.of(Remedy.Action.NAME_CALL));
        }
        return items.get(0);
    }

    /** Whoever changes arguments is told when they are none for the tool, before the approval is spent on them. */
    private void checkArguments(String thread, Approval approval, Json args) {
        Timeline timeline = context.translated(() -> read(RequestLimits.thread(thread)));
        List<PendingItem> approvals = PendingItem.of(thread, timeline.now()).stream()
                .filter(item -> item.kind().equals(PendingItem.APPROVAL))
                .filter(item -> approval.callId().map(item.callId()::equals).orElse(true))
                .toList();
        if (approvals.size() == 1) {
            PendingItem item = approvals.get(0);
            context.translated(() -> agentOf(thread, timeline, item.callId()))
                    .flatMap(agent -> agent.tool(item.tool()))
                    .flatMap(spec -> ToolArguments.problem(spec.input(), args))
                    .ifPresent(why -> {
                        throw RequestLimits.badInput(
                                "the arguments do not fit the tool " + item.tool() + ": " + why,
                                "The call waits as before");
                    });
        }
    }

    /** Whose call it is: one of a subagent's thread is named with the way down to it. */
    private Optional<AgentSpec> agentOf(String thread, Timeline timeline, String callId) {
        int slash = callId.indexOf('/');
        if (slash < 0 || timeline.now().calls().contains(callId)) {
            return timeline.agent();
        }
        String below = WireNames.subagentThread(thread, callId.substring(0, slash));
        return context.histories().read(below).flatMap(further -> agentOf(below, further, callId.substring(slash + 1)));
    }

    /** Says what became of a call of which nobody knows whether it took effect. */
    AgentResult settle(String thread, Settlement settlement) {
        return sendAndAwait(thread, WireNames.SETTLE, settlement.payload());
    }

    /** Settles with a signature. */
    AgentResult settle(String thread, Settlement settlement, DecisionKey key) {
        PendingItem item = waiting(thread, PendingItem.UNKNOWN, Optional.of(settlement.callId()));
        DecisionKey.Signed signed =
                key.sign(item, settlement.outcome().wireName(), Optional.empty(), settlement.result(), settlement.by());
        Map<String, Object> payload = settlement.payload();
        payload.put("by", signed.by());
        payload.put("signature", signed.signature());
        return sendAndAwait(thread, WireNames.SETTLE, payload);
    }

    /** Raises limits. A turn that ended on one continues. */
    AgentResult raise(String thread, LimitRaise raise) {
        return sendAndAwait(thread, WireNames.BUDGET, raise.payload());
    }

    /** Ends the turn. What is queued stays for the next message. */
    AgentResult stop(String thread) {
        return sendAndAwait(thread, WireNames.STOP, Map.of());
    }

    private AgentResult sendAndAwait(String thread, String name, Map<String, ?> payload) {
        return sendAndAwait(thread, name, newId(), payload);
    }

    private AgentResult sendAndAwait(String thread, String name, String id, Map<String, ?> payload) {
        WaitDeadline deadline = context.deadline();
        return context.translated(() -> {
            Requests.Accepted accepted = update(RequestLimits.thread(thread), name, id, payload, deadline);
            return outcomes.await(
                    thread,
                    accepted,
                    () -> OutcomeDetector.forTurnAt(accepted.ack().fact()),
                    deadline);
        });
    }

    /**
     * Sends something without waiting for what comes of it: that is for whoever {@link #watch watches}. It is accepted
     * when this returns.
     */
    AgentClient.Posted post(String thread, OutboundMessage letter) {
        WaitDeadline deadline = context.deadline();
        return context.translated(() -> {
            Requests.Accepted accepted = context.requests()
                    .update(RequestLimits.thread(thread), letter.name(), letter.id(), letter.payload(), deadline);
            return new AgentClient.Posted(accepted.runId(), accepted.ack().fact());
        });
    }

    private Requests.Accepted send(String thread, String name, Map<String, ?> payload, WaitDeadline deadline) {
        return update(RequestLimits.thread(thread), name, newId(), payload, deadline);
    }

    private static String newId() {
        return UUID.randomUUID().toString();
    }

    /** Forgets the conversation. A turn that runs is stopped. What is known of side effects is kept. */
    AgentClient.Started clear(String thread) {
        return clear(thread, Map.of());
    }

    /** Forgets the conversation, and what is known of side effects as well: the same calls take effect again. */
    AgentClient.Started clearAll(String thread) {
        return clear(thread, Map.of("all", true));
    }

    private AgentClient.Started clear(String thread, Map<String, ?> payload) {
        return context.translated(() -> {
            Requests.Accepted cleared = send(thread, WireNames.CLEAR, payload, context.deadline());
            outcomes.save(thread);
            return new AgentClient.Started(thread, cleared.runId());
        });
    }

    /** Ends the thread once it is idle. Returns whether it has ended already. */
    boolean close(String thread) {
        WaitDeadline deadline = context.deadline().orSooner(Requests.WORKER_WAIT);
        return context.translated(() -> {
            Requests.Accepted accepted = send(thread, WireNames.CLOSE, Map.of(), deadline);
            MomentStream feed = context.moments(thread, accepted.runId());
            while (!deadline.isPast() && !feed.isClosed()) {
                for (Moment moment : feed.next(deadline.millisLeft())) {
                    boolean applied =
                            moment.state().counters().facts() >= accepted.ack().fact();
                    if (applied && moment.state().turn().isRunning()) {
                        return false;
                    }
                }
            }
            return feed.isClosed();
        });
    }

    /** Ends the thread now: work in flight is cancelled and awaited. */
    AgentResult cancel(String thread) {
        WaitDeadline deadline = context.deadline();
        return context.translated(() -> {
            Requests.Known known = context.get(RequestLimits.thread(thread));
            if (!known.open()) {
                throw Requests.closed(thread);
            }
            context.requests().cancel(thread);
            MomentStream feed = context.moments(thread, known.runId());
            WaitPolicy patience = new WaitPolicy(context.requests(), thread, deadline);
            while (!feed.isClosed()) {
                feed.next(patience.millis());
                patience.check(feed);
            }
            outcomes.save(thread);
            return OutcomeWaiter.endOf(thread, feed);
        });
    }

    private Requests.Accepted update(String thread, String name, String id, Object payload, WaitDeadline deadline) {
        try {
            return context.requests().update(thread, name, id, payload, deadline);
        } catch (WaymarkException.NotFound | WaymarkException.Closed e) {
            if (continuation.isHere(thread)) {
                throw e;
            }
            if (!CONTINUING.contains(name)) {
                throw context.missing(thread);
            }
            restore(thread, e);
            return context.requests().update(thread, name, id, payload, deadline);
        }
    }

    /** A thread as it stands, which the saver may have to bring back first. */
    private Timeline read(String thread) {
        if (!continuation.isHere(thread)) {
            restore(thread, Requests.noSuchThread(thread));
        }
        return context.read(thread);
    }

    /** Brings a thread back that a server in memory has forgotten. {@code missing} is thrown if the saver lacks it too. */
    private void restore(String thread, WaymarkException missing) {
        continuation.restored(thread, ResumeOptions.onward());
        if (!continuation.isHere(thread)) {
            throw missing;
        }
    }
}
