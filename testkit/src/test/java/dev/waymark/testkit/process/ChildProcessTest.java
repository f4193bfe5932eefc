package dev.waymark.testkit.process;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CopyOnWriteArrayList;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

@Timeout(120)
class ChildProcessTest {
    private static final Duration MOST = Duration.ofMinutes(1);

    private static ChildProcess.Builder shell(String script) {
        return ChildProcess.of("/bin/sh", "-c", script);
    }

    @Test
    void run_passesInputAndEnvironmentAndSeparatesTheStreams(@TempDir Path directory) throws Exception {
        ChildProcess.Ended ended = shell("pwd; read word; printf '%s %s' \"$word\" \"$NAME\"; echo bad >&2; exit 3")
                .in(directory)
                .environment(Map.of("NAME", "Ann"))
                .run("Hello\n", MOST);

        assertThat(ended).isEqualTo(new ChildProcess.Ended(3, directory.toRealPath() + "\nHello Ann", "bad\n"));
    }

    @Test
    void run_tooLong_isKilledAndReportsItsOutput() {
        assertThatThrownBy(() -> shell("echo begun; exec sleep 600").run(Duration.ofSeconds(1)))
                .isInstanceOf(IOException.class)
                .hasMessageStartingWith("still runs: /bin/sh -c echo begun; exec sleep 600\nbegun\n");
    }

    @Test
    void awaitLine_laterOrEarlierLine_isFound() throws Exception {
        List<String> seen = new CopyOnWriteArrayList<>();
        try (ChildProcess process = shell("echo one; read go; printf 'tw'; printf 'o\\nrest'; exec sleep 600")
                .onLine(seen::add)
                .start()) {
            assertThat(process.firstLine(MOST)).isEqualTo("one");
            assertThatThrownBy(() -> process.awaitLine("two"::equals, Duration.ofMillis(100)))
                    .hasMessageStartingWith("still does not say it: ");
            process.type("go\n");

            assertThat(process.awaitLine("two"::equals, MOST)).isEqualTo("two");
            assertThat(process.awaitLine("one"::equals, MOST)).isEqualTo("one");
            assertThat(process.lines()).isEqualTo(List.of("one", "two"));
        }
        assertThat(seen).containsExactly("one", "two");
    }

    @Test
    void awaitLine_programHasEnded_failsWithItsOutput(@TempDir Path directory) throws Exception {
        Path log = directory.resolve("log");
        try (ChildProcess process =
                shell("echo no port >&2; exit 1").errorsTo(log).start()) {
            assertThatThrownBy(() -> process.firstLine(MOST))
                    .hasMessageStartingWith("ended: ")
                    .hasMessageEndingWith("no port\n");
        }
        assertThat(Files.readString(log)).isEqualTo("no port\n");
    }

    @Test
    void terminate_waitsForTheEndAndReadsAllOutput() throws Exception {
        try (ChildProcess process = shell("trap 'echo bye; exit 7' TERM; echo ready; while :; do sleep 0.05; done")
                .start()) {
            process.firstLine(MOST);

            assertThat(process.terminate(MOST)).isEqualTo(7);
            assertThat(process.out()).isEqualTo("ready\nbye\n");
        }
    }

    @Test
    void kill_sparesTheDescendantsAndCloseKillsThem() throws Exception {
        ChildProcess process = shell("sleep 600 & echo $!; wait").start();
        ProcessHandle child =
                ProcessHandle.of(Long.parseLong(process.firstLine(MOST))).orElseThrow();
        ChildProcess other = shell("sleep 600 & echo $!; wait").start();
        ProcessHandle closed =
                ProcessHandle.of(Long.parseLong(other.firstLine(MOST))).orElseThrow();
        try {
            process.kill();
            other.close();

            assertThat(process.exitCodeWithin(Duration.ZERO)).hasValue(128 + 9);
            assertThat(child.isAlive()).isTrue();
            closed.onExit().join();
        } finally {
            child.destroyForcibly();
        }
    }

    @Test
    void awaitSuccess_repeatsTheCheckUntilTheProgramEnds() throws Exception {
        try (ChildProcess process = shell("sleep 0.3").start()) {
            assertThatThrownBy(() -> process.awaitSuccess(ChildProcess.of("false"), MOST))
                    .hasMessageStartingWith("did not start: ");
            process.awaitSuccess(ChildProcess.of("true"), MOST);
        }
    }
}
