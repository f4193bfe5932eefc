package dev.waymark.worker.operators;

import static org.assertj.core.api.Assertions.assertThat;

import dev.waymark.conversation.call.Call;
import dev.waymark.conversation.state.Turn;
import dev.waymark.testkit.process.ChildProcess;
import dev.waymark.worker.workflow.TestServers;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.api.parallel.Execution;
import org.junit.jupiter.api.parallel.ExecutionMode;

/** Workers as processes whose tools are programs. They are stopped by one signal or two, killed, or frozen. */
@Tag("server")
@Execution(ExecutionMode.CONCURRENT)
@Tag("full")
class WorkerProcessServerTest {
    private static final ChargeRequest REQUEST = new ChargeRequest(ChargeService.CHARGE, 1, ChargeRequest.Ids.SAME);

    private static final int MOST_STARTS = 10;
    private static final String LONG = "2m";
    /** Shorter than the time in which the server detects a frozen worker. */
    private static final String SHORT = "8s";

    private static final String AGENT = """
            model: scripted:a.script.yaml
            tools:
              - name: charge
                description: Charges the card
                input: { type: object, properties: { cents: { type: integer } } }
                command: [./charge.sh]
                timeout: %s
            """;

    private static final String SCRIPT = """
            replies:
              - tool_calls: [{ id: tu_1, name: charge, input: { cents: 1 } }]
              - text: Done.
            """;

    /** Writes its process id to a file, waits for permission, and charges. */
    private static final String TOOL = """
            #!/bin/sh
            echo $$ > "../pid-$WAYMARK_THREAD"
            while [ ! -e ../go ]; do sleep 0.1; done
            echo "$WAYMARK_THREAD 1" >> ../ledger
            sync
            echo charged
            """;

    @TempDir
    private Path directory;

    @Test
    void sigterm_toolsRunning_finishesThemAndStartsNoOther() throws Exception {
        drain(1);
    }

    @Test
    void sigterm_twice_stillFinishesTheTools() throws Exception {
        drain(2);
    }

    /** The only worker ends while some tools run, others are about to run, and some threads have just started. */
    private void drain(int signals) throws Exception {
        ChargeService charges = new ChargeService(directory.resolve("ledger"));
        List<String> threads = new ArrayList<>();
        try (WorkerFleet fleet = new WorkerFleet(TestServers.real(), charges);
                ChildProcess only = worker(fleet.taskQueue(), LONG)) {
            threads.add(fleet.start(REQUEST));
            awaitFile("pid-" + threads.get(0));
            for (int i = 0; i < 8; i++) {
                threads.add(fleet.start(REQUEST));
            }
            for (int i = 0; i < signals; i++) {
                only.signal("TERM");
            }
            Files.createFile(directory.resolve("go"));
            assertThat(exitCode(only)).isZero();

            try (ChildProcess next = worker(fleet.taskQueue(), LONG)) {
                for (String thread : threads) {
                    assertThat(fleet.attend(thread).turn().status()).isEqualTo(Turn.Status.COMPLETE);
                    fleet.check(thread, REQUEST);
                    assertThat(fleet.state(thread)
                                    .calls()
                                    .get("tu_1")
                                    .orElseThrow()
                                    .status())
                            .isEqualTo(Call.Status.COMPLETED);
                }
            }
        }
    }

    @Test
    void workerFrozen_inMidEffect_isReplacedAndItsProgramKilled() throws Exception {
        ChargeService charges = new ChargeService(directory.resolve("ledger"));
        try (WorkerFleet fleet = new WorkerFleet(TestServers.real(), charges);
                ChildProcess frozen = worker(fleet.taskQueue(), SHORT)) {
            String thread = fleet.start(REQUEST);
            long program = awaitPid("pid-" + thread);
            frozen.signal("STOP");
            try (ChildProcess other = worker(fleet.taskQueue(), SHORT)) {
                assertThat(fleet.attend(thread).turn().status()).isEqualTo(Turn.Status.COMPLETE);
                assertThat(ProcessHandle.of(program).filter(ProcessHandle::isAlive))
                        .isEmpty();
                Files.createFile(directory.resolve("go"));
                frozen.signal("CONT");

                // The worker that was resumed works like any other.
                other.signal("TERM");
                assertThat(exitCode(other)).isZero();
                String later = fleet.start(REQUEST);
                assertThat(fleet.attend(later).turn().status()).isEqualTo(Turn.Status.COMPLETE);
                fleet.check(later, REQUEST);
                fleet.check(thread, REQUEST);
                assertThat(charges.charged(thread, 1)).isZero();
                assertThat(fleet.state(thread).calls().get("tu_1").orElseThrow().status())
                        .isEqualTo(Call.Status.LOST);
            }
        }
    }

    @Test
    void workerKilled_inMidEffect_programIsGoneBeforeTheThreadContinues() throws Exception {
        ChargeService charges = new ChargeService(directory.resolve("ledger"));
        try (WorkerFleet fleet = new WorkerFleet(TestServers.real(), charges);
                ChildProcess killed = worker(fleet.taskQueue(), LONG)) {
            String thread = fleet.start(REQUEST);
            long program = awaitPid("pid-" + thread);
            killed.signal("KILL");
            try (ChildProcess other = worker(fleet.taskQueue(), LONG)) {
                assertThat(fleet.attend(thread).turn().status()).isEqualTo(Turn.Status.COMPLETE);
                assertThat(ProcessHandle.of(program).filter(ProcessHandle::isAlive))
                        .isEmpty();
                fleet.check(thread, REQUEST);
                assertThat(fleet.state(thread).calls().get("tu_1").orElseThrow().status())
                        .isEqualTo(Call.Status.LOST);
            }
        }
    }

    private void awaitFile(String name) {
        Awaitility.await(name).atMost(WorkerFleet.PATIENCE).until(() -> Files.exists(directory.resolve(name)));
    }

    private long awaitPid(String name) {
        return Awaitility.await(name)
                .atMost(WorkerFleet.PATIENCE)
                .ignoreExceptions()
                .until(
                        () -> Long.parseLong(
                                Files.readString(directory.resolve(name)).strip()),
                        pid -> pid > 0);
    }

    /**
     * Starts a worker in a separate JVM. On a busy machine, the server may not answer in time, and the worker then
     * exits. This starts another one, as a supervisor would.
     */
    private ChildProcess worker(String taskQueue, String timeout) throws Exception {
        Path agents = Files.createDirectories(directory.resolve("agents"));
        Files.writeString(agents.resolve("a.yaml"), AGENT.formatted(timeout));
        Files.writeString(agents.resolve("a.script.yaml"), SCRIPT);
        Path tool = agents.resolve("charge.sh");
        if (!Files.exists(tool)) {
            Files.writeString(tool, TOOL);
            assertThat(tool.toFile().setExecutable(true)).isTrue();
        }
        ChildProcess.Builder builder = ChildProcess.java(
                        ChildProcess.SHORT_LIVED, AgentsProcess.class, agents.toString(), taskQueue)
                .in(directory)
                .withoutEnvironment("(WAYMARK|TEMPORAL)_.*")
                .environment(Map.of("TEMPORAL_ADDRESS", TestServers.real().address()));
        for (int i = 1; ; i++) {
            ChildProcess started = builder.start();
            try {
                started.awaitLine("ready"::equals, WorkerFleet.PATIENCE);
                return started;
            } catch (IOException e) {
                started.close();
                if (i == MOST_STARTS) {
                    throw e;
                }
            }
        }
    }

    private static int exitCode(ChildProcess worker) throws InterruptedException {
        return worker.exitCodeWithin(WorkerFleet.PATIENCE)
                .orElseThrow(() -> new AssertionError("still runs: " + worker));
    }
}
