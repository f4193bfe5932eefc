package dev.waymark.e2e;

import static org.assertj.core.api.Assertions.assertThat;

import dev.waymark.cli.ExitCode;
import java.io.File;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
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

/**
 * The jars behind {@code ./waymark}: their sizes and contents, and how the worker's jar behaves without the in-memory
 * server's jar next to it.
 */
class ProgramJarsTest {
    private static final Path ROOT = Path.of("").toAbsolutePath().getParent();
    private static final Path WORKER = ROOT.resolve("worker/target/waymark-worker.jar");
    private static final Path IN_MEMORY_SERVER = ROOT.resolve("worker/target/waymark-dev.jar");
    private static final Path COMMANDS = ROOT.resolve("starter/target/waymark.jar");
    private static final Path HISTORIES = ROOT.resolve("worker/src/test/resources/histories/rules-4");
    private static final List<Path> JARS = List.of(WORKER, IN_MEMORY_SERVER, COMMANDS);

    /** Classes that libraries look for by name and do without, each with the reason. */
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
            // Logback recognises programs that use Spring.
            "org.springframework.");

    private static final long MEGABYTE = 1_000_000;

    @TempDir
    Path directory;

    private record Done(int exitCode, String output) {}

    @Test
    void sizes() throws IOException {
        assertThat(Files.size(WORKER)).isLessThan(25 * MEGABYTE);
        assertThat(Files.size(COMMANDS)).isLessThan(40 * MEGABYTE);
    }

    @Test
    void inMemoryServer_isOnlyInItsOwnJar() throws IOException {
        List<String> worker = classes(WORKER);
        List<String> server = classes(IN_MEMORY_SERVER);

        assertThat(worker)
                .contains("dev/waymark/worker/AgentWorker.class")
                .noneMatch(name -> name.contains("/testservice/Test"));
        assertThat(server)
                .contains("io/temporal/internal/testservice/TestWorkflowService.class")
                .doesNotContainAnyElementsOf(worker);
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
     * The jars leave out classes that no other class refers to. Some of these classes may still be loaded by name,
     * which would fail only at run time.
     */
    @Test
    void classesThatAreLoadedByName_areNotLeftOut() throws IOException {
        Set<String> packed = new TreeSet<>();
        for (Path jar : JARS) {
            packed.addAll(classes(jar));
        }
        Set<String> leftOut = new TreeSet<>();
        for (String library : System.getProperty("java.class.path").split(File.pathSeparator)) {
            if (library.endsWith(".jar")) {
                leftOut.addAll(classes(Path.of(library)));
            }
        }
        leftOut.removeAll(packed);

        Set<String> missing = new TreeSet<>();
        for (Path jar : JARS) {
            constants(jar).stream()
                    .filter(constant -> leftOut.contains(constant.replace('.', '/') + ".class"))
                    .filter(constant -> OPTIONAL.stream().noneMatch(constant::startsWith))
                    .forEach(missing::add);
        }

        assertThat(leftOut).hasSizeGreaterThan(5_000);
        assertThat(missing).isEmpty();
    }

    @Test
    void gate_needsNoOtherJar() throws Exception {
        Path histories = Files.createDirectory(directory.resolve("histories"));
        Files.copy(HISTORIES.resolve("parallel-tools.json"), histories.resolve("thread.json"));

        Done done = runAlone("gate", "--histories", histories.toString());

        assertThat(done.output()).contains("passed: 1 of 1 threads checked");
        assertThat(done.exitCode()).isEqualTo(ExitCode.DONE);
    }

    @Test
    void dev_withoutTheInMemoryServersJar_namesIt() throws Exception {
        Done done = runAlone("dev", "--in-memory", "--no-worker", "--no-console", "--port", "0");

        assertThat(done.output()).contains("waymark-dev.jar").doesNotContain("NoClassDefFoundError");
        assertThat(done.exitCode()).isEqualTo(ExitCode.NOT_FOUND);
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
        try (JarFile file = new JarFile(WORKER.toFile())) {
            return new String(file.getInputStream(file.getEntry(name)).readAllBytes(), StandardCharsets.ISO_8859_1);
        }
    }

    private Done runAlone(String... arguments) throws Exception {
        Path alone = Files.copy(WORKER, directory.resolve("alone.jar"));
        List<String> command = new ArrayList<>(
                List.of(Path.of(System.getProperty("java.home"), "bin/java").toString(), "-jar", alone.toString()));
        command.addAll(List.of(arguments));
        Process process = new ProcessBuilder(command)
                .directory(directory.toFile())
                .redirectErrorStream(true)
                .start();
        String output = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
        return new Done(process.waitFor(), output);
    }
}
