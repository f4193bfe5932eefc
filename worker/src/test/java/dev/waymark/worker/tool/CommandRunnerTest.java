package dev.waymark.worker.tool;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import dev.waymark.agent.ToolSpec;
import dev.waymark.contract.ToolOutcome;
import dev.waymark.conversation.Json;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** With real programs. Those that outlive their call write their process id to a file, and must be gone. */
@Timeout(60)
class CommandRunnerTest {

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
    void run_stdinNeverRead_isFine() throws Exception {
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
        assertThat(run("yes", Duration.ofMillis(300)))
                .isEqualTo(ToolOutcome.error("Tool error: timed out after 300ms and was killed"));
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
    void run_environment_isOnlyWhatIsPromised() throws Exception {
        Map<String, String> worker = new LinkedHashMap<>();
        worker.put("PATH", System.getenv("PATH"));
        worker.put("HOME", "/home/ada");
        worker.put("SECRET", "s3cret");
        worker.put("UNRELATED", "x");
        ToolSpec tool = tool("env", Map.of("TOKEN", "Bearer ${SECRET}", "PLAIN", "$x"), Duration.ofSeconds(10));
        String text = new CommandRunner(worker)
                .run(tool, directory, Json.EMPTY_OBJECT, Map.of("WAYMARK_TOOL", "tool"))
                .result()
                .orElseThrow();
        assertThat(text.lines().filter(line -> !line.matches("(PWD|SHLVL|_|OLDPWD)=.*")))
                .containsExactlyInAnyOrder(
                        "PATH=" + System.getenv("PATH"),
                        "HOME=/home/ada",
                        "TOKEN=Bearer s3cret",
                        "PLAIN=$x",
                        "WAYMARK_TOOL=tool");
    }

    @Test
    void run_missingVariable_isNamedAndNothingRuns() throws Exception {
        ToolSpec tool = tool("touch ran", Map.of("TOKEN", "${NOT_SET}"), Duration.ofSeconds(10));
        assertThat(runner().run(tool, directory, Json.EMPTY_OBJECT, Map.of()))
                .isEqualTo(ToolOutcome.error("Tool error: environment variable NOT_SET is not set in the worker"));
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
    void run_exitTenWithHalfACharacterInItsQuestion_asksWhatCanBeStored() throws Exception {
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
    void run_noSuchProgram_isAnError() throws Exception {
        ToolSpec tool = ToolSpec.command("tool", "./nowhere.sh")
                .describedAs("", Json.EMPTY_OBJECT)
                .safeToRetry()
                .timeout(Duration.ofSeconds(5))
                .build();
        assertThat(runner().run(tool, directory, Json.EMPTY_OBJECT, Map.of())
                        .error()
                        .orElseThrow())
                .startsWith("Tool error: ")
                .contains("./nowhere.sh");
    }

    @Test
    void run_relativeProgram_isFoundInTheDirectory() throws Exception {
        Path program = Files.writeString(directory.resolve("here.sh"), "#!/bin/sh\npwd -P\n");
        assertThat(program.toFile().setExecutable(true)).isTrue();
        ToolSpec tool = ToolSpec.command("tool", "./here.sh")
                .describedAs("", Json.EMPTY_OBJECT)
                .safeToRetry()
                .timeout(Duration.ofSeconds(5))
                .build();
        assertThat(runner().run(tool, directory, Json.EMPTY_OBJECT, Map.of()))
                .isEqualTo(ToolOutcome.result(directory.toRealPath() + "\n"));
    }

    @Test
    void run_timeout_killsTheWholeTree() throws Exception {
        ToolOutcome outcome = run(
                "echo $$ > a.pid; sh -c 'echo $$ > b.pid; sleep 600 & echo $! > c.pid; wait' & echo busy >&2; wait",
                Duration.ofMillis(500));
        assertThat(outcome).isEqualTo(ToolOutcome.error("Tool error: timed out after 500ms and was killed: busy"));
        assertGone("a", "b", "c");
    }

    @Test
    void run_timeoutOfAProgramThatIgnoresSigterm_killsIt() throws Exception {
        run("trap '' TERM; echo $$ > a.pid; while :; do sleep 0.1; done", Duration.ofMillis(300));
        assertGone("a");
    }

    @Test
    void run_timeoutOfAProgramWhoseParentIsGone_killsItToo() throws Exception {
        assumeTrue(Files.isExecutable(Path.of("/usr/bin/setsid")));
        run(
                "(sh -c 'trap \"\" TERM; echo $$ > a.pid; while :; do sleep 0.1; done' &) ; sleep 600",
                Duration.ofMillis(500));
        assertGone("a");
    }

    @Test
    void run_timeoutOfAProgramInAnotherSession_killsItWhileItDescends() throws Exception {
        assumeTrue(Files.isExecutable(Path.of("/usr/bin/setsid")));
        run(
                "setsid sh -c 'trap \"\" TERM; echo $$ > a.pid; while :; do sleep 0.1; done'; true",
                Duration.ofMillis(500));
        assertGone("a");
    }

    @Test
    void run_childLeftBehindInSilence_isKilledAtTheEnd() throws Exception {
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
    void run_childThatEscapesAndHoldsStdout_doesNotHoldUpTheCall() throws Exception {
        assumeTrue(Files.isExecutable(Path.of("/usr/bin/setsid")));
        try {
            assertThat(run("setsid sh -c 'echo $$ > a.pid; exec sleep 600' & sleep 0.3; echo done"))
                    .isEqualTo(ToolOutcome.result("done\n"));
        } finally {
            process("a").ifPresent(ProcessHandle::destroyForcibly);
        }
    }

    @Test
    void run_childThatWritesTheRestJustAfter_isWaitedFor() throws Exception {
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
        await().until(() -> Files.exists(directory.resolve("b.pid"))
                && !Files.readString(directory.resolve("b.pid")).isBlank());
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
        for (String name : names) {
            // A killed child of a killed parent is dead at once, but listed until its new parent looks.
            await().atMost(Duration.ofSeconds(5))
                    .until(() -> process(name).filter(ProcessHandle::isAlive).isEmpty() || isZombie(name));
        }
    }

    private Optional<ProcessHandle> process(String name) throws IOException {
        return ProcessHandle.of(pid(name));
    }

    private long pid(String name) throws IOException {
        return Long.parseLong(Files.readString(directory.resolve(name + ".pid")).strip());
    }

    private boolean isZombie(String name) throws IOException {
        Path stat = Path.of("/proc/" + pid(name) + "/stat");
        return Files.exists(stat) && Files.readString(stat).contains(") Z ");
    }

    private ToolOutcome run(String script) throws InterruptedException {
        return run(script, Json.EMPTY_OBJECT);
    }

    private ToolOutcome run(String script, Json args) throws InterruptedException {
        return runner().run(tool(script, Map.of(), Duration.ofSeconds(30)), directory, args, Map.of());
    }

    private ToolOutcome run(String script, Duration timeout) throws InterruptedException {
        return runner().run(tool(script, Map.of(), timeout), directory, Json.EMPTY_OBJECT, Map.of());
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
