package dev.waymark.client;

import dev.waymark.client.check.RequestLimits;
import dev.waymark.client.connection.Requests;
import dev.waymark.client.connection.WaitDeadline;
import dev.waymark.client.connection.WaitThreads;
import dev.waymark.client.failure.Remedy;
import dev.waymark.client.failure.WaymarkException;
import dev.waymark.client.request.NewThreadOptions;
import dev.waymark.client.request.Prompt;
import dev.waymark.client.request.ResumeOptions;
import dev.waymark.contract.message.InboundDecoder;
import dev.waymark.contract.thread.StartInput;
import dev.waymark.conversation.fact.Fact;
import dev.waymark.conversation.fact.PersonFact;
import dev.waymark.conversation.fact.SignalNames;
import dev.waymark.conversation.value.Json;
import java.time.Instant;
import java.util.List;
import java.util.Optional;
import java.util.UUID;

/** Starts threads, or continues open ones. */
final class ThreadStarter {
    /** The number of the fact of the message in a start input, after the start of the run itself. */
    private static final int FIRST_MESSAGE = 2;

    private final ClientContext context;
    private final OutcomeWaiter outcomes;
    private final OutcomeSaver saves;
    private final NewThreads threads;
    private final ThreadResumer resumer;
    private final ThreadSender sender;

    ThreadStarter(
            ClientContext context,
            OutcomeWaiter outcomes,
            OutcomeSaver saves,
            NewThreads threads,
            ThreadResumer resumer,
            ThreadSender sender) {
        this.context = context;
        this.outcomes = outcomes;
        this.saves = saves;
        this.threads = threads;
        this.resumer = resumer;
        this.sender = sender;
    }

    /** Starts a thread from the prompt, or continues the open thread that it names. */
    TurnHandle run(Prompt prompt) {
        WaitDeadline deadline = context.deadline();
        return context.translated(() -> {
            Valid valid = Valid.of(prompt);
            boolean restored = isRestored(valid);
            if (restored && valid.saysNothing()) {
                return outcomes.turn(valid.thread(), deadline);
            }
            Optional<Requests.Known> known = known(valid);
            if (known.isPresent()) {
                return sayTo(valid.thread(), known.get(), valid, deadline);
            }
            Optional<String> runId = threads.start(
                    valid.thread(), newThread(valid).saying(valid.say()), Optional.empty(), prompt.id(), deadline);
            if (runId.isEmpty()) {
                // Another client has started the thread in the meantime.
                return sayTo(valid.thread(), open(valid), valid, deadline);
            }
            return started(valid, runId.get(), deadline);
        });
    }

    /** Returns the handle of a thread that has started with the message of this prompt. */
    private TurnHandle started(Valid valid, String runId, WaitDeadline deadline) {
        return outcomes.handle(valid.thread(), runId, () -> waitingFor(valid), deadline);
    }

    private static OutcomeDetector waitingFor(Valid valid) {
        return ThreadSender.waitingFor(valid.say(), FIRST_MESSAGE);
    }

    /** Like {@link #run}, but returns once the server has stored the request, also for an open thread. */
    TurnHandle start(Prompt prompt) {
        if (prompt.thread().isEmpty()) {
            // The id is new, so the message starts the thread, and its delivery needs no confirmation.
            return run(prompt);
        }
        WaitDeadline deadline = context.deadline();
        return context.translated(() -> {
            Valid valid = Valid.of(prompt);
            isRestored(valid);
            Optional<Requests.Known> known = known(valid);
            String runId = known.map(run -> signal(valid, run))
                    .orElseGet(() -> context.requests()
                            .inTurn(
                                    () -> context.requests()
                                            .signalWithStart(valid.thread(), valid.say(), newThread(valid)),
                                    deadline));
            if (context.connection().isInMemory()) {
                saves.saveBeginning(valid.thread(), runId);
            }
            // A signal has no answer. The same message sent again as an update gets one, and changes nothing.
            return outcomes.opening(
                    valid.thread(),
                    runId,
                    deadline,
                    () -> WaitThreads.blocking(() -> delivered(valid, runId, deadline)));
        });
    }

    /** Determines what to wait for after a message was sent as a signal. */
    private Awaited delivered(Valid valid, String runId, WaitDeadline deadline) {
        if (deadline.isPast()) {
            return outcomes.past(valid.thread(), waitingFor(valid), deadline)
                    .orElseGet(() -> new Awaited.Coming(runId, waitingFor(valid)));
        }
        try {
            return sender.say(valid.thread(), valid.say(), deadline).open();
        } catch (WaymarkException.Closed e) {
            // The turn has ended, and the thread has closed since.
            return outcomes.past(valid.thread(), waitingFor(valid), deadline).orElseThrow(() -> e);
        }
    }

    private String signal(Valid valid, Requests.Known known) {
        checkAgent(valid, known);
        context.requests().signal(valid.thread(), valid.say());
        return known.runId();
    }

    /** Starts the thread that the prompt names, unless the same prompt has started it before. */
    TurnHandle startNew(Prompt prompt, NewThreadOptions how) {
        WaitDeadline deadline = context.deadline();
        return context.translated(() -> {
            Valid valid = Valid.of(prompt);
            StartInput named = newThread(valid).saying(valid.say()).ownedBy(how.owner());
            StartInput input = how.once() ? named.closingAfterOneTurn() : named;
            Optional<String> runId = threads.start(valid.thread(), input, Optional.empty(), prompt.id(), deadline);
            if (runId.isPresent()) {
                return started(valid, runId.get(), deadline);
            }
            Requests.Known known = context.requests().get(valid.thread());
            String first = context.histories().firstRunId(valid.thread(), known.runId());
            if (!isSame(context.histories().startInput(valid.thread(), first), input)) {
                throw DeliveryCheck.keyReused();
            }
            return outcomes.repeated(valid.thread(), known.runId(), () -> waitingFor(valid), deadline);
        });
    }

    /** Returns whether two inputs belong to the same prompt. Ignores the session, which contains the start time. */
    static boolean isSame(StartInput one, StartInput other) {
        return one.agent().equals(other.agent())
                && one.owner().equals(other.owner())
                && one.once() == other.once()
                && said(one).equals(said(other))
                && one.context().equals(other.context())
                && one.maxIterations().equals(other.maxIterations());
    }

    private static Optional<Fact> said(StartInput input) {
        return input.say().map(body -> InboundDecoder.read(SignalNames.SAY, body));
    }

    /** A prompt whose parts have been checked, with the id of its thread. */
    private record Valid(Prompt prompt, String thread, PersonFact.UserSpoke say) {
        static Valid of(Prompt prompt) {
            prompt.agent().ifPresent(RequestLimits::agent);
            PersonFact.UserSpoke say = new PersonFact.UserSpoke(
                    Optional.of(prompt.id()),
                    prompt.messages().map(RequestLimits::messages),
                    prompt.message(),
                    false,
                    prompt.schema().map(RequestLimits::schema),
                    prompt.untrusted());
            RequestLimits.check(say);
            String thread = prompt.thread().map(RequestLimits::thread).orElseGet(() -> "run-" + UUID.randomUUID());
            return new Valid(prompt, thread, say);
        }

        boolean isNamed() {
            return prompt.thread().isPresent();
        }

        boolean saysNothing() {
            return prompt.message().isEmpty()
                    && prompt.messages().map(Json.of(List.of())::equals).orElse(true);
        }
    }

    private Optional<Requests.Known> known(Valid valid) {
        Optional<Requests.Known> known = valid.isNamed() ? context.requests().find(valid.thread()) : Optional.empty();
        if (known.isPresent() && !known.get().open()) {
            if (threads.isFree(valid.thread(), known.get())) {
                return Optional.empty();
            }
            throw Requests.closed(valid.thread());
        }
        return known;
    }

    private Requests.Known open(Valid valid) {
        return known(valid).orElseThrow(() -> Requests.noSuchThread(valid.thread()));
    }

    /**
     * Returns the input with which the threads of a schedule start. They close when their turn ends, so that they do
     * not prevent the next one, and their message needs no id, because each thread gets it once. Their sessions are
     * their names, which contain the time.
     */
    static StartInput scheduled(Prompt prompt) {
        Valid valid = Valid.of(prompt);
        PersonFact.UserSpoke say = valid.say();
        return input(agent(valid), valid)
                .saying(new PersonFact.UserSpoke(
                        Optional.empty(), say.replacement(), say.content(), say.retry(), say.schema(), say.untrusted()))
                .tracedBy(prompt.traceparent())
                .closingAfterOneTurn();
    }

    private static StartInput input(String agent, Valid valid) {
        return StartInput.of(agent)
                .withMaxIterations(valid.prompt().maxIterations())
                .withContext(valid.prompt().context().map(RequestLimits::context));
    }

    private static String agent(Valid valid) {
        String agent = valid.prompt()
                .agent()
                .orElseThrow(() -> RequestLimits.badInput(
                        "a new thread needs an agent: " + valid.thread(), Remedy.of(Remedy.Action.NAME_AGENT)));
        if (valid.saysNothing()) {
            throw RequestLimits.badInput("a new thread needs a message: " + valid.thread(), "Add a message");
        }
        return agent;
    }

    private StartInput newThread(Valid valid) {
        String agent = agent(valid);
        if (valid.isNamed()) {
            threads.checkThatItLasts(valid.thread(), valid.prompt().volatileAllowed());
        }
        StartInput input =
                input(agent, valid).tracedBy(valid.prompt().traceparent().or(context.callerSpan()));
        return valid.isNamed() ? input.inSession(session(valid.thread(), Instant.now())) : input.closingAfterOneTurn();
    }

    /**
     * Returns a session id: the thread id with the time of the start. The thread id can be reused after the thread is
     * deleted; the time gives the new thread different idempotency keys.
     */
    private static String session(String thread, Instant start) {
        return thread + "~" + Long.toString(start.toEpochMilli(), Character.MAX_RADIX);
    }

    private void checkAgent(Valid valid, Requests.Known known) {
        if (valid.prompt().agent().isEmpty()) {
            return;
        }
        String own =
                context.histories().startInput(valid.thread(), known.runId()).agent();
        if (!own.isEmpty() && !own.equals(valid.prompt().agent().get())) {
            throw RequestLimits.badInput(
                    "the thread belongs to another agent: " + own,
                    Remedy.of(Remedy.Action.OMIT_AGENT_OR_USE_ANOTHER_THREAD));
        }
    }

    private TurnHandle sayTo(String thread, Requests.Known known, Valid valid, WaitDeadline deadline) {
        checkAgent(valid, known);
        if (valid.prompt().context().isPresent()) {
            throw RequestLimits.badInput(
                    "the context of an existing thread can't be changed: " + thread, "Leave the context out");
        }
        Optional<Integer> most = valid.prompt().maxIterations();
        if (most.isPresent()
                && !most.equals(
                        context.histories().startInput(thread, known.runId()).maxIterations())) {
            throw RequestLimits.badInput(
                    "the thread already has a limit of iterations: " + thread,
                    Remedy.of(Remedy.Action.RAISE_ITERATIONS, thread).withDetail(String.valueOf(most.get())));
        }
        return sender.say(thread, valid.say(), deadline);
    }

    private boolean isRestored(Valid valid) {
        ResumeOptions how = ResumeOptions.onward();
        how = valid.prompt().agent().map(how::withAgent).orElse(how);
        how = valid.prompt().maxIterations().map(how::withMaxIterations).orElse(how);
        return valid.isNamed() && resumer.restored(valid.thread(), how).isPresent();
    }
}
