package dev.waymark.testkit.crash;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.jar.Attributes;
import java.util.jar.JarEntry;
import java.util.jar.JarOutputStream;
import java.util.jar.Manifest;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** Applications that are jars, started to be killed. */
@Tag("full")
@Timeout(120)
class WorkerProcessTest {
    @TempDir
    Path directory;

    /** An application that reports its start. Its arguments are a file for its process id, and the words to print. */
    public static final class Application {
        public static void main(String[] arguments) throws Exception {
            Files.writeString(
                    Path.of(arguments[0]),
                    String.valueOf(ProcessHandle.current().pid()));
            System.out.println("12:00 INFO " + arguments[1]);
            if (arguments[1].startsWith("Started")) {
                TimeUnit.MINUTES.sleep(5);
            }
        }
    }

    private Path jar() throws IOException {
        Manifest manifest = new Manifest();
        manifest.getMainAttributes().put(Attributes.Name.MANIFEST_VERSION, "1.0");
        manifest.getMainAttributes().put(Attributes.Name.MAIN_CLASS, Application.class.getName());
        Path jar = directory.resolve("restaurant-1.0.jar");
        String name = Application.class.getName().replace('.', '/') + ".class";
        try (JarOutputStream content = new JarOutputStream(Files.newOutputStream(jar), manifest);
                InputStream bytes = Application.class.getResourceAsStream("/" + name)) {
            content.putNextEntry(new JarEntry(name));
            bytes.transferTo(content);
        }
        return jar;
    }

    private ProcessHandle process(Path pid) throws IOException {
        return ProcessHandle.of(Long.parseLong(Files.readString(pid))).orElseThrow();
    }

    @Test
    void startJar_readyApplication_returnsAndCloseKillsIt() throws Exception {
        Path pid = directory.resolve("pid");
        ProcessHandle started;
        try (WorkerProcess process =
                WorkerProcess.startJar(jar(), "Started Restaurant", pid.toString(), "Started Restaurant in 2 s")) {
            started = process(pid);
            assertThat(started.isAlive()).isTrue();
            assertThat(process.diesWithin(Duration.ofMillis(100))).isFalse();
        }

        assertThat(started.isAlive()).isFalse();
    }

    @Test
    void startJar_applicationThatDies_isReportedWithItsOutput() throws Exception {
        Path pid = directory.resolve("pid");
        Path jar = jar();

        assertThatThrownBy(() -> WorkerProcess.startJar(jar, "Started", pid.toString(), "The port is taken"))
                .isInstanceOf(IOException.class)
                .hasMessageContaining("The port is taken");
        assertThat(List.of(ProcessHandle.of(Long.parseLong(Files.readString(pid)))))
                .allMatch(handle -> handle.filter(ProcessHandle::isAlive).isEmpty());
    }

    @Test
    void startJar_missingJar_saysSo() {
        assertThatThrownBy(() -> WorkerProcess.startJar(directory.resolve("none.jar"), "Started"))
                .isInstanceOf(IOException.class)
                .hasMessageContaining("none.jar");
    }
}
