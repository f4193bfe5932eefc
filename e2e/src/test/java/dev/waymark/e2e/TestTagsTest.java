package dev.waymark.e2e;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/** CI runs the tests of the real server only with the profile {@code full}, which takes the tests with that tag. */
class TestTagsTest {
    private static final String SERVER = "@Tag(\"server\")";
    private static final String FULL = "@Tag(\"full\")";

    @Test
    void classesWithTestsOfTheRealServer_areInTheFullProfile() throws IOException {
        List<Path> ofServer;
        try (Stream<Path> modules = Files.list(Path.of(".."))) {
            ofServer = modules.map(module -> module.resolve("src/test/java"))
                    .filter(Files::isDirectory)
                    .flatMap(TestTagsTest::sources)
                    .filter(source -> lines(source).stream().map(String::strip).anyMatch(SERVER::equals))
                    .toList();
        }

        assertThat(ofServer)
                .hasSizeGreaterThan(10)
                .allSatisfy(source -> assertThat(lines(source)).contains(FULL));
    }

    private static Stream<Path> sources(Path directory) {
        try (Stream<Path> files = Files.walk(directory)) {
            return files.filter(file -> file.toString().endsWith(".java")).toList().stream();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private static List<String> lines(Path source) {
        try {
            return Files.readAllLines(source);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }
}
