package dev.waymark.e2e;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import dev.waymark.testkit.process.ChildProcess;
import java.io.File;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** Compiles the Kotlin in the guide. Maven fetches the compiler into {@code target/kotlin}. */
@Tag("full")
@Timeout(600)
class KotlinGuideTest {
    private static final Path PAGE = Path.of("").toAbsolutePath().getParent().resolve("docs/guide/java.md");
    private static final Pattern KOTLIN = Pattern.compile("```kotlin\n(.*?)```", Pattern.DOTALL);
    private static final Duration PATIENCE = Duration.ofMinutes(5);

    private static final String POM = """
            <project xmlns="http://maven.apache.org/POM/4.0.0">
              <modelVersion>4.0.0</modelVersion>
              <groupId>example</groupId><artifactId>kotlin</artifactId><version>1</version>
              <dependencies>
                <dependency>
                  <groupId>org.jetbrains.kotlin</groupId><artifactId>kotlin-compiler-embeddable</artifactId>
                  <version>2.2.21</version>
                </dependency>
                <dependency>
                  <groupId>org.jetbrains.kotlinx</groupId><artifactId>kotlinx-coroutines-jdk9</artifactId>
                  <version>1.10.2</version>
                </dependency>
              </dependencies>
            </project>
            """;

    @TempDir
    Path directory;

    private static Path libraries() throws IOException, InterruptedException {
        Path home = Files.createDirectories(Path.of("target/kotlin").toAbsolutePath());
        Path libraries = home.resolve("lib");
        Files.writeString(home.resolve("pom.xml"), POM);
        ChildProcess.Ended fetched = ChildProcess.of(
                        "mvn", "-B", "-ntp", "-q", "dependency:copy-dependencies", "-DoutputDirectory=" + libraries)
                .in(home)
                .mergingErrors()
                .run(PATIENCE);
        assumeTrue(fetched.exitCode() == 0, "Maven does not reach the Kotlin compiler");
        return libraries;
    }

    private ChildProcess.Ended compiled(String code) throws IOException, InterruptedException {
        String libraries;
        try (Stream<Path> jars = Files.list(libraries())) {
            libraries = jars.map(Path::toString).sorted().collect(Collectors.joining(File.pathSeparator));
        }
        Path source = Files.writeString(
                directory.resolve("Guide.kt"),
                """
                import dev.waymark.client.AgentClient
                import dev.waymark.client.request.Prompt
                import dev.waymark.tool.ToolMethod
                import java.util.Optional
                import kotlinx.coroutines.Dispatchers
                import kotlinx.coroutines.future.await
                import kotlinx.coroutines.jdk9.asFlow
                import kotlinx.coroutines.withContext

                """
                        + (code.startsWith("@")
                                ? code
                                : "suspend fun guide(client: AgentClient, prompt: Prompt) {\n" + code + "}\n"));
        return ChildProcess.of(
                        ChildProcess.javaCommand(),
                        "-cp",
                        libraries,
                        "org.jetbrains.kotlin.cli.jvm.K2JVMCompiler",
                        "-no-stdlib",
                        "-no-reflect",
                        "-jvm-target",
                        "17",
                        "-cp",
                        System.getProperty("java.class.path") + File.pathSeparator + libraries,
                        "-d",
                        directory.resolve("classes").toString(),
                        source.toString())
                .mergingErrors()
                .run(PATIENCE);
    }

    @Test
    void kotlinInTheGuide_compiles() throws Exception {
        List<String> blocks = KOTLIN.matcher(Files.readString(PAGE))
                .results()
                .map((MatchResult block) -> block.group(1))
                .toList();

        assertThat(blocks).isNotEmpty();
        for (String block : blocks) {
            assertThat(compiled(block))
                    .satisfies(ended ->
                            assertThat(ended.exitCode()).as(ended.out()).isZero());
        }
        assertThat(compiled("client.noSuchMethod()\n").exitCode()).isNotZero();
    }
}
