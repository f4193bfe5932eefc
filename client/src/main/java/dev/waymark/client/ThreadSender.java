package dev.waymark.client;

import dev.waymark.agent.AgentSpec;
import dev.waymark.agent.ToolSpec;
import dev.waymark.client.check.RequestLimits;
import dev.waymark.client.connection.MomentStream;
import dev.waymark.client.connection.Requests;
import dev.waymark.client.connection.WaitDeadline;
import dev.waymark.client.failure.Remedy;
import dev.waymark.client.failure.WaymarkException;
import dev.waymark.client.request.DecisionKey;
import dev.waymark.client.request.OutboundMessage;
import dev.waymark.client.request.ResumeOptions;
import dev.waymark.contract.WireNames;
import dev.waymark.contract.message.Ack;
import dev.waymark.conversation.decision.PendingItem;
import dev.waymark.conversation.fact.PersonFact;
import dev.waymark.conversation.fact.PersonFact.ApprovalDecided;
import dev.waymark.conversation.fact.SignalNames;
import dev.waymark.conversation.state.UnknownRulesException;
import dev.waymark.conversation.value.GrantTerms;
import dev.waymark.conversation.value.Json;
import dev.waymark.timeline.Moment;
import dev.waymark.timeline.Timeline;
import dev.waymark.tool.ConditionSchema;
import dev.waymark.tool.RuleCheck;
import dev.waymark.tool.ToolArguments;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
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
    private final NewThreads threads;
    private final ThreadResumer resumer;

    ThreadSender(
            ClientContext context,
            OutcomeWaiter outcomes,
            OutcomeSaver saves,
            NewThreads threads,
            ThreadResumer resumer) {
        this.context = context;
        this.outcomes = outcomes;
        this.saves = saves;
        this.threads = threads;
        this.resumer = resumer;
    }

    /** Sends a message of a prompt, which a turn consumes. */
    TurnHandle say(String thread, PersonFact.UserSpoke say, WaitDeadline deadline) {
        OutboundMessage message = OutboundMessage.of(say);
        return handle(thread, update(thread, message, deadline), say, deadline).recording(message.name());
    }

    static OutcomeDetector waitingFor(PersonFact message, int fact) {
        return message instanceof PersonFact.UserSpoke say && say.content().isPresent()
                ? OutcomeDetector.forMessage(say.id().orElseThrow(), fact)
                : OutcomeDetector.forTurnAt(fact);
    }

    private TurnHandle handle(String thread, Requests.Accepted accepted, PersonFact message, WaitDeadline deadline) {
        int fact = accepted.ack().fact();
        Supplier<OutcomeDetector> waiting = () -> waitingFor(message, fact);
        return (accepted.ack().duplicate()
                        ? outcomes.repeated(thread, accepted.runId(), waiting, deadline)
                        : outcomes.handle(thread, accepted.runId(), waiting, deadline))
                .withFact(fact);
    }

    /** Decides about a call that needs approval. */
    TurnHandle decide(String thread, ApprovalDecided approval) {
        return send(
                thread,
                context.signing()
                        .map(key -> signed(thread, approval, key))
                        .orElseGet(() -> OutboundMessage.of(approval)));
    }

    private OutboundMessage signed(String thread, ApprovalDecided approval, DecisionKey key) {
        return signed(waiting(thread, PendingItem.Kind.APPROVAL, approval.callId()), approval, key);
    }

    /**
     * Signs a decision. It applies to the request as it is now, and is rejected if the request changes before the
     * decision arrives.
     */
    static OutboundMessage signed(PendingItem item, ApprovalDecided approval, DecisionKey key) {
        ApprovalDecided about = approval.withCall(item.callId());
        // If the caller states the digest of what was shown, the thread also rejects the decision if that is outdated.
        Optional<String> digest = approval.argsDigest().or(item::argsDigest);
        return OutboundMessage.of(key.sign(item, digest.map(about::withDigest).orElse(about)));
    }

    /** Settles a call with an unknown outcome. */
    TurnHandle settle(String thread, PersonFact.OutcomeSettled settlement) {
        return send(
                thread,
                OutboundMessage.of(context.signing()
                        .<PersonFact>map(key -> key.sign(
                                waiting(thread, PendingItem.Kind.UNKNOWN, Optional.of(settlement.callId())),
                                settlement))
                        .orElse(settlement)));
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
    private void checkArguments(String thread, ApprovalDecided approval, Json args) {
        Timeline timeline = context.translated(() -> read(RequestLimits.thread(thread)));
        asked(timeline, approval)
                .ifPresent(item -> input(thread, timeline, item)
                        .flatMap(input -> ToolArguments.problem(input, args))
                        .ifPresent(why -> {
                            throw RequestLimits.badInput(
                                    "the arguments do not match the schema of the tool " + item.tool() + ": " + why,
                                    "The call still waits");
                        }));
    }

    /** The request that the approval is about, unless that is ambiguous. */
    private static Optional<PendingItem> asked(Timeline timeline, ApprovalDecided approval) {
        List<PendingItem> items = timeline.now().asks().stream()
                .filter(item -> item.kind() == PendingItem.Kind.APPROVAL)
                .filter(item -> approval.callId().map(item.callId()::equals).orElse(true))
                .toList();
        return items.size() == 1 ? Optional.of(items.get(0)) : Optional.empty();
    }

    /** The schema of the tool that a person is asked about. */
    private Optional<Json> input(String thread, Timeline timeline, PendingItem item) {
        return context.translated(() -> agentOf(thread, timeline, item.callId()))
                .flatMap(agent -> agent.tool(item.tool()))
                .map(ToolSpec::input);
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

    /** Sends a message. The thread has accepted it when this method returns. */
    TurnHandle send(String thread, OutboundMessage message) {
        WaitDeadline deadline = context.deadline();
        checkArguments(thread, message);
        return deliver(thread, message, deadline);
    }

    /**
     * Sends several messages in this order. All are checked before the first one is sent, so that none is sent if the
     * thread would refuse one. Messages that were delivered before are not sent again.
     */
    List<TurnHandle> sendAll(String thread, List<OutboundMessage> messages) {
        WaitDeadline deadline = context.deadline();
        Timeline timeline = context.translated(() -> read(RequestLimits.thread(thread)));
        Map<OutboundMessage, Integer> delivered = new DeliveryCheck(timeline).delivered(messages);
        messages.stream()
                .filter(message -> !delivered.containsKey(message))
                .forEach(message -> checkArguments(thread, message));
        return messages.stream()
                .map(message -> Optional.ofNullable(delivered.get(message))
                        .map(fact -> handle(
                                thread,
                                new Requests.Accepted(new Ack(fact, true), timeline.runId()),
                                message.fact(),
                                deadline))
                        .orElseGet(() -> deliver(thread, message, deadline)))
                .toList();
    }

    private void checkArguments(String thread, OutboundMessage message) {
        if (message.fact() instanceof ApprovalDecided approval) {
            approval.args().ifPresent(args -> checkArguments(thread, approval, args));
            approval.grant().ifPresent(terms -> checkGrant(thread, approval, terms));
        }
    }

    /** Checks the schema of a grant before the approval is used up, because the thread can't evaluate schemas. */
    private void checkGrant(String thread, ApprovalDecided approval, GrantTerms terms) {
        terms.like()
                .ifPresent(schema -> checkLike(
                        thread, context.translated(() -> read(RequestLimits.thread(thread))), approval, schema));
    }

    private void checkLike(String thread, Timeline timeline, ApprovalDecided approval, Json schema) {
        Optional<PendingItem> item = asked(timeline, approval);
        Json input = item.flatMap(asked -> input(thread, timeline, asked)).orElse(Json.EMPTY_OBJECT);
        ConditionSchema.problem(schema, input).ifPresent(why -> {
            throw RequestLimits.badInput(
                    "the schema of the grant can't be used: " + why,
                    "The call still waits. If any arguments will do, send \"anyArgs\": true, or --any-args");
        });
        Optional<Json> args = approval.args()
                .or(() -> item.filter(asked -> !asked.hasCutArgs()).flatMap(PendingItem::args));
        if (args.isPresent() && !RuleCheck.isLike(schema, input, args.get())) {
            throw RequestLimits.badInput(
                    "the arguments of the call itself do not match the schema of the grant", "The call still waits");
        }
    }

    private TurnHandle deliver(String thread, OutboundMessage message, WaitDeadline deadline) {
        return context.translated(() -> {
            Requests.Accepted accepted = update(RequestLimits.thread(thread), withWords(thread, message), deadline);
            // The server answers a repeated update itself, and does not say that it is a repetition.
            if (message.isNamed() && (accepted.ack().duplicate() || !message.recordsId())) {
                try {
                    new DeliveryCheck(context.read(thread))
                            .requireSame(message, accepted.ack().fact());
                } catch (UnknownRulesException e) {
                    throw OutcomeWait.unreadable(message.name(), thread, e);
                }
            }
            return handle(thread, accepted, message.fact(), deadline).recording(message.name());
        });
    }

    /** A copy of a stop that contains the partial reply so far. */
    private OutboundMessage withWords(String thread, OutboundMessage message) {
        if (!(message.fact() instanceof PersonFact.Stopped stop)) {
            return message;
        }
        Optional<String> said = context.liveText(thread).said();
        return new OutboundMessage(new PersonFact.Stopped(said, stop.by()), message.id(), message.isNamed());
    }

    /** Deletes the conversation, and saves the thread without it. */
    TurnHandle clear(String thread, OutboundMessage clearing) {
        TurnHandle cleared = send(thread, clearing);
        saves.save(thread);
        return cleared;
    }

    /**
     * Closes the thread as soon as it is idle. Returns whether it has closed: false if a turn is running, or if the
     * thread has not closed within {@link Requests#WORKER_WAIT}.
     */
    boolean close(String thread) {
        WaitDeadline deadline = context.deadline().orSooner(Requests.WORKER_WAIT);
        return context.translated(() -> {
            TurnHandle closing = deliver(thread, OutboundMessage.close(), deadline);
            int fact = closing.fact().orElseThrow();
            try (MomentStream feed = context.moments(thread, closing.runId())) {
                while (!deadline.isPast() && !feed.isClosed()) {
                    for (Moment moment : feed.next(deadline.millisLeft())) {
                        boolean applied = moment.state().counters().facts() >= fact;
                        if (applied && moment.state().turn().isRunning()) {
                            return false;
                        }
                    }
                }
                return feed.isClosed();
            }
        });
    }

    /** Cancels the thread. Its running work ends before it closes. */
    TurnHandle cancel(String thread) {
        WaitDeadline deadline = context.deadline();
        return context.translated(() -> {
            Requests.Known known = context.get(RequestLimits.thread(thread));
            if (!known.open()) {
                throw Requests.closed(thread);
            }
            context.requests().cancel(thread);
            // The thread is saved once, at its end.
            ClientContext unobserved = context.unobserved();
            return new OutcomeWaiter(unobserved, new OutcomeSaver(unobserved))
                    .handle(thread, known.runId(), OutcomeDetector::forTheEnd, deadline)
                    .checking(result -> OutcomeSaver.saved(result, saves.save(thread)));
        });
    }

    private Requests.Accepted update(String thread, OutboundMessage message, WaitDeadline deadline) {
        checkThatItMayContinue(thread, message.name());
        try {
            return context.requests().update(thread, message, deadline);
        } catch (WaymarkException.NotFound | WaymarkException.Closed e) {
            if (threads.isHere(thread)) {
                throw e;
            }
            if (!CONTINUING.contains(message.name())) {
                throw context.missing(thread);
            }
            restore(thread, e);
            return context.requests().update(thread, message, deadline);
        }
    }

    private void checkThatItMayContinue(String thread, String name) {
        if (CONTINUING.contains(name)) {
            SavedThread.checkThatNoOtherServerHas(context, thread);
        }
    }

    /** Returns the history of a thread, after restoring the thread if only the saver has it. */
    private Timeline read(String thread) {
        if (!threads.isHere(thread)) {
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
        if (!threads.isHere(thread)) {
            throw missing;
        }
    }
}
