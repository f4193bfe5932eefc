package dev.waymark.worker.process;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import dev.waymark.agent.Sandbox;
import dev.waymark.agent.ToolSpec;
import dev.waymark.conversation.value.Json;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicLong;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** Also tests what programs find without a sandbox. Otherwise the tests inside the sandbox would prove nothing. */
@Tag("full")
@Timeout(120)
class BubblewrapTest {
    private static final String SEARCH =
            "cat /proc/[0-9]*/environ 2>/dev/null | tr '\\0' '\\n' | grep -c '^BUBBLE_CANARY=' || true";

    @TempDir
    Path temporary;

    private Path agents;

    @BeforeEach
    void prepare() throws Exception {
        assumeTrue(Bubblewrap.problem().isEmpty(), () -> Bubblewrap.problem().orElse(""));
        agents = Files.createDirectory(temporary.resolve("agents"));
        Files.createDirectory(agents.resolve("data"));
        Files.writeString(agents.resolve("rates.txt"), "7%");
        Files.writeString(temporary.resolve("ann.pem"), "her key");
        // The sandboxes may be another user's: see src/test/bin/bwrap.
        Files.setPosixFilePermissions(temporary, PosixFilePermissions.fromString("rwxr-xr-x"));
        Files.setPosixFilePermissions(agents.resolve("data"), PosixFilePermissions.fromString("rwxrwxrwx"));
    }

    private CommandResult.Exited run(Optional<Sandbox> sandbox, String script) throws Exception {
        return (CommandResult.Exited) run(sandbox, Duration.ofSeconds(30), script);
    }

    private CommandResult run(Optional<Sandbox> sandbox, Duration timeout, String script) throws Exception {
        ToolSpec.Builder tool = ToolSpec.command("tool", "/bin/bash").timeout(timeout);
        sandbox.ifPresent(tool::sandbox);
        return new CommandRunner(System.getenv())
                .run(
                        tool.build(),
                        List.of("/bin/bash", "-c", script),
                        agents,
                        Json.of(Map.of("city", "Oslo")),
                        Map.of("WAYMARK_CALL_ID", "tu_7"),
                        ProcessFence.in(timeout));
    }

    @Test
    void program_inASandbox_works() throws Exception {
        CommandResult.Exited result =
                run(Optional.of(Sandbox.CLOSED), "cat; cat rates.txt; echo $WAYMARK_CALL_ID; exit 3");

        assertThat(result.stdout()).isEqualTo("{\"city\":\"Oslo\"}\n7%tu_7\n");
        assertThat(result.code()).isEqualTo(3);
    }

    @Test
    void program_inASandbox_seesNoOtherEnvironment() throws Exception {
        ProcessBuilder other = new ProcessBuilder("sleep", "600");
        other.environment().put("BUBBLE_CANARY", "sk-canary");
        Process secretive = other.start();
        try {
            assertThat(run(Optional.empty(), SEARCH).stdout()).isEqualTo("1\n");
            assertThat(run(Optional.of(Sandbox.CLOSED), SEARCH).stdout()).isEqualTo("0\n");
        } finally {
            secretive.destroyForcibly();
        }
    }

    @Test
    void program_inASandbox_reachesServersOnlyWithNetwork() throws Exception {
        try (ServerSocket server = new ServerSocket(0, 50, InetAddress.getByName("127.0.0.1"))) {
            String connect = "(exec 3<>/dev/tcp/127.0.0.1/" + server.getLocalPort()
                    + ") 2>/dev/null && echo open || echo closed";

            assertThat(run(Optional.empty(), connect).stdout()).isEqualTo("open\n");
            assertThat(run(Optional.of(new Sandbox(true, List.of(), List.of())), connect)
                            .stdout())
                    .isEqualTo("open\n");
            assertThat(run(Optional.of(Sandbox.CLOSED), connect).stdout()).isEqualTo("closed\n");
        }
    }

    @Test
    void program_inASandbox_hasOnlyItsFiles() throws Exception {
        String script = "cat " + temporary.resolve("ann.pem") + " 2>/dev/null || echo none; "
                + "for file in data/new new " + temporary.resolve("new")
                + "; do echo x 2>/dev/null >$file && echo wrote || echo not; done; id -u";

        assertThat(run(Optional.of(Sandbox.CLOSED), script).stdout()).isEqualTo("none\nnot\nnot\nwrote\n65534\n");
        assertThat(temporary.resolve("new")).doesNotExist();
        assertThat(run(Optional.of(new Sandbox(false, List.of("../ann.pem"), List.of("data"))), script)
                        .stdout())
                .isEqualTo("her keywrote\nnot\nwrote\n65534\n");
        assertThat(agents.resolve("data/new")).hasContent("x");
        assertThat(agents.resolve("new")).doesNotExist();
    }

    @Test
    void program_inASandbox_cannotChangeTheMachinesSettings() throws Exception {
        String script = "while read -r _ _ _ _ place options _; do case $place:$options in"
                + " /proc/sys:*|/proc/irq:*|/proc/bus:*) echo $place ${options%%,*};; esac; done </proc/self/mountinfo";
        List<String> present = Stream.of("/proc/bus", "/proc/irq", "/proc/sys")
                .filter(path -> Files.exists(Path.of(path)))
                .map(path -> path + " ro")
                .toList();

        assertThat(run(Optional.of(Sandbox.CLOSED), script).stdout().lines())
                .contains("/proc/sys ro")
                .containsAll(present)
                .allSatisfy(line -> assertThat(line).endsWith(" ro"));
    }

    @Test
    void linkBelowAWritablePath_isNotFollowedForOtherTools() throws Exception {
        Files.createDirectory(agents.resolve("data/shared"));
        Files.setPosixFilePermissions(agents.resolve("data/shared"), PosixFilePermissions.fromString("rwxrwxrwx"));
        Sandbox others = new Sandbox(false, List.of("data/shared"), List.of());
        assertThat(run(Optional.of(others), "echo read").stdout()).isEqualTo("read\n");

        run(
                Optional.of(new Sandbox(false, List.of(), List.of("data"))),
                "mv data/shared data/kept && ln -s " + temporary + " data/shared");

        assertThat(agents.resolve("data/shared")).isSymbolicLink();
        assertThat(run(Optional.of(others), Duration.ofSeconds(30), "cat " + temporary + "/ann.pem"))
                .isEqualTo(new CommandResult.NotStarted(
                        "the tool requires a sandbox: data/shared leads through the symbolic link "
                                + agents.resolve("data/shared")
                                + ", which another tool may have made: name the file or directory that is meant",
                        false));
    }

    @Test
    void sandbox_inWhichTheUserStaysRoot_isRefused() throws Exception {
        Path bwrap = Files.writeString(temporary.resolve("bwrap"), "#!/bin/sh\necho root\n");
        Files.setPosixFilePermissions(bwrap, PosixFilePermissions.fromString("rwxr-xr-x"));

        assertThat(Bubblewrap.probe(bwrap.toString()))
                .hasValueSatisfying(why -> assertThat(why).startsWith("the worker is root (uid 0), and "));
    }

    @Test
    void bwrapOfRoot_isRecognized() throws Exception {
        assumeTrue(Files.getAttribute(Path.of("/proc/self"), "unix:uid").equals(0), "the tests are not root");
        String real = Stream.of(System.getenv("PATH").split(":"))
                .skip(1)
                .map(directory -> Path.of(directory, "bwrap"))
                .filter(Files::isExecutable)
                .findFirst()
                .orElseThrow()
                .toString();

        assertThat(Bubblewrap.probe(real))
                .hasValueSatisfying(why -> assertThat(why).startsWith("the worker is root (uid 0), and "));
    }

    @Test
    void program_inASandbox_isKilledWithItsDescendants() throws Exception {
        Sandbox sandbox = new Sandbox(false, List.of(), List.of("data"));
        String beats = "while :; do echo x >>data/$0; sleep 0.1; done";

        CommandResult result = run(
                Optional.of(sandbox),
                Duration.ofSeconds(3),
                "setsid bash -c '" + beats + "' apart & (bash -c '" + beats + "' child &) ; exec bash -c '" + beats
                        + "' self");

        assertThat(result).isInstanceOf(CommandResult.Killed.class);
        for (String name : List.of("apart", "child", "self")) {
            Path file = agents.resolve("data").resolve(name);
            assertThat(file).isNotEmptyFile();
            AtomicLong before = new AtomicLong(-1);
            await().during(Duration.ofMillis(1_500))
                    .atMost(Duration.ofMinutes(1))
                    .until(() -> {
                        long now = Files.size(file);
                        return before.getAndSet(now) == now;
                    });
        }
    }
}
