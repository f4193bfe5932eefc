package dev.waymark.bench.soak;

import dev.waymark.bench.chaos.ToolVariant;
import dev.waymark.client.AgentClient;
import dev.waymark.client.AgentResult;
import dev.waymark.client.failure.WaymarkException;
import dev.waymark.client.request.Approval;
import dev.waymark.client.request.NewThreadOptions;
import dev.waymark.client.request.OutboundMessage;
import dev.waymark.client.request.Prompt;
import dev.waymark.conversation.decision.PendingItem;
import dev.waymark.conversation.fact.PersonFact;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Queue;
import java.util.SplittableRandom;
import java.util.concurrent.TimeUnit;
import java.util.function.Supplier;

/**
 * A caller who starts threads, sends messages, answers questions, and decides about calls. After a failure of the
 * server, the workers or the network, the caller repeats the request; a repeated message keeps its id.
 */
final class SoakCaller {
    private static final Duration CLIENT_TIMEOUT = Duration.ofSeconds(30);
    private static final Duration BETWEEN_REPETITIONS = Duration.ofMillis(500);
    private static final int MOST_THINKING_MILLIS = 1_000;
    private static final int MOST_MILLIS_BEFORE_STOP = 3_000;
    private static final int MOST_MESSAGES = 6;
    private static final double DENIED = 0.2;

    private static final List<SoakThread.Kind> KINDS = List.of(
            SoakThread.Kind.ONE_TURN,
            SoakThread.Kind.CONVERSATION,
            SoakThread.Kind.CONVERSATION,
            SoakThread.Kind.QUEUED,
            SoakThread.Kind.STOPPED,
            SoakThread.Kind.CANCELLED);

    private final AgentClient client;
    private final String name;
    private final SplittableRandom random;
    private final Instant end;
    private final Instant givesUpAt;
    private final Queue<SoakThread> threads;
    private final Queue<String> violations;
    private int tasks;

    /**
     * @param end when the caller stops starting anything new
     * @param givesUpAt when the caller gives up
     * @param threads receives the caller's threads
     * @param violations receives unexpected outcomes
     */
    SoakCaller(
            AgentClient client,
            String name,
            SplittableRandom random,
            Instant end,
            Instant givesUpAt,
            Queue<SoakThread> threads,
            Queue<String> violations) {
        this.client = client.withTimeout(CLIENT_TIMEOUT);
        this.name = name;
        this.random = random;
        this.end = end;
        this.givesUpAt = givesUpAt;
        this.threads = threads;
        this.violations = violations;
    }

    /** Uses one thread after the other until the end. */
    void useThreads() throws InterruptedException {
        for (int i = 0; !isEnd(); i++) {
            use(new SoakThread(name + "-" + i, KINDS.get(random.nextInt(KINDS.size()))));
        }
    }

    /** Uses a single thread until the end. */
    void useLongLivedThread() throws InterruptedException {
        use(new SoakThread(name, SoakThread.Kind.LONG_LIVED));
    }

    private void use(SoakThread thread) throws InterruptedException {
        threads.add(thread);
        try {
            switch (thread.kind()) {
                case ONE_TURN -> useOnce(thread);
                case CONVERSATION -> converse(thread, 1 + random.nextInt(MOST_MESSAGES));
                case QUEUED -> queue(thread);
                case STOPPED -> stop(thread);
                case CANCELLED -> cancel(thread);
                case LONG_LIVED -> converse(thread, Integer.MAX_VALUE);
            }
            thread.end();
        } catch (GaveUp e) {
            violations.add(thread.id() + ": no outcome of " + e.getMessage());
        } catch (RuntimeException e) {
            violations.add(thread.id() + ": " + e);
        }
    }

    private void useOnce(SoakThread thread) throws InterruptedException {
        SoakTask task = task();
        Prompt prompt = prompt(thread, task);
        NewThreadOptions once = NewThreadOptions.ownedBy(Optional.empty()).closingAfterOneTurn();
        repeat("start", () -> client.startNew(prompt, once));
        thread.accepted(task);
        complete(thread, result(thread));
    }

    private void converse(SoakThread thread, int messages) throws InterruptedException {
        for (int i = 0; i < messages && !(isEnd() && i > 0); i++) {
            think(MOST_THINKING_MILLIS);
            say(thread);
        }
        close(thread);
    }

    /** Sends a message and waits for its outcome. */
    private void say(SoakThread thread) throws InterruptedException {
        SoakTask task = task();
        Prompt prompt = prompt(thread, task);
        AgentResult result = repeat("message", () -> client.run(prompt).await());
        thread.accepted(task);
        complete(thread, result);
    }

    private void queue(SoakThread thread) throws InterruptedException {
        int messages = 2 + random.nextInt(MOST_MESSAGES - 2);
        for (int i = 0; i < messages; i++) {
            send(thread);
        }
        complete(thread, result(thread));
        close(thread);
    }

    /** Sends a message without waiting for its outcome. */
    private void send(SoakThread thread) throws InterruptedException {
        SoakTask task = task();
        Prompt prompt = prompt(thread, task);
        repeat("message", () -> client.start(prompt));
        thread.accepted(task);
    }

    private void stop(SoakThread thread) throws InterruptedException {
        send(thread);
        think(MOST_MILLIS_BEFORE_STOP);
        try {
            repeat("stop", () -> client.stop(thread.id()).await());
        } catch (WaymarkException.Refused | WaymarkException.NotFound e) {
            // The turn has already ended, or has not started yet.
        }
        say(thread);
        close(thread);
    }

    private void cancel(SoakThread thread) throws InterruptedException {
        send(thread);
        think(MOST_MILLIS_BEFORE_STOP);
        try {
            repeat("cancel", () -> client.cancel(thread.id()).await());
        } catch (WaymarkException.Closed e) {
            // An earlier attempt has already cancelled the thread.
        }
    }

    private void close(SoakThread thread) throws InterruptedException {
        try {
            while (!repeat("close", () -> client.close(thread.id()))) {
                pauseAfter("close");
            }
        } catch (WaymarkException.Closed e) {
            // An earlier attempt has already closed the thread.
        }
    }

    private Prompt prompt(SoakThread thread, SoakTask task) {
        String agent = thread.kind() == SoakThread.Kind.LONG_LIVED ? SoakAgents.SUMMARIZING : SoakAgents.MIXED;
        return Prompt.of(agent, task.text()).withThread(thread.id()).withId(task.id());
    }

    private SoakTask task() {
        tasks++;
        List<List<String>> rounds = new ArrayList<>();
        int count = 1 + random.nextInt(2);
        for (int round = 0; round < count; round++) {
            List<String> tools = new ArrayList<>();
            int calls = 1 + random.nextInt(3);
            for (int call = 0; call < calls; call++) {
                tools.add(tool());
            }
            rounds.add(tools);
        }
        return new SoakTask(name + "-m" + tasks, rounds);
    }

    private String tool() {
        int choice = random.nextInt(20);
        if (choice == 0) {
            return SoakTask.QUESTION;
        }
        if (choice <= 2) {
            return SoakAgents.HELPER;
        }
        ToolVariant kind = SoakAgents.KINDS.get(random.nextInt(SoakAgents.KINDS.size()));
        return kind.tool(choice <= 5);
    }

    private AgentResult result(SoakThread thread) throws InterruptedException {
        return repeat("result", () -> client.turn(thread.id()).await());
    }

    /** Answers questions and decides about calls until the turn is over. */
    private void complete(SoakThread thread, AgentResult reached) throws InterruptedException {
        AgentResult result = reached;
        while (result instanceof AgentResult.Interrupted asking) {
            List<PendingItem> pending = asking.pending();
            PendingItem item = pending.get(random.nextInt(pending.size()));
            boolean denied = random.nextDouble() < DENIED;
            try {
                OutboundMessage message = item.kind() == PendingItem.Kind.QUESTION
                        ? OutboundMessage.answer(item.callId(), "Yes.")
                        : OutboundMessage.of(
                                decision(denied).withCall(item.callId()).withBy("ann"));
                result = client.send(thread.id(), message).await();
            } catch (WaymarkException e) {
                // The thread may have received the decision nevertheless.
                pauseAfter("decision");
                result = result(thread);
            }
        }
        if (!(result instanceof AgentResult.Complete)) {
            violations.add(thread.id() + ": the turn is " + result.status() + result.problem());
        }
    }

    private static PersonFact.ApprovalDecided decision(boolean denied) {
        return denied ? Approval.deny("No.") : Approval.approve();
    }

    private <T> T repeat(String what, Supplier<T> request) throws InterruptedException {
        while (true) {
            try {
                return request.get();
            } catch (WaymarkException.NoWorker | WaymarkException.TimedOut | WaymarkException.ServerUnreachable e) {
                pauseAfter(what);
            }
        }
    }

    /** Pauses before the request is repeated. Throws {@link GaveUp} if the time for repetitions is over. */
    private void pauseAfter(String request) throws InterruptedException {
        if (Instant.now().isAfter(givesUpAt)) {
            throw new GaveUp(request);
        }
        TimeUnit.NANOSECONDS.sleep(BETWEEN_REPETITIONS.toNanos());
    }

    private static final class GaveUp extends RuntimeException {
        private static final long serialVersionUID = 1L;

        GaveUp(String request) {
            super(request);
        }
    }

    private void think(int mostMillis) throws InterruptedException {
        TimeUnit.MILLISECONDS.sleep(random.nextInt(mostMillis));
    }

    private boolean isEnd() {
        return Instant.now().isAfter(end);
    }
}
