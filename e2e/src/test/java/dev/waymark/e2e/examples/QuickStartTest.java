package dev.waymark.e2e.examples;

import static org.assertj.core.api.Assertions.assertThat;

import dev.waymark.testkit.model.AnthropicServer;
import dev.waymark.testkit.model.ModelAnswer;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
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
            ProcessBuilder builder = new ProcessBuilder(
                    Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                    "-XX:TieredStopAtLevel=1",
                    "-cp",
                    System.getProperty("java.class.path"),
                    QuickStart.class.getName());
            builder.environment().putAll(service.environment());
            Process process =
                    builder.redirectError(ProcessBuilder.Redirect.DISCARD).start();
            try {
                String printed = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);

                assertThat(printed).endsWith("Take an umbrella.\n");
                assertThat(process.waitFor()).isZero();
                assertThat(service.received()).hasSize(2);
                assertThat(service.received().get(1).body().toString()).contains("Rain in Oslo");
            } finally {
                process.destroyForcibly();
            }
        }
    }
}
