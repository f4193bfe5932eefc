package dev.waymark.e2e;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/**
 * Compares the list of packages in docs/architecture.md with the first sentences of their {@code package-info.java}.
 * {@code -Dmap.record=true} writes the list.
 */
class PackageMapTest {
    private static final Path ROOT = Path.of("..");
    private static final Path DOCUMENT = ROOT.resolve("docs/architecture.md");
    private static final String BEGIN = "<!-- the packages, printed by PackageMapTest -->\n";
    private static final String END = "<!-- end of the packages -->\n";
    private static final List<String> MODULES = List.of(
            "shared",
            "worker",
            "rehearsal",
            "client",
            "server",
            "langchain4j",
            "spring-ai",
            "spring-boot",
            "starter",
            "testkit",
            "fixtures",
            "bench");

    /** The documentation of a package with more types says where to begin. */
    private static final int MANY_TYPES = 20;

    private static final Pattern CLASS = Pattern.compile("`([A-Z]\\w+)`");
    private static final Pattern COMMENT = Pattern.compile("/\\*\\*(.*?)\\*/", Pattern.DOTALL);

    @Test
    void everyPackage_isListedInTheDocument() throws IOException {
        String document = Files.readString(DOCUMENT);
        int begin = document.indexOf(BEGIN) + BEGIN.length();
        int end = document.indexOf(END);
        if (Boolean.getBoolean("map.record")) {
            Files.writeString(DOCUMENT, document.substring(0, begin) + map() + document.substring(end));
        } else {
            assertThat(document.substring(begin, end)).isEqualTo(map());
        }
    }

    @Test
    void packageWithManyTypes_saysWhereToBegin() throws IOException {
        for (String module : MODULES) {
            for (Path folder : packages(module)) {
                if (types(folder).size() > MANY_TYPES) {
                    assertThat(comment(folder)).as(folder.toString()).contains("Begin with {@link ");
                }
            }
        }
    }

    /** The table of changes names classes of the main code. */
    @Test
    void classesToChange_exist() throws IOException {
        List<String> known = new ArrayList<>();
        for (String module : MODULES) {
            for (Path folder : packages(module)) {
                types(folder).forEach(name -> known.add(name.replace(".java", "")));
            }
        }
        String document = Files.readString(DOCUMENT);
        int begin = document.indexOf("## To change something");
        String table = document.substring(begin, document.indexOf("\n## ", begin + 1));
        List<String> named = CLASS.matcher(table)
                .results()
                .map(found -> found.group(1))
                .filter(name -> !name.equals(getClass().getSimpleName()))
                .toList();

        assertThat(named).hasSizeGreaterThan(40);
        assertThat(known).containsAll(named);
    }

    private static String map() throws IOException {
        StringBuilder text = new StringBuilder();
        for (String module : MODULES) {
            text.append("\n**").append(module).append("**\n\n");
            for (Path folder : packages(module)) {
                String name = sources(module).relativize(folder).toString().replace('/', '.');
                text.append("- `")
                        .append(name)
                        .append("`: ")
                        .append(sentence(comment(folder)))
                        .append('\n');
            }
        }
        return text.append('\n').toString();
    }

    private static Path sources(String module) {
        return ROOT.resolve(module).resolve("src/main/java/dev/waymark");
    }

    /** The folders with classes, sorted. */
    private static List<Path> packages(String module) throws IOException {
        try (Stream<Path> all = Files.walk(sources(module))) {
            return all.filter(Files::isDirectory)
                    .filter(folder -> !types(folder).isEmpty())
                    .sorted()
                    .toList();
        }
    }

    private static List<String> types(Path folder) {
        String[] names = folder.toFile().list((in, name) -> name.endsWith(".java") && !name.contains("-info"));
        return names == null ? List.of() : List.of(names);
    }

    private static String comment(Path folder) throws IOException {
        Path file = folder.resolve("package-info.java");
        assertThat(file).exists();
        Matcher comment = COMMENT.matcher(Files.readString(file));
        assertThat(comment.find()).as(file.toString()).isTrue();
        return comment.group(1).replaceAll("\\s*\\n\\s*\\*\\s?", " ").strip();
    }

    /** The first sentence, with code in Markdown syntax. */
    private static String sentence(String comment) {
        return comment.replaceAll("\\{@(?:code|link) (?:[a-z0-9]+\\.)*([^}]+)}", "`$1`")
                .replaceFirst("(?s)\\.(?= |$).*", ".");
    }
}
