package dev.waymark.e2e;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.function.Predicate;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/** Only the profile {@code full} runs the tests with that tag, so tests that need a real server must have it. */
class TestTagsTest {
    private static final String SERVER = "@Tag(\"server\")";
    private static final String FULL = "@Tag(\"full\")";
    private static final String PACKAGES = "@Tag(\"packages\")";
    private static final Pattern USE = Pattern.compile("TestServers\\.real\\(\\)|TemporalBinary\\.find\\(\\)");

    private static List<Path> tests(Predicate<String> hasLine) throws IOException {
        try (Stream<Path> modules = Files.list(Path.of(".."))) {
            return modules.map(module -> module.resolve("src/test/java"))
                    .filter(Files::isDirectory)
                    .flatMap(TestTagsTest::sources)
                    .filter(source -> !source.endsWith("TestTagsTest.java"))
                    .filter(source -> lines(source).stream().map(String::strip).anyMatch(hasLine))
                    .toList();
        }
    }

    @Test
    void realServerClasses_areInTheFullProfile() throws IOException {
        assertThat(tests(SERVER::equals))
                .hasSizeGreaterThan(10)
                .allSatisfy(source -> assertThat(lines(source)).contains(FULL));
    }

    /** Finds classes that look for a server, directly or through another class. */
    @Test
    void classesThatUseARealServer_haveItsTag() throws IOException {
        assertThat(tests(line -> USE.matcher(line).find()))
                .filteredOn(source -> source.toString().endsWith("Test.java"))
                .hasSizeGreaterThan(10)
                .allSatisfy(source ->
                        assertThat(lines(source)).anyMatch(line -> line.strip().equals(SERVER)));
    }

    /** {@code .ci/weekly} runs them, and commits do not wait for them. */
    @Test
    void classesThatInstallPackages_haveTheirTag() throws IOException {
        List<Path> tagged = tests(PACKAGES::equals);

        assertThat(tagged).allSatisfy(source -> assertThat(lines(source)).contains(FULL));
        assertThat(tests(line -> line.contains("Installation.into(")))
                .filteredOn(source -> source.toString().endsWith("Test.java"))
                .hasSizeGreaterThan(2)
                .isSubsetOf(tagged);
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
