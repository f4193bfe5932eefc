package dev.waymark.e2e;

import static org.assertj.core.api.Assertions.assertThat;

import dev.waymark.e2e.product.GuideProject;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

class GuideTest {
    private static final Path ROOT = Path.of("").toAbsolutePath().getParent();
    private static final Pattern JAVA = Pattern.compile("```java\n(.*?)```", Pattern.DOTALL);
    private static final Pattern LINK = Pattern.compile("]\\(([^)#:]+)(?:#[^)]*)?\\)");

    @Test
    void javaInTheGuide_equalsTheCompiledExamples() throws IOException {
        String examples;
        try (Stream<Path> files = Files.list(ROOT.resolve("e2e/src/test/java/dev/waymark/e2e/examples"))) {
            examples = files.sorted().map(GuideTest::read).collect(Collectors.joining());
        }
        List<String> quoted = Stream.of(
                        "java.md",
                        "crash-tests.md",
                        "structured-replies.md",
                        "your-own-saver.md",
                        "long-results.md",
                        "own-workflows.md",
                        "skills.md",
                        "untrusted-words.md",
                        "deferred-tools.md")
                .flatMap(page -> JAVA.matcher(read(ROOT.resolve("docs/guide").resolve(page)))
                        .results())
                .map(block -> block.group(1))
                .toList();

        assertThat(quoted).hasSize(26).allSatisfy(block -> assertThat(examples).contains(block));
    }

    @Test
    void projectInTheGuide_equalsTheExamples() throws IOException {
        Map<String, String> printed =
                GuideProject.of(ROOT.resolve("docs/guide/spring.md")).files();
        Path example = ROOT.resolve("examples/spring");
        try (Stream<Path> files = Stream.concat(
                Stream.of(example.resolve("pom.xml")),
                Files.walk(example.resolve("src")).filter(Files::isRegularFile))) {
            assertThat(printed)
                    .containsExactlyInAnyOrderEntriesOf(files.collect(
                            Collectors.toMap(file -> example.relativize(file).toString(), GuideTest::read)));
        }
    }

    @Test
    void linksBetweenDocuments_haveTargets() throws IOException {
        try (Stream<Path> documents = Stream.concat(Files.list(ROOT), Files.walk(ROOT.resolve("docs")))) {
            assertThat(documents.filter(file -> file.toString().endsWith(".md")))
                    .allSatisfy(document -> {
                        List<String> targets = LINK.matcher(read(document))
                                .results()
                                .map((MatchResult link) -> link.group(1))
                                .toList();
                        assertThat(targets)
                                .allSatisfy(target -> assertThat(document.resolveSibling(target))
                                        .exists());
                    });
        }
    }

    private static String read(Path file) {
        try {
            return Files.readString(file);
        } catch (IOException e) {
            throw new java.io.UncheckedIOException(e);
        }
    }
}
