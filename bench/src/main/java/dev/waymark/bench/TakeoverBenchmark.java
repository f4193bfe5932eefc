package dev.waymark.bench;

import dev.waymark.connect.Connection;
import dev.waymark.contract.WireNames;
import dev.waymark.contract.thread.StartInput;
import dev.waymark.conversation.fact.PersonFact;
import io.temporal.client.WorkflowOptions;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.UUID;

/**
 * Measures how long threads stand still when their worker is killed and restarted at once. A worker process gets
 * SIGKILL in the middle of a model call, of a safe tool and of a claimed tool without a check, each in its own thread,
 * and the next process starts immediately. The benchmark measures the time from the kill to the next model call, with
 * the start of the JVM.
 */
final class TakeoverBenchmark {
    private final BenchServer server;
    private final BenchReport report;
    private final Path journal;
    private final int repetitions;

    TakeoverBenchmark(BenchServer server, BenchReport report, boolean quick) {
        this.server = server;
        this.report = report;
        this.journal = server.directory().resolve("journal");
        this.repetitions = quick ? 1 : 10;
    }

    void run() throws Exception {
        report.title("takeover: a worker is killed and restarted at once");
        Map<Interruption, List<Double>> seconds = new EnumMap<>(Interruption.class);
        for (int i = 0; i < repetitions; i++) {
            killAndRestart(seconds);
        }
        report.head("killed in", "s from the kill to the next model call, median", "all");
        seconds.forEach((interruption, all) -> report.row(
                interruption.words(),
                report.within(
                        Statistics.median(
                                all.stream().mapToDouble(Double::doubleValue).toArray()),
                        interruption.mostSeconds(),
                        "%.1f"),
                String.join(
                        " ",
                        all.stream().map(each -> BenchReport.text("%.1f", each)).toList())));
    }

    private void killAndRestart(Map<Interruption, List<Double>> seconds) throws Exception {
        Map<Interruption, String> threads = new EnumMap<>(Interruption.class);
        long killedAt;
        try (TakeoverWorker hanging = TakeoverWorker.start(server.address(), true, journal)) {
            for (Interruption interruption : Interruption.values()) {
                threads.put(interruption, start(interruption));
            }
            for (String thread : threads.values()) {
                hanging.awaitInterruption(thread);
            }
            // A killed call has usually run for longer than a millisecond.
            Thread.sleep(1_500);
            killedAt = BenchWorkerProcess.micros();
        }
        try (TakeoverWorker next = TakeoverWorker.start(server.address(), false, journal)) {
            for (Map.Entry<Interruption, String> each : threads.entrySet()) {
                long calledAt = next.awaitModelCall(each.getValue());
                seconds.computeIfAbsent(each.getKey(), any -> new ArrayList<>()).add((calledAt - killedAt) / 1e6);
            }
        }
    }

    private String start(Interruption interruption) {
        String thread = "takeover-" + interruption + "-" + UUID.randomUUID();
        Connection connection = server.connection();
        connection
                .client()
                .newUntypedWorkflowStub(
                        WireNames.WORKFLOW_TYPE,
                        WorkflowOptions.newBuilder()
                                .setTaskQueue(WireNames.TASK_QUEUE)
                                .setWorkflowId(thread)
                                .build())
                .start(StartInput.of(interruption.agent())
                        .closingAfterOneTurn()
                        .saying(PersonFact.UserSpoke.message("m-1", thread)));
        return thread;
    }
}
