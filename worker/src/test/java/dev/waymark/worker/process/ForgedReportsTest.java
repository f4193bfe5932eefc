package dev.waymark.worker.process;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import dev.waymark.agent.ToolImplementation;
import dev.waymark.agent.ToolSpec;
import dev.waymark.connect.DaemonThreads;
import dev.waymark.conversation.value.Json;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Programs that write into the pipes of other programs' launchers. */
@Timeout(120)
@Tag("full")
class ForgedReportsTest {
    private static final Duration LONG = Duration.ofMinutes(1);

    private static final CommandResult UNKNOWN = new CommandResult.Killed(
            "its end is unknown, because another program wrote into the pipe of its launcher", "");

    @TempDir
    Path directory;

    private TestPrograms programs;
    private Path forger;

    @BeforeEach
    void forger() throws IOException {
        assumeTrue(Files.exists(Path.of("/proc/self/fd")));
        programs = new TestPrograms(directory);
        forger = ReportForger.in(directory);
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "echo late",
                "echo unstarted",
                "echo start 1",
                "echo timeout",
                "echo gone",
                "echo exit 0",
                "echo exit 127",
                "echo nonsense",
                "printf partial",
                "printf '\\0\\377\\n'",
                "yes late | head -c 20000000",
                "head -c 20000000 /dev/zero",
                "echo late; echo exit 0; echo gone",
            })
    void forgedReport_leavesTheOutcomeUnknown(String forgery) throws Exception {
        CompletableFuture<CommandResult> charge =
                start("echo $$ > charge.pid; until [ -e forged ]; do sleep 0.05; done");
        programs.awaitStarted("charge");

        forge(forgery);

        assertThat(charge.get()).isEqualTo(UNKNOWN);
        programs.awaitGone("charge");
    }

    @Test
    void forgedReportBeforeTheStart_leavesTheOutcomeUnknown() throws Exception {
        // Large arguments take the launcher a while to read.
        CompletableFuture<CommandResult> forging = forging("echo late");
        CompletableFuture<CommandResult> charge = start(
                "echo $$ > charge.pid; sleep 600", Json.of(Map.of("a", "x".repeat(3_000_000))), LONG.dividedBy(3));

        assertThat(charge.get()).isEqualTo(UNKNOWN);
        assertThat(forging.get()).isInstanceOf(CommandResult.Exited.class);
    }

    /** A pipe without a reader fills up and blocks its writers. */
    @Test
    void endlessFlood_stopsNeitherTheDeadlineNorTheCall() throws Exception {
        CompletableFuture<CommandResult> charge =
                start("echo $$ > charge.pid; sleep 600", Json.EMPTY_OBJECT, Duration.ofSeconds(5));
        programs.awaitStarted("charge");
        forging("timeout 20 yes & timeout 20 tail -f /dev/null &");

        assertThat(charge.get()).isEqualTo(UNKNOWN);
        programs.awaitGone("charge");
    }

    @Test
    void pipesHeldOpen_blockNoThread() throws Exception {
        Files.writeString(directory.resolve("hold.sh"), "exec sleep 600");
        CompletableFuture<CommandResult> charge = start("echo $$ > charge.pid; until [ -e held ]; do sleep 0.05; done");
        programs.awaitStarted("charge");
        long launcher = ProcessHandle.of(programs.pid("charge"))
                .orElseThrow()
                .parent()
                .orElseThrow()
                .pid();
        String pipes = "/proc/" + programs.pid("charge");
        Process holder = new ProcessBuilder(
                        "/bin/sh",
                        "-c",
                        "exec 3<>/proc/" + launcher + "/fd/1 4>" + pipes + "/fd/1 5>" + pipes + "/fd/2 6>/proc/"
                                + launcher + "/fd/0; : > held; exec sleep 600")
                .directory(directory.toFile())
                .start();
        try {
            assertThat(charge.get()).isEqualTo(new CommandResult.Exited(0, "", ""));
            await().atMost(Duration.ofMinutes(1)).until(ForgedReportsTest::readers, List.of()::equals);
        } finally {
            holder.destroyForcibly();
        }
    }

    /** Another program may create the file by which the launcher learns that the program could not be run. */
    @Test
    void forgedFailureToStart_isTheExitCodeOfTheProgram() throws Exception {
        String forge =
                "for out in /proc/$$/fd/1; do echo unstarted > \"$(dirname \"$(readlink $out)\")/unstarted\"; done";
        assertThat(start(forge + "; exit 127").get()).isEqualTo(new CommandResult.Exited(127, "", ""));
    }

    /** The shells look for processes to kill: what they read about them must not come from a pipe. */
    @Test
    void processIdsInThePipesOfTheShells_killNoOtherProcess() throws Exception {
        Process bystander = new ProcessBuilder("setsid", "sleep", "60").start();
        try {
            for (int round = 0; round < 4; round++) {
                CompletableFuture<CommandResult> charge =
                        start("trap '' TERM; echo $$ > charge.pid; until [ -e forged ]; do sleep 0.05; done; sleep 3");
                programs.awaitStarted("charge");
                CompletableFuture<CommandResult> forging = forging("end=$(($(date +%s) + 3)); while [ $(date +%s) -lt "
                        + "$end ]; do echo 0; echo exit 0; echo late; done");

                assertThat(charge.get()).isEqualTo(UNKNOWN);
                forging.get();
                assertThat(bystander.isAlive()).isTrue();
                Files.deleteIfExists(directory.resolve("charge.pid"));
                Files.deleteIfExists(directory.resolve("forged"));
            }
        } finally {
            bystander.destroyForcibly();
        }
    }

    @Test
    void wordsOfTheReports_areHiddenFromTheProgram() throws Exception {
        String script =
                "for p in $$ $PPID; do tr '\\0' '\\n' < /proc/$p/environ; tr '\\0' '\\n' < /proc/$p/cmdline; done;"
                        + " set; ls -l /proc/$$/fd";
        CommandResult.Exited result = (CommandResult.Exited) start(script).get();
        assertThat(result.stdout()).contains("PATH=").doesNotContainPattern("\\b[0-9a-f]{16}\\b");
    }

    private void forge(String forgery) throws Exception {
        assertThat(forging(forgery).get()).isInstanceOf(CommandResult.Exited.class);
    }

    private CompletableFuture<CommandResult> forging(String forgery) {
        return run(
                List.of(
                        "/bin/sh",
                        forger.toString(),
                        directory.resolve("charge.sh").toString(),
                        forgery,
                        "forged"),
                Json.EMPTY_OBJECT,
                LONG);
    }

    private CompletableFuture<CommandResult> start(String script) throws IOException {
        return start(script, Json.EMPTY_OBJECT, LONG);
    }

    private CompletableFuture<CommandResult> start(String script, Json args, Duration timeout) throws IOException {
        Path program = Files.writeString(directory.resolve("charge.sh"), script);
        return run(List.of("/bin/sh", program.toString()), args, timeout);
    }

    private CompletableFuture<CommandResult> run(List<String> command, Json args, Duration timeout) {
        ToolSpec tool = ToolSpec.command("tool", command.toArray(String[]::new))
                .timeout(timeout)
                .build();
        CompletableFuture<CommandResult> result = new CompletableFuture<>();
        DaemonThreads.start("tool", () -> {
            try {
                result.complete(new CommandRunner(System.getenv())
                        .run(
                                tool,
                                ((ToolImplementation.Command) tool.implementation()).program(),
                                directory,
                                args,
                                Map.of(),
                                ProcessFence.in(timeout)));
            } catch (InterruptedException e) {
                result.completeExceptionally(e);
            }
        });
        return result;
    }

    private static List<String> readers() {
        return Thread.getAllStackTraces().keySet().stream()
                .map(Thread::getName)
                .filter(Set.of("tool-launcher", "tool-stdout", "tool-stderr")::contains)
                .toList();
    }
}
