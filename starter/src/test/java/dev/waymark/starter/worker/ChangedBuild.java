package dev.waymark.starter.worker;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.File;
import java.io.IOException;
import java.io.OutputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.jar.Attributes;
import java.util.jar.JarOutputStream;
import java.util.jar.Manifest;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import javax.tools.ToolProvider;

/** Creates builds of this code, unchanged or with one source file changed and recompiled, in a directory. */
final class ChangedBuild {
    private ChangedBuild() {}

    /** An unchanged build: a jar whose manifest refers to the class path of this test. */
    static Path same(Path directory) throws IOException {
        Manifest manifest = new Manifest();
        manifest.getMainAttributes().put(Attributes.Name.MANIFEST_VERSION, "1.0");
        manifest.getMainAttributes()
                .put(
                        Attributes.Name.CLASS_PATH,
                        Stream.of(System.getProperty("java.class.path").split(File.pathSeparator))
                                .map(entry -> Path.of(entry).toAbsolutePath())
                                .filter(Files::exists)
                                .map(entry -> entry.toUri().toString())
                                .collect(Collectors.joining(" ")));
        try (OutputStream file = Files.newOutputStream(directory.resolve("build.jar"));
                JarOutputStream jar = new JarOutputStream(file, manifest)) {
            jar.finish();
        }
        return directory;
    }

    /**
     * A build in which {@code after} replaces {@code before} in one class of {@code conversation} or of a package below
     * it.
     */
    static Path with(Path directory, String className, String before, String after) throws IOException {
        Path source = Path.of("../shared/src/main/java/dev/waymark/conversation", className + ".java");
        String text = Files.readString(source);
        assertThat(text).contains(before);
        Path changed = Files.createDirectories(directory.resolve("source"))
                .resolve(source.getFileName().toString());
        Files.writeString(changed, text.replace(before, after));
        List<String> arguments = new ArrayList<>(List.of(
                "-nowarn",
                "-proc:none",
                "-parameters",
                "-cp",
                System.getProperty("java.class.path"),
                "-d",
                directory.toString(),
                changed.toString()));
        int exitCode = ToolProvider.getSystemJavaCompiler().run(null, null, null, arguments.toArray(String[]::new));
        assertThat(exitCode).isZero();
        return same(directory);
    }
}
