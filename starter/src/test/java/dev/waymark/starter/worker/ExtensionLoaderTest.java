package dev.waymark.starter.worker;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.waymark.conversation.value.Json;
import dev.waymark.extension.WorkerExtension;
import dev.waymark.tool.Tool;
import dev.waymark.tool.ToolContext;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.ServiceConfigurationError;
import java.util.jar.JarEntry;
import java.util.jar.JarOutputStream;
import java.util.stream.Stream;
import javax.tools.ToolProvider;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Extensions in jars that are not on the class path of this JVM. */
class ExtensionLoaderTest {
    private static final String EXTENSION = """
            package other;

            import dev.waymark.extension.WorkerExtension;
            import dev.waymark.tool.Tool;
            import dev.waymark.tool.ToolMethod;
            import dev.waymark.tool.ToolMethods;
            import java.util.List;
            import java.util.Map;

            public final class Payments implements WorkerExtension {
                public record Charge(int cents) {}

                private String currency = "";

                @Override
                public List<Tool> tools(Map<String, String> environment) {
                    currency = environment.get("CURRENCY");
                    return ToolMethods.of(this);
                }

                @ToolMethod(description = "Charges")
                public String charge(Charge charge) {
                    return charge.cents() + currency + okio.ByteString.WHOSE;
                }
            }
            """;

    /** A library of the extension that the worker has in a different version. */
    private static final String LIBRARY = """
            package okio;

            public final class ByteString {
                public static final String WHOSE = String.valueOf(" with its own library");
            }
            """;

    @TempDir
    private Path directory;

    private void jar(String service) throws IOException {
        Path classes = Files.createDirectories(directory.resolve("classes"));
        Path one = write("src/other/Payments.java", EXTENSION);
        Path other = write("src/okio/ByteString.java", LIBRARY);
        int problems = ToolProvider.getSystemJavaCompiler()
                .run(
                        null,
                        null,
                        null,
                        "-proc:none",
                        "-sourcepath",
                        directory.resolve("src").toString(),
                        "-cp",
                        System.getProperty("java.class.path"),
                        "-d",
                        classes.toString(),
                        other.toString(),
                        one.toString());
        assertThat(problems).isZero();
        Files.createDirectories(directory.resolve("lib"));
        try (JarOutputStream jar = new JarOutputStream(Files.newOutputStream(directory.resolve("lib/payments.jar")));
                Stream<Path> files = Files.walk(classes)) {
            for (Path file : files.filter(Files::isRegularFile).toList()) {
                jar.putNextEntry(new JarEntry(classes.relativize(file).toString()));
                jar.write(Files.readAllBytes(file));
            }
            jar.putNextEntry(new JarEntry("META-INF/services/" + WorkerExtension.class.getName()));
            jar.write(service.getBytes(StandardCharsets.UTF_8));
        }
    }

    private Path write(String name, String text) throws IOException {
        Path file = directory.resolve(name);
        Files.createDirectories(file.getParent());
        return Files.writeString(file, text);
    }

    @Test
    void load_directoryOfJars_findsToolsWithTheirOwnLibraries() throws Exception {
        jar("other.Payments\n");

        List<WorkerExtension> extensions = ExtensionLoader.load(List.of(directory.resolve("lib")));

        assertThat(extensions).hasSize(1);
        Tool charge = extensions.get(0).tools(Map.of("CURRENCY", " EUR")).get(0);
        assertThat(charge.spec().name()).isEqualTo("charge");
        assertThat(charge.run(Json.of(Map.of("cents", 42)), new ToolContext("t", "c", "charge", "k")))
                .isEqualTo("42 EUR with its own library");
    }

    @Test
    void load_missingClass_isRefused() throws IOException {
        jar("other.Missing\n");

        assertThatThrownBy(() -> ExtensionLoader.load(List.of(directory.resolve("lib/payments.jar"))))
                .isInstanceOf(ServiceConfigurationError.class)
                .hasMessageContaining("other.Missing");
    }

    @Test
    void load_nothing_findsNothing() throws IOException {
        assertThat(ExtensionLoader.load(List.of())).isEmpty();
        assertThatThrownBy(() -> ExtensionLoader.load(List.of(directory.resolve("none.jar"))))
                .isInstanceOf(NoSuchFileException.class);
    }
}
