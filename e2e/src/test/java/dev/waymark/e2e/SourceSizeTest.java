package dev.waymark.e2e;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/** Limits the size of packages and classes, because larger ones usually have more than one subject. */
class SourceSizeTest {
    private static final int MOST_FILES = 25;
    private static final int MOST_LINES = 500;

    private static final Path ROOT = Path.of("").toAbsolutePath().getParent();

    @Test
    void packages_haveFewFiles() throws IOException {
        Map<Path, Long> files = mainFiles().stream()
                .map(ROOT::relativize)
                .collect(Collectors.groupingBy(Path::getParent, TreeMap::new, Collectors.counting()));

        assertThat(files).hasSizeGreaterThan(1);
        assertThat(files.entrySet())
                .filteredOn(each -> each.getValue() > MOST_FILES)
                .isEmpty();
    }

    @Test
    void files_areShort() throws IOException {
        assertThat(mainFiles())
                .filteredOn(file -> lines(file) > MOST_LINES)
                .map(ROOT::relativize)
                .isEmpty();
    }

    private static List<Path> mainFiles() throws IOException {
        try (Stream<Path> modules = Files.list(ROOT)) {
            return modules.map(module -> module.resolve("src/main/java"))
                    .filter(Files::isDirectory)
                    .flatMap(SourceSizeTest::below)
                    .toList();
        }
    }

    private static Stream<Path> below(Path sources) {
        try (Stream<Path> all = Files.walk(sources)) {
            return all.filter(file -> file.toString().endsWith(".java")).toList().stream();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private static long lines(Path file) {
        try (Stream<String> lines = Files.lines(file)) {
            return lines.count();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }
}
