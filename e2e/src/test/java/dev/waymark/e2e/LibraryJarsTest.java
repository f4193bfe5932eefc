package dev.waymark.e2e;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Programs that use the libraries choose their own logging and their own database drivers, and need no terminal. */
class LibraryJarsTest {
    private static final Path ROOT = Path.of("").toAbsolutePath().getParent();
    private static final Pattern DEPENDENCY = Pattern.compile("<dependency>.*?</dependency>", Pattern.DOTALL);
    private static final List<String> PROGRAM_ONLY = List.of(
            "logback-classic", "sqlite-jdbc", "postgresql", "picocli", "jline", "micrometer-registry-prometheus");

    @ParameterizedTest
    @ValueSource(
            strings = {"shared", "client", "worker", "rehearsal", "testkit", "langchain4j", "spring-ai", "spring-boot"})
    void library_hasNoTerminalLoggingBindingOrDriver(String module) throws IOException {
        List<String> found = DEPENDENCY
                .matcher(Files.readString(ROOT.resolve(module).resolve("pom.xml")))
                .results()
                .map(match -> match.group())
                .filter(dependency -> PROGRAM_ONLY.stream().anyMatch(dependency::contains))
                .filter(dependency -> !dependency.contains("<scope>test</scope>"))
                .toList();

        assertThat(found).isEmpty();
    }

    @ParameterizedTest
    @ValueSource(
            strings = {"shared", "client", "worker", "rehearsal", "testkit", "langchain4j", "spring-ai", "spring-boot"})
    void library_doesNotConfigureLogging(String module) throws IOException {
        Path resources = ROOT.resolve(module).resolve("src/main/resources");
        List<String> atTheTop = List.of();
        if (Files.isDirectory(resources)) {
            try (Stream<Path> files = Files.list(resources)) {
                atTheTop = files.map(file -> file.getFileName().toString()).toList();
            }
        }

        assertThat(atTheTop).noneMatch(name -> name.contains("logback") || name.contains("log4j"));
    }
}
