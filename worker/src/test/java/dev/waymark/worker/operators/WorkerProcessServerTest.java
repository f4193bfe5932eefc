package dev.waymark.worker.operators;

import static org.assertj.core.api.Assertions.assertThat;

import dev.waymark.conversation.call.Call;
import dev.waymark.conversation.state.Turn;
import dev.waymark.worker.workflow.TestServers;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
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
    private static final Wish WISH = new Wish(ChargeService.CHARGE, 1, Wish.Ids.SAME);

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
    void sigterm_twice_isNoHurry() throws Exception {
        drain(2);
    }

    /** The only worker ends while some tools run, others are about to run, and some threads have just started. */
    private void drain(int signals) throws Exception {
        ChargeService till = new ChargeService(directory.resolve("ledger"));
        List<String> threads = new ArrayList<>();
        try (Plant plant = new Plant(TestServers.real(), till);
                WorkerProcess only = new WorkerProcess(plant.taskQueue(), LONG)) {
            threads.add(plant.start(WISH));
            awaitFile("pid-" + threads.get(0));
            for (int i = 0; i < 8; i++) {
                threads.add(plant.start(WISH));
            }
            for (int i = 0; i < signals; i++) {
                only.signal("TERM");
            }
            Files.createFile(directory.resolve("go"));
            assertThat(only.exitCode()).isZero();

            try (WorkerProcess next = new WorkerProcess(plant.taskQueue(), LONG)) {
                for (String thread : threads) {
                    assertThat(plant.attend(thread).turn().status()).isEqualTo(Turn.Status.COMPLETE);
                    plant.check(thread, WISH);
                    assertThat(plant.state(thread)
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
    void workerFrozen_inMidEffect_isReplacedAndItsProgramIsGone() throws Exception {
        ChargeService till = new ChargeService(directory.resolve("ledger"));
        try (Plant plant = new Plant(TestServers.real(), till);
                WorkerProcess frozen = new WorkerProcess(plant.taskQueue(), SHORT)) {
            String thread = plant.start(WISH);
            long program = awaitPid("pid-" + thread);
            frozen.signal("STOP");
            try (WorkerProcess other = new WorkerProcess(plant.taskQueue(), SHORT)) {
                assertThat(plant.attend(thread).turn().status()).isEqualTo(Turn.Status.COMPLETE);
                assertThat(ProcessHandle.of(program).filter(ProcessHandle::isAlive))
                        .isEmpty();
                Files.createFile(directory.resolve("go"));
                frozen.signal("CONT");

                // The worker that was resumed works like any other.
                other.signal("TERM");
                assertThat(other.exitCode()).isZero();
                String later = plant.start(WISH);
                assertThat(plant.attend(later).turn().status()).isEqualTo(Turn.Status.COMPLETE);
                plant.check(later, WISH);
                plant.check(thread, WISH);
                assertThat(till.charged(thread, 1)).isZero();
                assertThat(plant.state(thread).calls().get("tu_1").orElseThrow().status())
                        .isEqualTo(Call.Status.LOST);
            }
        }
    }

    @Test
    void workerKilled_inMidEffect_itsProgramIsGoneBeforeTheThreadGoesOn() throws Exception {
        ChargeService till = new ChargeService(directory.resolve("ledger"));
        try (Plant plant = new Plant(TestServers.real(), till);
                WorkerProcess killed = new WorkerProcess(plant.taskQueue(), LONG)) {
            String thread = plant.start(WISH);
            long program = awaitPid("pid-" + thread);
            killed.signal("KILL");
            try (WorkerProcess other = new WorkerProcess(plant.taskQueue(), LONG)) {
                assertThat(plant.attend(thread).turn().status()).isEqualTo(Turn.Status.COMPLETE);
                assertThat(ProcessHandle.of(program).filter(ProcessHandle::isAlive))
                        .isEmpty();
                plant.check(thread, WISH);
                assertThat(plant.state(thread).calls().get("tu_1").orElseThrow().status())
                        .isEqualTo(Call.Status.LOST);
            }
        }
    }

    private void awaitFile(String name) {
        Awaitility.await(name).atMost(Plant.PATIENCE).until(() -> Files.exists(directory.resolve(name)));
    }

    private long awaitPid(String name) {
        return Awaitility.await(name)
                .atMost(Plant.PATIENCE)
                .ignoreExceptions()
                .until(
                        () -> Long.parseLong(
                                Files.readString(directory.resolve(name)).strip()),
                        pid -> pid > 0);
    }

    /** A worker in a separate JVM. */
    private final class WorkerProcess implements AutoCloseable {
        private final Process process;

        WorkerProcess(String taskQueue, String timeout) throws IOException {
            Path agents = Files.createDirectories(directory.resolve("agents"));
            Files.writeString(agents.resolve("a.yaml"), AGENT.formatted(timeout));
            Files.writeString(agents.resolve("a.script.yaml"), SCRIPT);
            Path tool = agents.resolve("charge.sh");
            if (!Files.exists(tool)) {
                Files.writeString(tool, TOOL);
                assertThat(tool.toFile().setExecutable(true)).isTrue();
            }
            List<String> words = new ArrayList<>(List.of(
                    Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                    "-XX:TieredStopAtLevel=1",
                    "-XX:+UseSerialGC"));
            words.addAll(List.of("-cp", System.getProperty("java.class.path"), AgentsProcess.class.getName()));
            words.addAll(List.of(agents.toString(), taskQueue));
            ProcessBuilder builder = new ProcessBuilder(words)
                    .directory(directory.toFile())
                    .redirectError(
                            Files.createTempFile(directory, "worker", ".log").toFile());
            builder.environment()
                    .keySet()
                    .removeIf(name -> name.startsWith("WAYMARK_") || name.startsWith("TEMPORAL_"));
            builder.environment().put("TEMPORAL_ADDRESS", TestServers.real().address());
            process = started(builder);
        }

        /**
         * On a busy machine, the server may not answer in time, and the worker then exits. This starts another one, as
         * a supervisor would.
         */
        private Process started(ProcessBuilder builder) throws IOException {
            for (int i = 0; i < 10; i++) {
                Process started = builder.start();
                String line = started.inputReader(StandardCharsets.UTF_8).readLine();
                if ("ready".equals(line)) {
                    return started;
                }
            }
            throw new AssertionError("no worker could be started");
        }

        void signal(String name) throws IOException, InterruptedException {
            new ProcessBuilder("kill", "-" + name, Long.toString(process.pid()))
                    .start()
                    .waitFor();
        }

        int exitCode() throws InterruptedException {
            assertThat(process.waitFor(Plant.PATIENCE.toSeconds(), TimeUnit.SECONDS))
                    .isTrue();
            return process.exitValue();
        }

        @Override
        public void close() {
            process.destroyForcibly();
        }
    }
}
