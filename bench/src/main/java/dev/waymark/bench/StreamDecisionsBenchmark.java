package dev.waymark.bench;

import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;

/**
 * Approves calls at a steady rate while the stream of every thread is open, and checks that each decision appears
 * exactly once in its thread's stream and history, with and without killed instances of {@code ./waymark serve}.
 */
final class StreamDecisionsBenchmark {
    private static final int DECISIONS_A_SECOND = 50;
    private static final int DECISIONS_PER_THREAD = 30;
    private static final int HEAP_SECONDS = 15;
    private static final int PATIENCE_SECONDS = 180;
    private static final String NO_MODELS = "http://127.0.0.1:1";

    private final BenchServer server;
    private final BenchReport report;
    private final WaymarkScript waymark;
    private final int threads;
    private final int killEverySeconds;
    private final boolean killing;

    /** @param killing whether the older of two instances of the server is killed at regular intervals */
    StreamDecisionsBenchmark(BenchServer server, BenchReport report, Path root, boolean quick, boolean killing) {
        this.server = server;
        this.report = report;
        this.waymark = new WaymarkScript(root, server.address());
        this.threads = quick ? 20 : 200;
        this.killEverySeconds = quick ? 8 : 20;
        this.killing = killing;
    }

    void run() throws Exception {
        report.title(BenchReport.text(
                "streams: %d streams and %d decisions a second%s",
                threads, DECISIONS_A_SECOND, killing ? ", an instance killed every " + killEverySeconds + " s" : ""));
        ScheduledExecutorService clock = Executors.newScheduledThreadPool(1);
        List<StreamClient> streams = new ArrayList<>();
        try (ServeFleet served = ServeFleet.start(waymark, agents(), NO_MODELS, killing ? 2 : 1)) {
            List<String> started = served.begin(threads, "clerk");
            List<CallApproval> decisions = decisions(served, started);
            DecisionLoad load = new DecisionLoad(served);
            CountDownLatch ended = new CountDownLatch(threads);
            for (String thread : started) {
                streams.add(served.open(thread, (name, event) -> {
                    if (name.equals("approval-decided")) {
                        load.seen(CallApproval.of(thread, event));
                    } else if (StreamClient.isLastReply(name, event)) {
                        ended.countDown();
                    }
                }));
            }
            for (StreamClient stream : streams) {
                stream.awaitEvents();
            }
            List<Double> heap = new CopyOnWriteArrayList<>();
            if (killing) {
                clock.scheduleWithFixedDelay(load::kill, killEverySeconds, killEverySeconds, TimeUnit.SECONDS);
            } else {
                ServeProcess observed = served.instance();
                clock.scheduleAtFixedRate(() -> heap.add(live(observed)), 0, HEAP_SECONDS, TimeUnit.SECONDS);
            }
            double seconds = load.send(decisions, DECISIONS_A_SECOND);
            if (!ended.await(PATIENCE_SECONDS, TimeUnit.SECONDS)) {
                load.problem(ended.getCount() + " streams did not show the last reply");
            }
            clock.shutdown();
            clock.awaitTermination(PATIENCE_SECONDS, TimeUnit.SECONDS);
            new DecisionJudge(server, served, report).judge(decisions, streams, load, seconds);
            if (!heap.isEmpty()) {
                report.row(
                        "MiB reachable in the server, every " + HEAP_SECONDS + " s",
                        String.join(
                                " ",
                                heap.stream()
                                        .map(each -> BenchReport.text("%.1f", each))
                                        .toList()));
            }
        } finally {
            streams.forEach(StreamClient::close);
            clock.shutdownNow();
        }
    }

    private static Map<String, String> agents() {
        StringBuilder script = new StringBuilder("replies:\n  - tool_calls:\n");
        for (int i = 0; i < DECISIONS_PER_THREAD; i++) {
            script.append(BenchReport.text(
                    "      - { id: tu_%d, name: write_file, input: { path: \"f%d\", content: \"x\" } }\n", i, i));
        }
        return Map.of("clerk.yaml", """
                model: scripted:clerk.script.yaml
                tools:
                  - { use: files, approval: { write_file: always } }
                """, "clerk.script.yaml", script + "  - text: Written.\n");
    }

    /**
     * Waits until all calls of these threads wait for approval. Returns their approvals in rounds: one call of every
     * thread, then the next call of every thread, and so on. Consecutive decisions are in different threads.
     */
    private static List<CallApproval> decisions(ServeFleet served, List<String> started) throws Exception {
        List<List<CallApproval>> ofThreads = new ArrayList<>();
        for (String thread : started) {
            List<CallApproval> waiting = new ArrayList<>();
            long until = System.nanoTime() + TimeUnit.SECONDS.toNanos(PATIENCE_SECONDS);
            while (waiting.size() < DECISIONS_PER_THREAD && System.nanoTime() < until) {
                waiting.clear();
                served.get("/v1/threads/" + thread + "/pending")
                        .path("pending")
                        .forEach(item -> waiting.add(CallApproval.of(thread, item)));
            }
            ofThreads.add(waiting);
        }
        List<CallApproval> decisions = new ArrayList<>();
        for (int i = 0; i < DECISIONS_PER_THREAD; i++) {
            for (List<CallApproval> ofThread : ofThreads) {
                decisions.add(ofThread.get(i));
            }
        }
        return decisions;
    }

    private static double live(ServeProcess instance) {
        try {
            return instance.liveMebibytes();
        } catch (IOException e) {
            return Double.NaN;
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            return Double.NaN;
        }
    }
}
