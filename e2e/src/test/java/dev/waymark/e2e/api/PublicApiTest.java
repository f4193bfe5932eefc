package dev.waymark.e2e.api;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * Other programs are compiled against the libraries, so removed or changed elements break them. There is no release yet
 * to compare with, so the public API is recorded in {@code src/test/resources/api}.
 *
 * <p>A removed or changed line is a decision that needs a line in the changelog. To record the current API: {@code
 * mvn -o -q -pl e2e -am test -Dtest=PublicApiTest -Dsurefire.failIfNoSpecifiedTests=false -Dapi.record=true}.
 */
class PublicApiTest {
    private static final Path RECORDED = Path.of("src/test/resources/api").toAbsolutePath();

    @ParameterizedTest
    @ValueSource(strings = {"shared", "client", "worker", "testkit", "spring-boot"})
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
    @ValueSource(strings = {"shared", "client", "worker", "testkit", "spring-boot"})
    void publicApi_isDocumented(String module) throws Exception {
        List<Path> files = new PublicPackages(module).files();

        assertThat(files).isNotEmpty();
        assertThat(UndocumentedElements.in(files)).isEmpty();
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
