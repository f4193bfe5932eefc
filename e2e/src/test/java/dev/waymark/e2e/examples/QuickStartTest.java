package dev.waymark.e2e.examples;

import static org.assertj.core.api.Assertions.assertThat;

import dev.waymark.fixtures.model.AnthropicServer;
import dev.waymark.testkit.model.ModelAnswer;
import dev.waymark.testkit.process.ChildProcess;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import org.junit.jupiter.api.Test;

/** The quick start of the guide, unchanged, with a fake model service. */
class QuickStartTest {
    private static final Path SOURCE =
            Path.of("src/test/java/dev/waymark/e2e/examples/QuickStart.java").toAbsolutePath();

    @Test
    void quickStart_hasAtMostTwentyLines() throws IOException {
        assertThat(Files.readAllLines(SOURCE))
                .filteredOn(line -> !line.isBlank() && !line.startsWith("import ") && !line.startsWith("package "))
                .hasSizeLessThanOrEqualTo(20);
    }

    @Test
    void quickStart_printsTheReply() throws Exception {
        try (AnthropicServer service = new AnthropicServer()) {
            service.answers(
                    ModelAnswer.says().calls("toolu_1", "weather", "{\"name\":\"Oslo\"}"),
                    ModelAnswer.says("Take an umbrella."));
            ChildProcess.Ended ended = ChildProcess.java(ChildProcess.SHORT_LIVED, QuickStart.class)
                    .environment(service.environment())
                    .run(Duration.ofMinutes(2));

            assertThat(ended.out()).endsWith("Take an umbrella.\n");
            assertThat(ended.exitCode()).isZero();
            assertThat(service.received()).hasSize(2);
            assertThat(service.received().get(1).body().toString()).contains("Rain in Oslo");
        }
    }
}
