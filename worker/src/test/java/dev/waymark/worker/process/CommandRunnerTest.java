package dev.waymark.worker.process;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import dev.waymark.agent.ToolImplementation;
import dev.waymark.agent.ToolSpec;
import dev.waymark.contract.PayloadJson;
import dev.waymark.contract.work.ToolOutcome;
import dev.waymark.conversation.value.Json;
import dev.waymark.tool.ToolContext;
import dev.waymark.worker.inbound.InlineText;
import dev.waymark.worker.tool.ToolKinds;
import dev.waymark.worker.tool.ToolRunner;
import dev.waymark.worker.tool.java.JavaTools;
import dev.waymark.worker.tool.kind.ToolRun;
import java.io.IOException;
import java.math.BigInteger;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicReference;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** Uses real programs. Programs that would outlive their call write their process id to a file, and must have ended. */
@Timeout(120)
@Tag("full")
class CommandRunnerTest {

    /** Long enough for a program on a busy machine to reach the point at which it is killed. */
    private static final Duration TIMEOUT = Duration.ofSeconds(2);
    /** Has passed when the program would start. */
    private static final Duration OVER = Duration.ofMillis(1);

    @TempDir
    Path directory;

    @Test
    void run_argumentsEchoed_areOneJsonObjectOnStdin() throws Exception {
        assertThat(run("cat", Json.of(Map.of("city", "Köln")))).isEqualTo(ToolOutcome.result("{\"city\":\"Köln\"}\n"));
    }

    @Test
    void run_largeArguments_passWhileOutputIsRead() throws Exception {
        String large = "x".repeat(200_000);
        assertThat(run("cat", Json.of(Map.of("a", large))))
                .isEqualTo(ToolOutcome.result("{\"a\":\"" + large + "\"}\n"));
    }

    @Test
    void run_stdinNeverRead_succeeds() throws Exception {
        assertThat(run("echo done", Json.of(Map.of("a", "x".repeat(200_000))))).isEqualTo(ToolOutcome.result("done\n"));
    }

    @Test
    void run_nothingPrinted_isAnEmptyResult() throws Exception {
        assertThat(run("true")).isEqualTo(ToolOutcome.result(""));
    }

    @Test
    void run_fiveMegabytesPrinted_areCutInTheMiddle() throws Exception {
        String text = run("printf begin; head -c 5000000 /dev/zero | tr '\\0' x; printf end")
                .result()
                .orElseThrow();
        assertThat(text)
                .startsWith("beginxxx")
                .endsWith("xxxend")
                .contains("[cut: {\"truncated\":true,\"bytes\":5000008,")
                .hasSize(InlineText.LIMIT_BYTES);
    }

    @Test
    void run_endlessOutput_endsWithTheTimeout() throws Exception {
        assertThat(run("yes", TIMEOUT)).isEqualTo(ToolOutcome.error("Tool error: timed out after 2s and was killed"));
    }

    @Test
    void run_invalidUtf8_isReplaced() throws Exception {
        assertThat(run("printf 'a\\377b'")).isEqualTo(ToolOutcome.result("a\ufffdb"));
    }

    @Test
    void run_charactersAcrossReads_areWhole() throws Exception {
        assertThat(run("printf '\\342'; sleep 0.1; printf '\\202\\254'")).isEqualTo(ToolOutcome.result("€"));
    }

    @Test
    void run_environment_hasOnlyTheDocumentedVariables() throws Exception {
        Map<String, String> worker = new LinkedHashMap<>();
        worker.put("PATH", System.getenv("PATH"));
        worker.put("HOME", "/home/ada");
        worker.put("SECRET", "s3cret");
        worker.put("UNRELATED", "x");
        ToolSpec tool = tool("env", Map.of("TOKEN", "Bearer ${SECRET}", "PLAIN", "$x"), Duration.ofSeconds(10));
        ProcessFence fence = ProcessFence.in(tool.timeout());
        CommandResult result = new CommandRunner(worker)
                .run(tool, List.of("env"), directory, Json.EMPTY_OBJECT, Map.of("WAYMARK_TOOL", "tool"), fence);
        assertThat(((CommandResult.Exited) result).stdout().lines())
                .containsExactlyInAnyOrder(
                        "PATH=" + System.getenv("PATH"),
                        "HOME=/home/ada",
                        "TOKEN=Bearer ${SECRET}",
                        "PLAIN=$x",
                        "WAYMARK_TOOL=tool");
    }

    @Test
    void run_secretPrinted_isMaskedEvenInCutOutput() throws Exception {
        String canary = "canary-4711-0815";
        CommandRunner runner = new CommandRunner(Map.of("PATH", System.getenv("PATH"), "SECRET", canary));
        // The output after the secret leaves only the last part of the secret's placeholder in the kept end of stderr.
        String script = "[ \"$TOKEN\" = " + canary + " ] && printf same; printf ' %s' $TOKEN;"
                + " printf '%s' $TOKEN >&2; head -c 4090 /dev/zero | tr '\\0' x >&2; exit $1";
        ToolSpec tool = tool(script, Map.of("TOKEN", "${SECRET}"), Duration.ofSeconds(10));

        CommandResult result = runner.run(
                tool,
                List.of("/bin/sh", "-c", script, "sh", "3"),
                directory,
                Json.EMPTY_OBJECT,
                Map.of(),
                ProcessFence.in(tool.timeout()));

        assertThat(result).isEqualTo(new CommandResult.Exited(3, "same ${SECRET}", "…ECRET}" + "x".repeat(4090)));
    }

    @Test
    void run_missingVariable_isNamedAndNothingRuns() throws Exception {
        ToolSpec tool = tool("touch ran", Map.of("TOKEN", "${NOT_SET}"), Duration.ofSeconds(10));
        assertThat(run(tool, ((ToolImplementation.Command) tool.implementation()).program(), Json.EMPTY_OBJECT))
                .isEqualTo(
                        new CommandResult.NotStarted("environment variable NOT_SET is not set in the worker", false));
        assertThat(directory.resolve("ran")).doesNotExist();
    }

    @Test
    void run_otherExitCode_isAnErrorWithTheEndOfStderr() throws Exception {
        assertThat(run("echo result; echo no such card >&2; exit 3"))
                .isEqualTo(ToolOutcome.error("Tool error: exit code 3: no such card"));
    }

    @Test
    void run_longStderr_keepsItsEnd() throws Exception {
        String text = run("head -c 100000 /dev/zero | tr '\\0' x >&2; echo the end >&2; exit 1")
                .error()
                .orElseThrow();
        assertThat(text)
                .startsWith("Tool error: exit code 1: …xxx")
                .endsWith("xthe end")
                .hasSizeLessThan(4_200);
    }

    @Test
    void run_exitTenWithABrokenCharacterInItsQuestion_asksWithAReplacement() throws Exception {
        assertThat(run("printf '%s' '{\"question\":\"Which \\ud800?\"}'; exit 10"))
                .isEqualTo(ToolOutcome.question("Which ??"));
    }

    @Test
    void run_exitTenWithAQuestion_asks() throws Exception {
        assertThat(run("echo '{\"question\":\"Which card?\"}'; exit 10"))
                .isEqualTo(ToolOutcome.question("Which card?"));
    }

    @Test
    void run_exitTenWithoutAQuestion_isAnError() throws Exception {
        for (String stdout : List.of("", "Which card?", "[]", "{}", "{\\\"question\\\":\\\" \\\"}")) {
            assertThat(run("printf \"" + stdout + "\"; exit 10").error().orElseThrow())
                    .startsWith("Tool error: exit code 10 asks a question");
        }
    }

    @Test
    void run_noSuchProgram_hasNotStarted() throws Exception {
        assertThat(runProgram("./nowhere.sh"))
                .isEqualTo(new CommandResult.NotStarted("cannot start ./nowhere.sh", false));
        assertThat(runProgram("waymark-nowhere"))
                .isEqualTo(new CommandResult.NotStarted("cannot start waymark-nowhere", false));
    }

    @Test
    void run_programThatMayNotBeExecuted_hasNotStarted() throws Exception {
        Files.writeString(directory.resolve("text.sh"), "#!/bin/sh\ntouch ran\n");
        assertThat(runProgram("./text.sh")).isEqualTo(new CommandResult.NotStarted("cannot start ./text.sh", false));
        Files.createDirectory(directory.resolve("folder"));
        assertThat(runProgram("./folder")).isEqualTo(new CommandResult.NotStarted("cannot start ./folder", false));
        script("lost.sh", "#!/waymark/nowhere/sh\ntouch ran\n");
        assertThat(runProgram("./lost.sh")).isEqualTo(new CommandResult.NotStarted("cannot start ./lost.sh", false));
        assertThat(directory.resolve("ran")).doesNotExist();
    }

    @Test
    void run_noSuchDirectory_hasNotStarted() throws Exception {
        ToolSpec tool = tool("true", Map.of(), Duration.ofSeconds(30));
        assertThat(runner().run(
                                tool,
                                List.of("true"),
                                directory.resolve("nowhere"),
                                Json.EMPTY_OBJECT,
                                Map.of(),
                                ProcessFence.in(tool.timeout())))
                .isEqualTo(new CommandResult.NotStarted("cannot start true", false));
    }

    @Test
    void run_exitCodeUsedByShells_isTheProgramsOwn() throws Exception {
        for (int code : List.of(1, 10, 125, 126, 127, 137, 143, 255)) {
            assertThat(result("exit " + code)).isEqualTo(new CommandResult.Exited(code, "", ""));
        }
    }

    @Test
    void run_programKilledByASignal_hasExitedWithItsNumber() throws Exception {
        assertThat(result("kill -KILL $$")).isEqualTo(new CommandResult.Exited(137, "", ""));
        assertThat(result("kill -TERM $$")).isEqualTo(new CommandResult.Exited(143, "", ""));
        // Programs must not ignore the signals of a terminal, as background jobs of a shell do.
        if (!isIgnoredHere(2)) { // In a background job, SIGINT is ignored from the start, and no shell can change that.
            assertThat(result("kill -INT $$")).isEqualTo(new CommandResult.Exited(130, "", ""));
        }
        if (!isIgnoredHere(1)) { // SIGHUP is ignored under nohup.
            assertThat(result("kill -HUP $$")).isEqualTo(new CommandResult.Exited(129, "", ""));
        }
        assertThat(result("kill -PIPE $$")).isEqualTo(new CommandResult.Exited(141, "", ""));
    }

    private static boolean isIgnoredHere(int signal) throws IOException {
        String mask = Files.readAllLines(Path.of("/proc/self/status")).stream()
                .filter(line -> line.startsWith("SigIgn:"))
                .map(line -> line.substring("SigIgn:".length()).strip())
                .findFirst()
                .orElseThrow();
        return new BigInteger(mask, 16).testBit(signal - 1);
    }

    @Test
    void run_commandArguments_arriveUnchanged() throws Exception {
        assertThat(runProgram("printf", "[%s]", "", "a b", "$HOME", "`x`", "'\"\\", "ä\n"))
                .isEqualTo(new CommandResult.Exited(0, "[][a b][$HOME][`x`]['\"\\][ä\n]", ""));
    }

    @Test
    void run_argumentsWithShellSyntax_arriveUnchanged() throws Exception {
        for (String text : List.of("$(touch ran)", "`touch ran`", "\\n\\\\", "$HOME", "'\"", "EOF", "\nEOF\n", " x ")) {
            Json args = Json.of(Map.of("a", text));
            assertThat(run("cat", args))
                    .isEqualTo(ToolOutcome.result(PayloadJson.MAPPER.writeValueAsString(args) + "\n"));
        }
        assertThat(directory.resolve("ran")).doesNotExist();
    }

    @Test
    void run_openDescriptors_areTheThreeStandardOnes() throws Exception {
        assumeTrue(Files.isDirectory(Path.of("/proc/self/fd")));
        // The fourth one belongs to ls, which opens the directory.
        assertThat(runProgram("ls", "/proc/self/fd")).isEqualTo(new CommandResult.Exited(0, "0\n1\n2\n3\n", ""));
    }

    @Test
    void run_relativeProgram_isFoundInTheDirectory() throws Exception {
        script("here.sh", "#!/bin/sh\npwd -P\n");
        assertThat(runProgram("./here.sh")).isEqualTo(new CommandResult.Exited(0, directory.toRealPath() + "\n", ""));
    }

    @Test
    void run_fencePassed_neverStarts() throws Exception {
        assertThat(result("touch ran", OVER))
                .isEqualTo(new CommandResult.NotStarted("/bin/sh was not started in time", true));
        assertThat(directory.resolve("ran")).doesNotExist();
    }

    @Test
    void run_outputsClosedEarly_doNotEndTheCall() throws Exception {
        assertThat(result("echo a; exec >&- 2>&- </dev/null; sleep 0.2; exit 7"))
                .isEqualTo(new CommandResult.Exited(7, "a\n", ""));
    }

    @Test
    void run_outputsClosedAndHanging_endsWithTheTimeout() throws Exception {
        assertThat(result("echo $$ > a.pid; exec >&- 2>&- </dev/null; exec sleep 600", TIMEOUT))
                .isEqualTo(new CommandResult.Killed("timed out after 2s and was killed", ""));
        assertGone("a");
    }

    @Test
    void run_programThatEndsNormallyAtItsTimeout_timesOut() throws Exception {
        assertThat(result("trap 'exit 0' TERM; while :; do sleep 0.05; done", TIMEOUT))
                .isInstanceOf(CommandResult.Killed.class);
    }

    @Test
    void run_timeoutWithSeparateProcessGroups_killsThemToo() throws Exception {
        assumeTrue(Files.isExecutable(Path.of("/usr/bin/timeout")));
        // The program is killed at its timeout. The command "timeout" has put itself and its child into a new group.
        result(
                "(timeout 600 sh -c 'trap \"\" TERM; echo $$ > a.pid; while :; do sleep 0.1; done' &); sleep 600",
                TIMEOUT);
        assertGone("a");
    }

    @Test
    void run_timeoutOfAProcessWithABinaryName_killsItToo() throws Exception {
        assumeTrue(Files.isExecutable(Path.of("/usr/bin/timeout")));
        result(
                "n=$(printf 'x)\\n(\\377'); cp /bin/sleep \"./$n\"; (timeout 600 \"./$n\" 600 & echo $! > a.pid); sleep 600",
                TIMEOUT);
        assertGone("a");
    }

    @Test
    void run_launcherKilled_killsTheProgramAndSaysSo() throws Exception {
        assumeTrue(Files.isExecutable(Path.of("/usr/bin/setsid")));
        String launcher = "read -r stat < /proc/$PPID/stat; set -- ${stat##*) }; group=$3; ";
        // Kills all shells of the launcher, or only the first one.
        for (String victim : List.of("-$group", "$group")) {
            assertThat(result("echo $$ > a.pid; sleep 600 & echo $! > b.pid; " + launcher + "kill -s KILL -- " + victim
                            + "; wait"))
                    .isEqualTo(new CommandResult.Killed("it was killed because its launcher was killed", ""));
            assertGone("a", "b");
        }
    }

    @Test
    @Tag("full")
    void run_launcherStopped_stillEndsAtTheTimeout() throws Exception {
        assumeTrue(Files.isExecutable(Path.of("/usr/bin/setsid")));
        CommandResult result = result(
                "echo $$ > a.pid; read -r stat < /proc/$PPID/stat; set -- ${stat##*) }; kill -s STOP -- -$3; sleep 600",
                TIMEOUT);
        assertThat(result).isInstanceOf(CommandResult.Killed.class);
        assertGone("a");
    }

    @Test
    void run_everyEnd_leavesNoFile() throws Exception {
        try (Stream<Path> before = Files.list(Path.of(System.getProperty("java.io.tmpdir")))) {
            List<Path> known = before.toList();
            result("true");
            runProgram("./nowhere.sh");
            result("true", OVER);
            result("sleep 600", TIMEOUT);
            try (Stream<Path> after = Files.list(Path.of(System.getProperty("java.io.tmpdir")))) {
                List<Path> left = after.filter(path -> !known.contains(path))
                        .filter(path -> path.getFileName().toString().startsWith(OutputPipes.prefix()))
                        .toList();
                await().atMost(Duration.ofMinutes(1)).until(() -> left.stream().noneMatch(Files::exists));
            }
        }
    }

    @Test
    void run_timeout_killsTheWholeTree() throws Exception {
        ToolOutcome outcome = run(
                "echo $$ > a.pid; sh -c 'echo $$ > b.pid; sleep 600 & echo $! > c.pid; wait' & echo busy >&2; wait",
                TIMEOUT);
        assertThat(outcome).isEqualTo(ToolOutcome.error("Tool error: timed out after 2s and was killed: busy"));
        assertGone("a", "b", "c");
    }

    @Test
    void run_timeoutOfAProgramThatIgnoresSigterm_killsIt() throws Exception {
        run("trap '' TERM; echo $$ > a.pid; while :; do sleep 0.1; done", TIMEOUT);
        assertGone("a");
    }

    @Test
    void run_timeoutOfAProgramWhoseParentIsGone_killsItToo() throws Exception {
        assumeTrue(Files.isExecutable(Path.of("/usr/bin/setsid")));
        run("(sh -c 'trap \"\" TERM; echo $$ > a.pid; while :; do sleep 0.1; done' &) ; sleep 600", TIMEOUT);
        assertGone("a");
    }

    @Test
    void run_timeoutOfAProgramInAnotherSession_killsItWhileItDescends() throws Exception {
        assumeTrue(Files.isExecutable(Path.of("/usr/bin/setsid")));
        run("setsid sh -c 'trap \"\" TERM; echo $$ > a.pid; while :; do sleep 0.1; done'; true", TIMEOUT);
        assertGone("a");
    }

    @Test
    void run_childLeftBehindWithoutOutput_isKilledAtTheEnd() throws Exception {
        assumeTrue(Files.isExecutable(Path.of("/usr/bin/setsid")));
        assertThat(run("sleep 600 >/dev/null 2>&1 & echo $! > a.pid; echo done"))
                .isEqualTo(ToolOutcome.result("done\n"));
        assertGone("a");
    }

    @Test
    void run_childLeftBehindThatHoldsStdout_isKilledAfterASecond() throws Exception {
        assumeTrue(Files.isExecutable(Path.of("/usr/bin/setsid")));
        assertThat(run("sleep 600 & echo $! > a.pid; echo done")).isEqualTo(ToolOutcome.result("done\n"));
        assertGone("a");
    }

    @Test
    void run_childThatEscapesAndHoldsStdout_doesNotDelayTheCall() throws Exception {
        assumeTrue(Files.isExecutable(Path.of("/usr/bin/setsid")));
        try {
            assertThat(run("setsid sh -c 'echo $$ > a.pid; exec sleep 600' & sleep 0.3; echo done"))
                    .isEqualTo(ToolOutcome.result("done\n"));
        } finally {
            ProcessHandle.of(new TestPrograms(directory).pid("a")).ifPresent(ProcessHandle::destroyForcibly);
        }
    }

    @Test
    void run_childThatWritesTheRestSoonAfter_isWaitedFor() throws Exception {
        for (int i = 0; i < 20; i++) {
            assertThat(run("(sleep 0.02; echo late) & echo early")).isEqualTo(ToolOutcome.result("early\nlate\n"));
        }
    }

    @Test
    void run_interrupted_killsTheTreeAndThrows() throws Exception {
        AtomicReference<Object> ended = new AtomicReference<>();
        CompletableFuture<Void> done = new CompletableFuture<>();
        Thread caller = new Thread(() -> {
            try {
                ended.set(run("echo $$ > a.pid; sleep 600 & echo $! > b.pid; wait", Duration.ofMinutes(5)));
            } catch (Exception e) {
                ended.set(e);
            }
            done.complete(null);
        });
        caller.start();
        new TestPrograms(directory).awaitStarted("a", "b");
        caller.interrupt();
        done.get();
        assertThat(ended.get()).isInstanceOf(InterruptedException.class);
        assertGone("a", "b");
    }

    @Test
    void run_interruptedBefore_throws() {
        Thread.currentThread().interrupt();
        assertThatThrownBy(() -> run("echo done")).isInstanceOf(InterruptedException.class);
    }

    private void assertGone(String... names) throws IOException {
        new TestPrograms(directory).awaitGone(names);
    }

    private ToolOutcome run(String script) throws InterruptedException {
        return run(script, Json.EMPTY_OBJECT);
    }

    private ToolOutcome run(String script, Json args) throws InterruptedException {
        ToolSpec tool = tool(script, Map.of(), Duration.ofSeconds(30));
        return outcome(tool, args);
    }

    private ToolOutcome run(String script, Duration timeout) throws InterruptedException {
        return outcome(tool(script, Map.of(), timeout), Json.EMPTY_OBJECT);
    }

    private ToolOutcome outcome(ToolSpec tool, Json args) throws InterruptedException {
        ToolContext context = new ToolContext("thread", "tu_1", "tool", "key");
        return new ToolRunner(new ToolKinds(System.getenv(), directory, JavaTools.NONE))
                .run(ToolRun.unclaimed(tool, args, context, ProcessFence.in(tool.timeout()), () -> false));
    }

    private CommandResult result(String script) throws InterruptedException {
        return result(script, Duration.ofSeconds(30));
    }

    private CommandResult result(String script, Duration timeout) throws InterruptedException {
        ToolSpec tool = tool(script, Map.of(), timeout);
        return run(tool, ((ToolImplementation.Command) tool.implementation()).program(), Json.EMPTY_OBJECT);
    }

    private CommandResult runProgram(String... command) throws InterruptedException {
        return run(tool("true", Map.of(), Duration.ofSeconds(30)), List.of(command), Json.EMPTY_OBJECT);
    }

    private CommandResult run(ToolSpec tool, List<String> command, Json args) throws InterruptedException {
        return runner().run(tool, command, directory, args, Map.of(), ProcessFence.in(tool.timeout()));
    }

    private void script(String name, String text) throws IOException {
        assertThat(Files.writeString(directory.resolve(name), text).toFile().setExecutable(true))
                .isTrue();
    }

    private static CommandRunner runner() {
        return new CommandRunner(System.getenv());
    }

    private static ToolSpec tool(String script, Map<String, String> env, Duration timeout) {
        return ToolSpec.command("tool", "/bin/sh", "-c", script)
                .describedAs("", Json.EMPTY_OBJECT)
                .safeToRetry()
                .timeout(timeout)
                .env(env)
                .build();
    }
}
