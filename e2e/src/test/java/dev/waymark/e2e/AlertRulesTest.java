package dev.waymark.e2e;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** The alert rules and the dashboard use only metrics that the guide lists, and the guide says what to do about each alert. */
class AlertRulesTest {
    private static final Path ROOT = Path.of("").toAbsolutePath().getParent();
    private static final Pattern METRIC = Pattern.compile("\\bwaymark_[a-z_]+");

    @ParameterizedTest
    @ValueSource(strings = {"deploy/metrics/alerts.yml", "deploy/metrics/dashboard.json"})
    void metrics_areListedInTheGuide(String file) {
        List<String> listed = names(METRIC, guide().split("## Runbook")[0]).toList();

        assertThat(names(METRIC, read(file)).map(name -> name.replaceFirst("_(bucket|count|sum|max)$", "")))
                .isNotEmpty()
                .allSatisfy(name -> assertThat(listed).contains(name));
    }

    @Test
    void runbook_hasASectionForEachAlert() {
        List<String> alerts = names(Pattern.compile("(?<=- alert: )\\w+"), read("deploy/metrics/alerts.yml"))
                .toList();

        assertThat(names(Pattern.compile("(?m)(?<=^### )\\w+$"), guide())).containsExactlyElementsOf(alerts);
    }

    private static String guide() {
        return read("docs/guide/metrics.md");
    }

    private static Stream<String> names(Pattern pattern, String text) {
        return pattern.matcher(text).results().map(match -> match.group());
    }

    private static String read(String file) {
        try {
            return Files.readString(ROOT.resolve(file));
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }
}
