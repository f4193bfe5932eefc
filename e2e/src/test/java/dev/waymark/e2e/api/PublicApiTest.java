package dev.waymark.e2e.api;

import static org.assertj.core.api.Assertions.assertThat;

import dev.waymark.annotation.Internal;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.regex.MatchResult;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.FieldSource;

/**
 * Other programs are compiled against the libraries, so removed or changed elements break them. There is no release yet
 * to compare with, so the public API is recorded in {@code src/test/resources/api}.
 *
 * <p>A removed or changed line is a decision that needs a line in the changelog. To record the current API: {@code
 * mvn -o -q -pl e2e -am test -Dtest=PublicApiTest -Dsurefire.failIfNoSpecifiedTests=false -Dapi.record=true}.
 */
class PublicApiTest {
    private static final List<String> MODULES = List.of("shared", "client", "worker", "testkit", "spring-boot");
    private static final Pattern OWN_TYPE = Pattern.compile("\\bdev\\.waymark(?:\\.[a-z0-9]+)*\\.[A-Z]\\w*");
    private static final Path RECORDED = Path.of("src/test/resources/api").toAbsolutePath();

    @ParameterizedTest
    @FieldSource("MODULES")
    void publicApi_isAsRecorded(String module) throws Exception {
        Path file = RECORDED.resolve(module + ".txt");
        List<String> api = ApiSignatures.of(new PublicPackages(module).classes());
        if (Boolean.getBoolean("api.record")) {
            Files.writeString(file, String.join("\n", api) + "\n");
        }

        List<String> recorded = qualified(Files.readAllLines(file));
        List<String> now = qualified(api);
        assertThat(now).isNotEmpty();
        assertThat(recorded)
                .filteredOn(line -> !now.contains(line))
                .as("removed or changed: programs that use it break")
                .isEmpty();
        assertThat(now)
                .filteredOn(line -> !recorded.contains(line))
                .as("new: record it, as the comment of this class says")
                .isEmpty();
    }

    @ParameterizedTest
    @FieldSource("MODULES")
    void publicApi_isDocumented(String module) throws Exception {
        List<Path> files = new PublicPackages(module).files();

        assertThat(files).isNotEmpty();
        assertThat(UndocumentedElements.in(files)).isEmpty();
    }

    /**
     * A program that calls a public method cannot avoid the types that the method names. They are public, too, or the
     * method is marked as internal.
     */
    @Test
    void publicSignatures_nameOnlyPublicTypes() throws Exception {
        Set<String> published = new HashSet<>();
        for (String module : MODULES) {
            for (String type : new PublicPackages(module).classes()) {
                if (!Class.forName(type, false, getClass().getClassLoader()).isAnnotationPresent(Internal.class)) {
                    published.add(type);
                }
            }
        }

        List<String> named = new ArrayList<>();
        for (String module : MODULES) {
            for (String line : qualified(ApiSignatures.of(new PublicPackages(module).classes()))) {
                OWN_TYPE.matcher(line)
                        .results()
                        .map(MatchResult::group)
                        .filter(type -> !published.contains(type))
                        .map(type -> type + " in " + line)
                        .forEach(named::add);
            }
        }

        assertThat(named).isEmpty();
    }

    /** The Javadoc lists whole packages, and {@link PublicPackages} also single types of others. */
    @Test
    void javadoc_listsThePublicPackages() throws Exception {
        Matcher group = Pattern.compile("<title>Public API</title>\\s*<packages>([^<]+)</packages>")
                .matcher(Files.readString(PublicPackages.ROOT.resolve("pom.xml")));

        assertThat(group.find()).isTrue();
        assertThat(group.group(1).split(":"))
                .contains(MODULES.stream()
                        .flatMap(module -> new PublicPackages(module).packages().stream())
                        .toArray(String[]::new));
    }

    /** Prefixes each member with its class. */
    private static List<String> qualified(List<String> lines) {
        List<String> qualified = new ArrayList<>();
        String type = "";
        for (String line : lines) {
            type = line.startsWith(" ") ? type : line;
            qualified.add(line.equals(type) ? line : type + " {" + line.strip() + "}");
        }
        return qualified;
    }
}
