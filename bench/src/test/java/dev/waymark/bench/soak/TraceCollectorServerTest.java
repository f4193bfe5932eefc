package dev.waymark.bench.soak;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import dev.waymark.client.AgentClient;
import dev.waymark.client.AgentResult;
import dev.waymark.client.failure.WaymarkException;
import dev.waymark.client.request.Approval;
import dev.waymark.client.request.Prompt;
import dev.waymark.client.trace.OtlpExporter;
import dev.waymark.connect.Connection;
import dev.waymark.contract.WireNames;
import dev.waymark.conversation.fact.Fact;
import dev.waymark.conversation.fact.ModelFact;
import dev.waymark.conversation.fact.PersonFact;
import dev.waymark.conversation.fact.ToolFact;
import dev.waymark.fixtures.process.KillableServer;
import dev.waymark.history.HistoryReader;
import dev.waymark.testkit.EffectLedger;
import dev.waymark.timeline.Timeline;
import dev.waymark.worker.server.DevServer;
import dev.waymark.worker.server.TemporalBinary;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.function.Predicate;
import java.util.stream.Collectors;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Exports the traces of threads whose worker was killed to a real OpenTelemetry Collector. */
@Tag("server")
@Tag("full")
class TraceCollectorServerTest {
    private static final Duration PATIENCE = Duration.ofMinutes(3);
    private static final int KILLS = 3;
    private static final int EXPORTS = 2;
    private static final List<List<String>> CALLS =
            List.of(List.of("effect", "command", SoakAgents.HELPER), List.of(SoakTask.QUESTION, "effect_approved"));

    @TempDir
    Path directory;

    @Test
    void threads_killedAndExportedTwice_areOneTraceEach() throws Exception {
        Optional<Path> temporal = TemporalBinary.find();
        assumeTrue(temporal.isPresent(), "no temporal binary: tests on the real server are skipped");
        Optional<Path> otelcol = OtelCollector.find();
        assumeTrue(otelcol.isPresent(), "no OpenTelemetry Collector: build it with `go install` in bench/otelcol");
        Path database = directory.resolve("temporal.db");
        try (KillableServer server = KillableServer.start(
                        temporal.get(), port -> DevServer.temporal(temporal.get(), Optional.of(database), port, 0));
                EffectLedger ledger = EffectLedger.open(directory.resolve("ledger"));
                SoakWorker worker =
                        SoakWorker.start(server.address(), ledger.port(), directory.resolve("worker.heap"));
                OtelCollector collector = OtelCollector.start(otelcol.get(), directory);
                Connection connection = Connection.to(server.address())) {
            AgentClient client = AgentClient.on(connection, SoakAgents.TASK_QUEUE)
                    .onApproval(request -> Optional.of(Approval.approve()))
                    .onQuestion(question -> Optional.of("Yes."));
            HistoryReader histories = new HistoryReader(connection.client());
            List<String> threads = new ArrayList<>();
            for (int kill = 0; kill < KILLS; kill++) {
                String thread = "traced-" + kill;
                threads.add(thread);
                String task = new SoakTask("m" + kill, CALLS).text();
                client.start(Prompt.of(SoakAgents.MIXED, task).withThread(thread));
                Awaitility.await().atMost(PATIENCE).until(() -> hasCalls(histories, thread));
                worker.kill();
                worker.restart();
            }
            for (String thread : threads) {
                AgentResult.assertComplete(result(client, thread));
                Awaitility.await()
                        .atMost(PATIENCE)
                        .ignoreExceptionsMatching(TraceCollectorServerTest::isPassing)
                        .until(() -> client.close(thread));
            }

            for (int export = 0; export < EXPORTS; export++) {
                try (OtlpExporter exporter = OtlpExporter.of(Optional.of(collector.tracesUrl()), Map.of())) {
                    client.inspector().tracer(false).into(exporter).round(threads);
                }
            }

            int told = threads.stream()
                    .mapToInt(thread -> spansImpliedBy(histories, thread))
                    .sum();
            List<OtelCollector.Received> received = collector.stop();
            Set<OtelCollector.Received> unique = new HashSet<>(received);
            System.out.printf(
                    "threads %d, kills %d, exports %d, spans told by history %d, spans received %d, unique %d%n",
                    threads.size(), KILLS, EXPORTS, told, received.size(), unique.size());
            assertThat(received).hasSize(EXPORTS * told);
            assertThat(unique).hasSize(told);
            assertThat(unique.stream().map(OtelCollector.Received::spanId).distinct())
                    .hasSize(told);
            assertThat(unique.stream().map(OtelCollector.Received::traceId).collect(Collectors.toSet()))
                    .hasSize(threads.size());
        }
    }

    private static boolean hasCalls(HistoryReader histories, String thread) {
        return histories
                .read(thread)
                .map(timeline -> !timeline.now().batchCalls().isEmpty())
                .orElse(false);
    }

    /** Waits for the result, and waits again if workers are lost meanwhile. */
    private static AgentResult result(AgentClient client, String thread) {
        while (true) {
            try {
                return client.turn(thread).await();
            } catch (WaymarkException e) {
                if (!isPassing(e)) {
                    throw e;
                }
            }
        }
    }

    private static boolean isPassing(Throwable failure) {
        return failure instanceof WaymarkException.NoWorker || failure instanceof WaymarkException.TimedOut;
    }

    /**
     * Returns the number of spans that the history implies: one for the thread, and one for each turn, model call, tool
     * call, claim, and decision or answer of a person, including those of subagents.
     */
    private static int spansImpliedBy(HistoryReader histories, String thread) {
        Timeline timeline = histories.read(thread).orElseThrow();
        int own = 1
                + timeline.now().turn().number()
                + count(timeline, ModelFact.ModelCalled.class::isInstance)
                + timeline.now().calls().size()
                + count(timeline, ToolFact.ToolClaimed.class::isInstance)
                + count(timeline, PersonFact.ApprovalDecided.class::isInstance)
                + count(timeline, PersonFact.HumanAnswered.class::isInstance);
        int[] below = new int[1];
        timeline.now().calls().forEach((id, call) -> {
            if (call.tool().equals(SoakAgents.HELPER)) {
                below[0] += spansImpliedBy(histories, WireNames.subagentThread(thread, id));
            }
        });
        return own + below[0];
    }

    private static int count(Timeline timeline, Predicate<Fact> kind) {
        return (int) timeline.moments().stream()
                .flatMap(moment -> moment.fact().stream())
                .filter(kind)
                .count();
    }
}
