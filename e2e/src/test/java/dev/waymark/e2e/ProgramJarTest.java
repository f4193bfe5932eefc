package dev.waymark.e2e;

import static org.assertj.core.api.Assertions.assertThat;

import dev.waymark.cli.ExitCode;
import dev.waymark.testkit.process.ChildProcess;
import java.io.File;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.jar.JarEntry;
import java.util.jar.JarFile;
import java.util.zip.ZipEntry;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.objectweb.asm.ClassReader;
import org.objectweb.asm.ClassVisitor;
import org.objectweb.asm.MethodVisitor;
import org.objectweb.asm.Opcodes;

/** The jar behind {@code ./waymark}: its size and contents. */
class ProgramJarTest {
    private static final Path ROOT = Path.of("").toAbsolutePath().getParent();
    private static final Path JAR = ROOT.resolve("starter/target/waymark.jar");
    private static final Path HISTORIES = ROOT.resolve("worker/src/test/resources/histories");

    /** Optional classes that libraries look up by name, each with the reason why it is missing. */
    private static final List<String> OPTIONAL = List.of(
            // NIO is used instead.
            "io.grpc.netty.shaded.io.netty.channel.epoll.",
            // Only tests of reactive programs need it.
            "io.grpc.netty.shaded.io.netty.util.internal.Hidden$NettyBlockHoundIntegration",
            // No observations are made.
            "io.micrometer.observation.contextpropagation.ObservationThreadLocalAccessor",
            // Jackson 2 is used.
            "io.temporal.common.converter.Jackson3JsonPayloadConverter",
            // Only reflection on Kotlin's companion objects needs them.
            "kotlin.jvm.internal.",
            // Logback recognizes programs that use Spring.
            "org.springframework.");

    private static final long MEGABYTE = 1_000_000;

    @TempDir
    Path directory;

    private static final Duration PATIENCE = Duration.ofMinutes(2);

    @Test
    void size() throws IOException {
        assertThat(Files.size(JAR)).isLessThan(40 * MEGABYTE);
    }

    /** Extensions of workers call the libraries, so the jar contains them completely. */
    @Test
    void librariesOfWaymark_areComplete() throws IOException {
        assertThat(classes(JAR))
                .contains("dev/waymark/tool/ToolMethods.class", "dev/waymark/worker/Agent.class")
                .contains("dev/waymark/worker/AgentWorker.class", "dev/waymark/client/AgentClient.class");
    }

    @Test
    void stackTraces_haveLineNumbers_exceptInGeneratedClasses() throws IOException {
        for (String name : List.of(
                "dev/waymark/worker/AgentWorker.class",
                "io/temporal/internal/worker/WorkflowWorker.class",
                "io/grpc/netty/shaded/io/netty/handler/ssl/SslHandler.class")) {
            assertThat(content(name)).as(name).contains("LineNumberTable");
        }
        assertThat(content("io/temporal/api/history/v1/HistoryEvent.class")).doesNotContain("LineNumberTable");
    }

    /**
     * The jar leaves out classes that no other class refers to. Some of these classes may still be loaded by name,
     * which would fail only at run time.
     */
    @Test
    void classesLoadedByName_areInTheJar() throws IOException {
        Set<String> leftOut = new TreeSet<>();
        for (String library : System.getProperty("java.class.path").split(File.pathSeparator)) {
            if (library.endsWith(".jar")) {
                leftOut.addAll(classes(Path.of(library)));
            }
        }
        leftOut.removeAll(classes(JAR));

        assertThat(leftOut).hasSizeGreaterThan(5_000);
        assertThat(constants(JAR))
                .filteredOn(constant -> leftOut.contains(constant.replace('.', '/') + ".class"))
                .filteredOn(constant -> OPTIONAL.stream().noneMatch(constant::startsWith))
                .isEmpty();
    }

    @Test
    void gate_needsNoOtherFileAndNamesTheCommit() throws Exception {
        Path histories = Files.createDirectory(directory.resolve("histories"));
        Files.copy(HISTORIES.resolve("parallel-tools.json"), histories.resolve("thread.json"));

        ChildProcess.Ended done =
                alone("gate", "--histories", histories.toString()).run(PATIENCE);

        assertThat(done.out()).contains("passed: 1 of 1 threads checked");
        String commit = Files.exists(ROOT.resolve(".git")) ? "\\+[0-9a-f]{40}(-dirty)?" : "";
        assertThat(done.out()).containsPattern("waymark: build \\d+\\.\\d+\\.\\d+" + commit + "\\R");
        assertThat(done.exitCode()).isEqualTo(ExitCode.DONE);
    }

    @Test
    void dev_needsNoOtherFile() throws Exception {
        try (ChildProcess dev = alone("dev", "--in-memory", "--no-worker", "--no-console", "--port", "0", "--json")
                .start()) {
            dev.awaitLine(line -> line.startsWith("{\"ready\":true"), PATIENCE);
            assertThat(dev.terminate(PATIENCE)).isEqualTo(ExitCode.DONE);
        }
    }

    private static List<String> classes(Path jar) throws IOException {
        try (JarFile file = new JarFile(jar.toFile())) {
            return file.stream()
                    .map(ZipEntry::getName)
                    .filter(name -> name.endsWith(".class"))
                    .toList();
        }
    }

    /** Returns the strings in the code of a jar, and the names of the services that the jar provides. */
    private static Set<String> constants(Path jar) throws IOException {
        Set<String> constants = new TreeSet<>();
        try (JarFile file = new JarFile(jar.toFile())) {
            for (JarEntry entry : Collections.list(file.entries())) {
                if (entry.getName().endsWith(".class")) {
                    new ClassReader(file.getInputStream(entry)).accept(new Strings(constants), ClassReader.SKIP_DEBUG);
                } else if (entry.getName().startsWith("META-INF/services/")) {
                    String services = new String(file.getInputStream(entry).readAllBytes(), StandardCharsets.UTF_8);
                    constants.addAll(List.of(services.split("\\s+")));
                }
            }
        }
        return constants;
    }

    private static final class Strings extends ClassVisitor {
        private final Set<String> found;

        Strings(Set<String> found) {
            super(Opcodes.ASM9);
            this.found = found;
        }

        @Override
        public MethodVisitor visitMethod(
                int access, String name, String descriptor, String signature, String[] exceptions) {
            return new MethodVisitor(Opcodes.ASM9) {
                @Override
                public void visitLdcInsn(Object value) {
                    if (value instanceof String text) {
                        found.add(text);
                    }
                }
            };
        }
    }

    private static String content(String name) throws IOException {
        try (JarFile file = new JarFile(JAR.toFile())) {
            return new String(file.getInputStream(file.getEntry(name)).readAllBytes(), StandardCharsets.ISO_8859_1);
        }
    }

    /** The jar without any other file of this build. */
    private ChildProcess.Builder alone(String... arguments) throws IOException {
        Path alone = Files.copy(JAR, directory.resolve("alone.jar"));
        List<String> command = new ArrayList<>(List.of(ChildProcess.javaCommand(), "-jar", alone.toString()));
        command.addAll(List.of(arguments));
        return ChildProcess.of(command).in(directory).mergingErrors();
    }
}
