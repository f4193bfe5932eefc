package dev.waymark.bench;

import dev.waymark.client.AgentClient;
import dev.waymark.client.AgentResult;
import dev.waymark.client.TurnHandle;
import dev.waymark.client.request.Prompt;
import dev.waymark.worker.AgentWorker;
import java.lang.management.ManagementFactory;
import java.lang.management.ThreadInfo;
import java.lang.management.ThreadMXBean;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Function;

/**
 * Measures many waits at once: with {@link TurnHandle#await}, which needs a Java thread for each of them, and with
 * {@link TurnHandle#future}. The same few Java threads send the prompts on both sides.
 */
final class WaitsBenchmark {
    private static final double MOST_FOR_FUTURES = 1.05;
    private static final int MOST_THREADS = 20;
    private static final int SENDERS = 16;
    /** A model call, a tool call and a model call. */
    private static final String PLAN = "1 1 0 Look at the shelf";

    private static final int SAMPLES_APART_MILLIS = 20;

    private final BenchServer server;
    private final BenchReport report;
    private final int waits;
    private final int rounds;

    WaitsBenchmark(BenchServer server, BenchReport report, boolean quick) {
        this.server = server;
        this.report = report;
        this.waits = quick ? 50 : 1_000;
        this.rounds = quick ? 1 : 3;
    }

    void run() throws Exception {
        report.title("waits: " + waits + " at once");
        double[][] seconds = new double[2][rounds];
        int[] threads = {0, 0};
        try (AgentWorker worker = MeasuredAgent.worker(server.connection().client(), (side, iteration) -> {});
                AgentClient client = AgentClient.connect(server.address())) {
            worker.start();
            List<Function<TurnHandle, CompletableFuture<AgentResult>>> sides =
                    List.of(WaitsBenchmark::awaited, TurnHandle::future);
            sides.forEach(side -> outcomes(client, waits / 4, side));
            for (int round = 0; round < rounds; round++) {
                for (int turn = 0; turn < sides.size(); turn++) {
                    int side = (round + turn) % sides.size(); // The database grows, so no side may always be the last.
                    try (WaitingThreads sampled = WaitingThreads.sampled()) {
                        long begin = System.nanoTime();
                        outcomes(client, waits, sides.get(side));
                        seconds[side][round] = (System.nanoTime() - begin) / 1e9;
                        threads[side] = Math.max(threads[side], sampled.most());
                    }
                }
            }
        }
        double[] ratios = new double[rounds];
        Arrays.setAll(ratios, round -> seconds[1][round] / seconds[0][round]);
        report.head("waits with", "s until all have their outcome", "Java threads that wait");
        report.row("`await`", BenchReport.text("%.1f", Statistics.median(seconds[0])), threads[0]);
        report.row(
                "`future`",
                BenchReport.text("%.1f", Statistics.median(seconds[1])),
                report.within(threads[1], MOST_THREADS, "%.0f"));
        report.line("");
        report.line("Time with `future`, over that with `await` in the same round, median of " + rounds + ": "
                + report.within(Statistics.median(ratios), MOST_FOR_FUTURES, "%.3f") + "; all: "
                + Arrays.stream(ratios)
                        .mapToObj(each -> BenchReport.text("%.2f", each))
                        .toList() + ".");
    }

    /** Awaits the outcome in a separate Java thread. */
    private static CompletableFuture<AgentResult> awaited(TurnHandle turn) {
        CompletableFuture<AgentResult> outcome = new CompletableFuture<>();
        Thread caller = new Thread(
                () -> {
                    try {
                        outcome.complete(turn.await());
                    } catch (RuntimeException e) {
                        outcome.completeExceptionally(e);
                    }
                },
                "caller");
        caller.start();
        return outcome;
    }

    /** Starts turns, and returns when all waits have their outcomes. */
    private static void outcomes(
            AgentClient client, int waits, Function<TurnHandle, CompletableFuture<AgentResult>> wait) {
        ExecutorService senders = Executors.newFixedThreadPool(SENDERS);
        try {
            List<Future<CompletableFuture<AgentResult>>> sent = new ArrayList<>();
            for (int i = 0; i < waits; i++) {
                sent.add(senders.submit(() -> wait.apply(client.start(Prompt.of("bench", PLAN)))));
            }
            for (Future<CompletableFuture<AgentResult>> each : sent) {
                AgentResult.assertComplete(each.get().get());
            }
        } catch (Exception e) {
            throw new IllegalStateException("a wait has no outcome", e);
        } finally {
            senders.shutdownNow();
        }
    }

    /** The largest number of Java threads that waits used at a time: those of callers, and the client's shared ones. */
    private static final class WaitingThreads implements AutoCloseable {
        private final ThreadMXBean all = ManagementFactory.getThreadMXBean();
        private final AtomicInteger most = new AtomicInteger();
        private final Thread sampler = new Thread(this::sample, "sampler");

        static WaitingThreads sampled() {
            WaitingThreads threads = new WaitingThreads();
            threads.sampler.setDaemon(true);
            threads.sampler.start();
            return threads;
        }

        private void sample() {
            try {
                while (true) {
                    long waiting = Arrays.stream(all.getThreadInfo(all.getAllThreadIds()))
                            .filter(WaitingThreads::isWait)
                            .count();
                    most.accumulateAndGet((int) waiting, Math::max);
                    TimeUnit.MILLISECONDS.sleep(SAMPLES_APART_MILLIS);
                }
            } catch (InterruptedException e) {
                // The round is over.
            }
        }

        private static boolean isWait(ThreadInfo thread) {
            return thread != null
                    && (thread.getThreadName().equals("caller")
                            || thread.getThreadName().startsWith("waymark-wait-"));
        }

        int most() {
            return most.get();
        }

        @Override
        public void close() throws InterruptedException {
            sampler.interrupt();
            sampler.join();
        }
    }
}
