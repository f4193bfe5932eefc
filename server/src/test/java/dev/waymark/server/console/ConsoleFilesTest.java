package dev.waymark.server.console;

import static org.assertj.core.api.Assertions.assertThat;

import dev.waymark.conversation.value.Sha256;
import dev.waymark.server.http.HttpReply;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import java.util.zip.GZIPOutputStream;
import org.junit.jupiter.api.Test;

class ConsoleFilesTest {
    private static final Path SOURCES = Path.of("src/main/resources/dev/waymark/server/console");
    private static final Pattern IMPORT = Pattern.compile("from '\\./([^']+)'");
    /** Code by which text could become markup or a script. */
    private static final Pattern MARKUP = Pattern.compile("innerHTML|outerHTML|insertAdjacentHTML|document\\.write|"
            + "DOMParser|createContextualFragment|\\beval\\b|new Function|srcdoc|javascript:");

    private final Map<String, HttpReply> files = ConsoleFiles.load();

    @Test
    void everyFile_isServedAndEveryImportExists() throws IOException {
        try (Stream<Path> all = Files.list(SOURCES)) {
            assertThat(files.keySet())
                    .isEqualTo(all.map(file -> file.getFileName().toString())
                            .map(name -> name.equals("index.html") ? "/" : "/console/" + name)
                            .collect(Collectors.toSet()));
        }
        Set<String> imported = new TreeSet<>();
        files.values()
                .forEach(file -> IMPORT.matcher(text(file))
                        .results()
                        .map(MatchResult::group)
                        .forEach(words -> imported.add("/console/" + words.substring(8, words.length() - 1))));
        assertThat(files.keySet()).containsAll(imported);
        assertThat(imported).hasSizeGreaterThan(5);
    }

    @Test
    void noScript_canTurnTextIntoMarkup() {
        files.forEach(
                (path, file) -> assertThat(MARKUP.matcher(text(file)).results().map(MatchResult::group))
                        .as(path)
                        .isEmpty());
    }

    @Test
    void page_runsOnlyItsOwnScriptsAndCannotBeFramed() {
        HttpReply page = files.get("/");

        assertThat(page.headers().get("Content-Security-Policy"))
                .contains("default-src 'none'", "script-src 'self'", "connect-src 'self'", "frame-ancestors 'none'")
                .doesNotContain("unsafe");
        assertThat(text(page)).doesNotContain("https:", "http:", "style=", "onclick", "<script>");
        assertThat(files.get("/console/app.js").contentType()).startsWith("text/javascript");
    }

    @Test
    void wholePage_isLoadedQuickly() throws IOException {
        long bytes = 0;
        for (HttpReply file : files.values()) {
            ByteArrayOutputStream compressed = new ByteArrayOutputStream();
            try (GZIPOutputStream out = new GZIPOutputStream(compressed)) {
                out.write(file.body());
            }
            bytes += compressed.size();
        }

        assertThat(bytes).isLessThan(100 * 1024);
    }

    /** The Markdown parser is the unchanged file of the npm package {@code marked} 18.2.1. */
    @Test
    void markdownParser_isTheUnchangedPackageWithItsLicense() throws IOException {
        assertThat(Sha256.hex(text(files.get("/console/marked.js"))))
                .isEqualTo("5371fea86fd0656b4fc7bea7c94c663109d82789b69433eeee78d42895aa44de");
        assertThat(text(files.get("/console/marked.js"))).startsWith("/**\n * marked v18.2.1 ");
        try (InputStream licence = ConsoleFiles.class.getResourceAsStream("/META-INF/licenses/marked.txt")) {
            assertThat(new String(licence.readAllBytes(), StandardCharsets.UTF_8))
                    .contains("MarkedJS", "free of charge");
        }
    }

    private static String text(HttpReply file) {
        return new String(file.body(), StandardCharsets.UTF_8);
    }
}
