package dev.waymark.client;

import dev.waymark.agent.AgentSpec;
import dev.waymark.client.connection.MomentStream;
import dev.waymark.client.connection.Requests;
import dev.waymark.client.connection.WaitDeadline;
import dev.waymark.client.connection.WaitPolicy;
import dev.waymark.client.failure.Remedy;
import dev.waymark.client.failure.RequestLimits;
import dev.waymark.client.failure.WaymarkException;
import dev.waymark.client.request.DecisionKey;
import dev.waymark.client.request.OutboundMessage;
import dev.waymark.client.request.ResumeOptions;
import dev.waymark.contract.WireNames;
import dev.waymark.conversation.call.PendingItem;
import dev.waymark.conversation.fact.PersonFact;
import dev.waymark.conversation.fact.SignalNames;
import dev.waymark.conversation.value.Json;
import dev.waymark.history.Moment;
import dev.waymark.history.Timeline;
import dev.waymark.tool.ToolArguments;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.UUID;
import java.util.function.Supplier;
import java.util.stream.Collectors;

/** Sends messages, answers and decisions to open threads. */
final class ThreadSender {
    private final ClientContext context;
    /** Messages that continue a thread. If only the saver has the thread, it is restored before they are sent. */
    private static final Set<String> CONTINUING = Set.of(
            SignalNames.SAY,
            SignalNames.ANSWER,
            SignalNames.APPROVE,
            SignalNames.DENY,
            SignalNames.SETTLE,
            SignalNames.BUDGET);

    private final OutcomeWaiter outcomes;
    private final OutcomeSaver saves;
    private final ThreadResumer resumer;

    ThreadSender(ClientContext context, OutcomeWaiter outcomes, OutcomeSaver saves, ThreadResumer resumer) {
        this.context = context;
        this.outcomes = outcomes;
        this.saves = saves;
        this.resumer = resumer;
    }

    /** Sends another message, which a turn consumes. */
    PendingTurn say(String thread, String message) {
        return say(thread, UUID.randomUUID().toString(), message);
    }

    /**
     * Sends a message with an id chosen by the caller. Sending the message again with the same id has no effect and
     * returns the same outcome.
     */
    PendingTurn say(String thread, String id, String message) {
        WaitDeadline deadline = context.deadline();
        return context.translated(() -> say(
                RequestLimits.thread(thread), OutboundMessage.of(PersonFact.UserSpoke.message(id, message)), deadline));
    }

    /** Runs the last turn again, which must have failed or been stopped. */
    PendingTurn retry(String thread) {
        WaitDeadline deadline = context.deadline();
        return context.translated(() -> say(RequestLimits.thread(thread), OutboundMessage.retry(), deadline));
    }

    PendingTurn say(String thread, OutboundMessage say, WaitDeadline deadline) {
        Requests.Accepted accepted = update(thread, say, deadline);
        return pending(
                thread,
                accepted,
                () -> waitingFor(
                        (PersonFact.UserSpoke) say.fact(), accepted.ack().fact()),
                deadline);
    }

    static OutcomeDetector waitingFor(PersonFact.UserSpoke say, int fact) {
        return say.content().isPresent()
                ? OutcomeDetector.forMessage(say.id().orElseThrow(), fact)
                : OutcomeDetector.forTurnAt(fact);
    }

    PendingTurn answer(String thread, Optional<String> callId, String answer) {
        // The id makes a repeated send harmless even across runs, where the update id has no effect.
        return send(thread, PersonFact.HumanAnswered.to(callId, answer));
    }

    /** Decides about a call that needs approval. */
    PendingTurn decide(String thread, PersonFact.ApprovalDecided approval) {
        approval.args().ifPresent(args -> checkArguments(thread, approval, args));
        return send(thread, approval);
    }

    /**
     * Decides with a signature. The decision applies to the request as it is now, and is rejected if the request
     * changes before the decision arrives.
     */
    PendingTurn decide(String thread, PersonFact.ApprovalDecided approval, DecisionKey key) {
        approval.args().ifPresent(args -> checkArguments(thread, approval, args));
        PendingItem item = waiting(thread, PendingItem.Kind.APPROVAL, approval.callId());
        PersonFact.ApprovalDecided called = approval.withCall(item.callId());
        // If the caller states the digest of what was shown, the thread also rejects the decision if that is outdated.
        return send(
                thread,
                key.sign(
                        item,
                        approval.argsDigest()
                                .or(item::argsDigest)
                                .map(called::withDigest)
                                .orElse(called)));
    }

    /** Returns the only open request of this kind, or the one for this call. */
    private PendingItem waiting(String thread, PendingItem.Kind kind, Optional<String> callId) {
        Timeline timeline = context.translated(() -> read(RequestLimits.thread(thread)));
        List<PendingItem> items = timeline.now().pending(thread).stream()
                .filter(item -> item.kind() == kind)
                .filter(item -> callId.map(item.callId()::equals).orElse(true))
                .toList();
        if (items.isEmpty()) {
            throw new WaymarkException.NotFound(
                    "nothing to sign: "
                            + callId.map(id -> "call " + id + " is not waiting").orElse("no call is waiting")
                            + " for this decision in " + thread,
                    Remedy.of(Remedy.Action.LIST_PENDING, thread));
        }
        if (items.size() > 1) {
            throw RequestLimits.badInput(
                    "several calls are waiting: "
                            + items.stream().map(PendingItem::callId).collect(Collectors.joining(", ")),
                    Remedy.of(Remedy.Action.NAME_CALL));
        }
        return items.get(0);
    }

    /** Checks edited arguments against the tool's schema before the approval is used up. */
    private void checkArguments(String thread, PersonFact.ApprovalDecided approval, Json args) {
        Timeline timeline = context.translated(() -> read(RequestLimits.thread(thread)));
        List<PendingItem> approvals = timeline.now().pending(thread).stream()
                .filter(item -> item.kind() == PendingItem.Kind.APPROVAL)
                .filter(item -> approval.callId().map(item.callId()::equals).orElse(true))
                .toList();
        if (approvals.size() == 1) {
            PendingItem item = approvals.get(0);
            context.translated(() -> agentOf(thread, timeline, item.callId()))
                    .flatMap(agent -> agent.tool(item.tool()))
                    .flatMap(spec -> ToolArguments.problem(spec.input(), args))
                    .ifPresent(why -> {
                        throw RequestLimits.badInput(
                                "the arguments do not match the schema of the tool " + item.tool() + ": " + why,
                                "The call still waits");
                    });
        }
    }

    /** Returns the agent that made the call. The id of a subagent's call contains the path to the subagent. */
    private Optional<AgentSpec> agentOf(String thread, Timeline timeline, String callId) {
        int slash = callId.indexOf('/');
        if (slash < 0 || timeline.now().calls().contains(callId)) {
            return timeline.agent();
        }
        String below = WireNames.subagentThread(thread, callId.substring(0, slash));
        return context.histories().read(below).flatMap(further -> agentOf(below, further, callId.substring(slash + 1)));
    }

    /** Settles a call with an unknown outcome. */
    PendingTurn settle(String thread, PersonFact.OutcomeSettled settlement) {
        return send(thread, settlement);
    }

    /** Settles a call with a signature. */
    PendingTurn settle(String thread, PersonFact.OutcomeSettled settlement, DecisionKey key) {
        PendingItem item = waiting(thread, PendingItem.Kind.UNKNOWN, Optional.of(settlement.callId()));
        return send(thread, key.sign(item, settlement));
    }

    /** Raises limits. A turn that ended at a limit continues. */
    PendingTurn raise(String thread, PersonFact.BudgetRaised raise) {
        return send(thread, raise);
    }

    /** Ends the running turn. Queued messages stay queued for the next turn. */
    PendingTurn stop(String thread) {
        return send(thread, new PersonFact.Stopped(Optional.empty()));
    }

    private PendingTurn send(String thread, PersonFact fact) {
        WaitDeadline deadline = context.deadline();
        return context.translated(() -> {
            Requests.Accepted accepted = update(RequestLimits.thread(thread), OutboundMessage.of(fact), deadline);
            return pending(
                    thread,
                    accepted,
                    () -> OutcomeDetector.forTurnAt(accepted.ack().fact()),
                    deadline);
        });
    }

    private PendingTurn pending(
            String thread, Requests.Accepted accepted, Supplier<OutcomeDetector> waiting, WaitDeadline deadline) {
        return PendingTurn.of(
                context, thread, accepted.runId(), () -> outcomes.await(thread, accepted, waiting, deadline));
    }

    /**
     * Sends a message without waiting for an outcome, for callers that use {@link AgentClient#watch}. The thread has
     * accepted the message when this method returns.
     */
    ThreadRequests.Posted post(String thread, OutboundMessage message) {
        checkArguments(thread, message);
        return deliver(thread, message);
    }

    /**
     * Sends several messages in this order. All are checked before the first one is sent, so that none is sent if the
     * thread would refuse one. Messages that were delivered before are not sent again.
     */
    List<ThreadRequests.Posted> postAll(String thread, List<OutboundMessage> messages) {
        Timeline timeline = context.translated(() -> context.read(RequestLimits.thread(thread)));
        Map<OutboundMessage, Integer> delivered = new DeliveryCheck(timeline).delivered(messages);
        messages.stream()
                .filter(message -> !delivered.containsKey(message))
                .forEach(message -> checkArguments(thread, message));
        return messages.stream()
                .map(message -> Optional.ofNullable(delivered.get(message))
                        .map(fact -> new ThreadRequests.Posted(timeline.runId(), fact))
                        .orElseGet(() -> deliver(thread, message)))
                .toList();
    }

    private void checkArguments(String thread, OutboundMessage message) {
        if (message.fact() instanceof PersonFact.ApprovalDecided approval) {
            approval.args().ifPresent(args -> checkArguments(thread, approval, args));
        }
    }

    private ThreadRequests.Posted deliver(String thread, OutboundMessage message) {
        WaitDeadline deadline = context.deadline();
        return context.translated(() -> {
            checkThatItMayContinue(RequestLimits.thread(thread), message.name());
            Requests.Accepted accepted = sent(thread, message, deadline);
            int fact = accepted.ack().fact();
            // The server answers a repeated update itself, and does not say that it is a repetition.
            if (message.isNamed() && (accepted.ack().duplicate() || !message.recordsId())) {
                new DeliveryCheck(context.read(thread)).requireSame(message, fact);
            }
            return new ThreadRequests.Posted(accepted.runId(), fact);
        });
    }

    /** Deletes the conversation. A running turn is stopped. The record of side effects is kept. */
    AgentClient.Started clear(String thread) {
        return clear(thread, false);
    }

    /** Deletes the conversation and the record of side effects, so that a repeated call takes effect again. */
    AgentClient.Started clearAll(String thread) {
        return clear(thread, true);
    }

    private AgentClient.Started clear(String thread, boolean all) {
        return context.translated(() -> {
            Requests.Accepted cleared =
                    control(thread, new PersonFact.Cleared(all, Optional.empty()), context.deadline());
            saves.save(thread);
            return new AgentClient.Started(thread, cleared.runId());
        });
    }

    /**
     * Closes the thread as soon as it is idle. Returns whether it has closed: false if a turn is running, or if the
     * thread has not closed within {@link Requests#WORKER_WAIT}.
     */
    boolean close(String thread) {
        WaitDeadline deadline = context.deadline().orSooner(Requests.WORKER_WAIT);
        return context.translated(() -> {
            Requests.Accepted accepted = control(thread, new PersonFact.CloseRequested(Optional.empty()), deadline);
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

    /** Cancels the thread. Its running work ends before it closes. */
    PendingTurn cancel(String thread) {
        WaitDeadline deadline = context.deadline();
        return context.translated(() -> {
            Requests.Known known = context.get(RequestLimits.thread(thread));
            if (!known.open()) {
                throw Requests.closed(thread);
            }
            context.requests().cancel(thread);
            return PendingTurn.of(context, thread, known.runId(), () -> end(thread, known.runId(), deadline));
        });
    }

    private AgentResult end(String thread, String runId, WaitDeadline deadline) {
        MomentStream feed = context.moments(thread, runId);
        WaitPolicy patience = new WaitPolicy(context.requests(), thread, deadline);
        while (!feed.isClosed()) {
            feed.next(patience.millis());
            patience.check(feed);
        }
        saves.save(thread);
        return OutcomeWaiter.endOf(thread, feed);
    }

    private Requests.Accepted control(String thread, PersonFact fact, WaitDeadline deadline) {
        return update(RequestLimits.thread(thread), OutboundMessage.of(fact), deadline);
    }

    private Requests.Accepted update(String thread, OutboundMessage message, WaitDeadline deadline) {
        checkThatItMayContinue(thread, message.name());
        try {
            return sent(thread, message, deadline);
        } catch (WaymarkException.NotFound | WaymarkException.Closed e) {
            if (resumer.isHere(thread)) {
                throw e;
            }
            if (!CONTINUING.contains(message.name())) {
                throw context.missing(thread);
            }
            restore(thread, e);
            return sent(thread, message, deadline);
        }
    }

    private Requests.Accepted sent(String thread, OutboundMessage message, WaitDeadline deadline) {
        return context.requests().update(thread, message.name(), message.updateId(), message.payload(), deadline);
    }

    private void checkThatItMayContinue(String thread, String name) {
        if (CONTINUING.contains(name)) {
            SavedThread.checkThatNoOtherServerHas(context, thread);
        }
    }

    /** Returns the history of a thread, after restoring the thread if only the saver has it. */
    private Timeline read(String thread) {
        if (!resumer.isHere(thread)) {
            restore(thread, Requests.noSuchThread(thread));
        }
        return context.read(thread);
    }

    /**
     * Restores a thread that the server does not know. Throws {@code missing} if there is no saver, or if the saver
     * does not have the thread.
     */
    private void restore(String thread, WaymarkException missing) {
        resumer.restored(thread, ResumeOptions.onward());
        if (!resumer.isHere(thread)) {
            throw missing;
        }
    }
}
