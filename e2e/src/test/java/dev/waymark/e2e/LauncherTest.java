package dev.waymark.e2e;

import static org.assertj.core.api.Assertions.assertThat;

import dev.waymark.testkit.process.ChildProcess;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.attribute.FileTime;
import java.nio.file.attribute.PosixFilePermissions;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * The script {@code ./waymark} in a separate checkout, with a fake {@code java} that prints its arguments and a fake
 * {@code mvn} that creates an empty jar.
 */
class LauncherTest {
    private static final Path ROOT = Path.of("").toAbsolutePath().getParent();
    private static final Instant LONG_AGO = Instant.parse("2026-01-01T00:00:00Z");

    @TempDir
    private Path directory;

    private Path checkout;
    private Path home;

    private static final Duration PATIENCE = Duration.ofMinutes(3);

    @BeforeEach
    void checkOut() throws IOException {
        checkout = Files.createDirectory(directory.resolve("checkout"));
        home = Files.createDirectory(directory.resolve("home"));
        copy("waymark");
        copy("shell/completion.sh");
        copy("shell/install.sh");
        for (String source : List.of("pom.xml", "shared/src/main/A.java", "worker/pom.xml", "starter/pom.xml")) {
            Path file = checkout.resolve(source);
            Files.createDirectories(file.getParent());
            Files.writeString(file, "");
        }
        try (Stream<Path> all = Files.walk(checkout)) {
            for (Path each : all.toList()) {
                Files.setLastModifiedTime(each, FileTime.from(LONG_AGO));
            }
        }
        program("jdk/bin/java", """
                case "$*" in
                    *describe)
                        printf 'dev\\tA server and a worker.\\t--port --agents\\n'
                        printf 'run\\tStarts a run: or a thread.\\t--agent --thread\\n'
                        ;;
                    *) echo "java $*" ;;
                esac
                """);
        Files.writeString(directory.resolve("jdk/release"), "JAVA_VERSION=\"17.0.1\"\n");
        program("bin/mvn", """
                echo '[INFO] Building Waymark worker 0.1.0     [2/3]'
                [ ! -e "$BROKEN" ] || { echo '[ERROR] A.java: does not compile'; exit 1; }
                mkdir -p "$CHECKOUT/starter/target"
                touch "$CHECKOUT/starter/target/waymark.jar"
                """);
    }

    private void copy(String file) throws IOException {
        Path target = checkout.resolve(file);
        Files.createDirectories(target.getParent());
        Files.copy(ROOT.resolve(file), target, StandardCopyOption.COPY_ATTRIBUTES);
    }

    private void program(String name, String text) throws IOException {
        Path file = directory.resolve(name);
        Files.createDirectories(file.getParent());
        Files.writeString(file, "#!/bin/sh\n" + text);
        Files.setPosixFilePermissions(file, PosixFilePermissions.fromString("rwxr-xr-x"));
    }

    /**
     * Returns when the script and its background processes have ended. Otherwise a class archive that is written in the
     * background could appear while the directory is deleted. All these processes keep open the pipe that this method
     * reads.
     */
    private ChildProcess.Ended call(String... words) throws IOException, InterruptedException {
        List<String> command = new ArrayList<>(List.of("sh", "-c", "exec 8>&1; exec \"$@\"", "sh"));
        command.addAll(List.of(words));
        return ChildProcess.of(command)
                .in(checkout)
                .withoutEnvironment("XDG_(DATA|CONFIG)_HOME")
                .environment(Map.of(
                        "PATH",
                        home.resolve(".local/bin") + ":" + directory.resolve("bin") + ":/usr/bin:/bin",
                        "HOME",
                        home.toString(),
                        "JAVA_HOME",
                        directory.resolve("jdk").toString(),
                        "CHECKOUT",
                        checkout.toString(),
                        "BROKEN",
                        directory.resolve("broken").toString()))
                .run(PATIENCE);
    }

    @Test
    void call_withoutJar_buildsItAndReportsProgress() throws Exception {
        ChildProcess.Ended done = call("./waymark", "run", "Hi");

        assertThat(done.exitCode()).isZero();
        assertThat(done.out()).contains("-jar " + checkout.resolve("starter/target/waymark.jar") + " run Hi");
        assertThat(done.err()).contains("building, on the first call only", "Waymark worker 0.1.0 [2/3]");
    }

    @Test
    void call_withCurrentJar_buildsNothing() throws Exception {
        call("./waymark", "run");

        assertThat(call("./waymark", "run").err()).isEmpty();
        assertThat(call("./waymark", "dev").err()).isEmpty();
    }

    @Test
    void longLivedCommands_areCompiledForSpeed() throws Exception {
        for (String command : List.of("worker", "serve", "--address 127.0.0.1:7 worker", "--address=h:7 worker")) {
            assertThat(call(("./waymark " + command).split(" ")).out())
                    .as(command)
                    .doesNotContain("TieredStopAtLevel")
                    .endsWith("waymark.jar " + command + "\n");
        }
        for (String command : List.of("run", "dev", "help worker", "say worker", "--address worker run")) {
            assertThat(call(("./waymark " + command).split(" ")).out())
                    .as(command)
                    .contains(" -XX:TieredStopAtLevel=1 ");
        }
    }

    @Test
    void workerOrCodecServer_outOfMemory_exits() throws Exception {
        for (String command : List.of("worker", "dev", "codec")) {
            assertThat(call("./waymark", command).out()).contains(" -XX:+ExitOnOutOfMemoryError ");
        }
        assertThat(call("./waymark", "run").out()).doesNotContain("ExitOnOutOfMemoryError");
    }

    @Test
    void call_changedSource_rebuilds() throws Exception {
        call("./waymark", "run");
        Path source = checkout.resolve("shared/src/main/A.java");
        Files.setLastModifiedTime(source, FileTime.from(Instant.now().plusSeconds(2)));

        assertThat(call("./waymark", "run").err()).contains("rebuilding", "waymark.jar");
    }

    @Test
    void call_removedSource_rebuilds() throws Exception {
        call("./waymark", "run");
        Path folder = checkout.resolve("shared/src/main");
        Files.delete(folder.resolve("A.java"));
        Files.setLastModifiedTime(folder, FileTime.from(Instant.now().plusSeconds(2)));

        assertThat(call("./waymark", "run").err()).contains("rebuilding");
    }

    @Test
    void call_failedBuild_printsTheErrorAndRunsNothing() throws Exception {
        Files.writeString(directory.resolve("broken"), "");

        ChildProcess.Ended done = call("./waymark", "run");

        assertThat(done.exitCode()).isEqualTo(2);
        assertThat(done.out()).isEmpty();
        assertThat(done.err()).contains("[ERROR] A.java: does not compile", "the build failed");
    }

    @Test
    void hints_nameTheCommandAsItCanBeTyped() throws Exception {
        assertThat(call("./waymark", "run").out()).contains("-Dwaymark.command=./waymark ");
        assertThat(call(checkout.resolve("waymark").toString(), "run").out())
                .contains("-Dwaymark.command=" + checkout.resolve("waymark") + " ");

        assertThat(call("./waymark", "install").exitCode()).isZero();

        assertThat(call("./waymark", "run").out()).contains("-Dwaymark.command=waymark ");
        assertThat(call("sh", "-c", "waymark run").out()).contains("-Dwaymark.command=waymark ", checkout.toString());
    }

    @ParameterizedTest
    @ValueSource(strings = {"install --help", "install -h", "help install", "completion --help", "help completion"})
    void help_ofScriptCommands_comesFromTheJar(String words) throws Exception {
        ChildProcess.Ended done = call(("./waymark " + words).split(" "));

        assertThat(done.exitCode()).isZero();
        assertThat(done.out()).endsWith("waymark.jar " + words + "\n");
        assertThat(done.err()).doesNotContain("installed");
    }

    @Test
    void install_twice_keepsOtherFiles() throws Exception {
        assertThat(call("./waymark", "install").exitCode()).isZero();
        assertThat(call("./waymark", "install").exitCode()).isZero();

        Path other = Files.createDirectory(directory.resolve("other"));
        Files.writeString(other.resolve("waymark"), "mine");
        ChildProcess.Ended done = call("./waymark", "install", other.toString());

        assertThat(done.exitCode()).isEqualTo(2);
        assertThat(done.err()).contains("another file exists: " + other.resolve("waymark"));
        assertThat(other.resolve("waymark")).hasContent("mine");
    }

    @Test
    void completion_ofBash_knowsCommandsOptionsAndAgents() throws Exception {
        call("./waymark", "install");
        Path agents = Files.createDirectory(checkout.resolve("agents"));
        for (String file : List.of("assistant.yaml", "assistant.script.yaml", "billing.yaml", "notes.txt")) {
            Files.writeString(agents.resolve(file), "");
        }

        assertThat(completed("waymark", "")).isEqualTo("dev run");
        assertThat(completed("waymark", "d")).isEqualTo("dev");
        assertThat(completed("waymark", "run", "--a")).isEqualTo("--agent");
        assertThat(completed("waymark", "dev", "-")).isEqualTo("--port --agents");
        assertThat(completed("waymark", "run", "--agent", "")).isEqualTo("assistant billing");
        assertThat(completed("waymark", "run", "--agent", "b")).isEqualTo("billing");
    }

    private String completed(String... words) throws Exception {
        String script = ". " + home.resolve(".local/share/bash-completion/completions/waymark")
                + "; COMP_WORDS=(\"$@\"); COMP_CWORD=$(($# - 1)); _waymark; echo \"${COMPREPLY[*]}\"";
        List<String> command = new ArrayList<>(List.of("bash", "-uc", script, "bash"));
        command.addAll(List.of(words));
        ChildProcess.Ended done = call(command.toArray(String[]::new));
        assertThat(done.err()).isEmpty();
        return done.out().strip();
    }

    @Test
    void completion_ofOtherShells_hasEveryCommand() throws Exception {
        call("./waymark", "run");

        assertThat(call("./waymark", "completion", "zsh").out())
                .startsWith("#compdef waymark")
                .contains("'run:Starts a run or a thread.'", "dev) options=(--port --agents)");
        assertThat(call("./waymark", "completion", "fish").out())
                .contains("-a dev -d 'A server and a worker.'", "from run' -l thread");
        assertThat(call("./waymark", "completion", "tcsh").exitCode()).isEqualTo(2);
    }
}
