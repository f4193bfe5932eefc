package dev.waymark.e2e.product;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.regex.Pattern;
import java.util.stream.Stream;

/**
 * A row of the guide's table of applications: a version of Spring Boot, and the library that the application's model
 * comes from.
 *
 * @param models {@code Waymark}, or a library and its version
 * @param bom where the BOM of that library is
 */
public record LibraryModels(String springBoot, String models, String bom) {
    private static final Pattern ROW =
            Pattern.compile("^\\| (\\d[\\d.]*) \\| (\\w[^|]*) \\| ([^|]*) \\|$", Pattern.MULTILINE);

    private static final String CONFIGURATION = """
            package example;

            import dev.waymark.model.ModelProvider;
            import java.util.Map;
            import org.springframework.beans.factory.annotation.Value;
            import org.springframework.boot.autoconfigure.condition.ConditionalOnProperty;
            import org.springframework.context.annotation.Bean;
            import org.springframework.context.annotation.Configuration;

            @Configuration
            @ConditionalOnProperty("library")
            class Models {
                @Bean
                ModelProvider anthropic(
                        @Value("${ANTHROPIC_BASE_URL}") String address, @Value("${ANTHROPIC_API_KEY}") String key) {
                    return %s;
                }
            }
            """;

    /** Returns the rows of the table on this page. */
    public static List<LibraryModels> in(Path page) throws IOException {
        return ROW.matcher(Files.readString(page))
                .results()
                .map(row -> new LibraryModels(row.group(1), row.group(2), row.group(3)))
                .toList();
    }

    /** The arguments that make the application use the library. */
    public String[] arguments(String... others) {
        return models.equals("Waymark")
                ? others
                : Stream.concat(Arrays.stream(others), Stream.of("--library=" + models))
                        .toArray(String[]::new);
    }

    public GuideProject in(GuideProject project) {
        GuideProject onBoot = project.withParent(springBoot);
        if (models.equals("Waymark")) {
            return onBoot;
        }
        String version = models.substring(models.lastIndexOf(' ') + 1);
        if (models.startsWith("LangChain4j")) {
            return onBoot.withFile("src/main/java/example/Models.java", CONFIGURATION.formatted("""
                                    dev.waymark.langchain4j.LangChainProvider.of(Map.of(
                                            "claude-haiku-4-5",
                                            dev.langchain4j.model.anthropic.AnthropicStreamingChatModel.builder()
                                                    .baseUrl(address + "/v1/")
                                                    .apiKey(key)
                                                    .modelName("claude-haiku-4-5")
                                                    .build()))"""))
                    .withDependencies(
                            dependency("dev.waymark", "waymark-langchain4j", "")
                                    + dependency("dev.langchain4j", "langchain4j-anthropic", version),
                            "",
                            dependency("dev.langchain4j", "langchain4j-core", version));
        }
        String managed = dependency("org.springframework.ai", "spring-ai-bom", version)
                .replace("</version>", "</version><type>pom</type><scope>import</scope>");
        String model = version.startsWith("1.") ? """
                org.springframework.ai.anthropic.AnthropicChatModel.builder()
                                .anthropicApi(org.springframework.ai.anthropic.api.AnthropicApi.builder()
                                        .baseUrl(address)
                                        .apiKey(key)
                                        .build())
                                .defaultOptions(org.springframework.ai.anthropic.AnthropicChatOptions.builder()
                                        .model("claude-haiku-4-5")
                                        .build())
                                .build()""" : """
                org.springframework.ai.anthropic.AnthropicChatModel.builder()
                                .options(org.springframework.ai.anthropic.AnthropicChatOptions.builder()
                                        .baseUrl(address)
                                        .apiKey(key)
                                        .model("claude-haiku-4-5")
                                        .maxRetries(0)
                                        .build())
                                .build()""";
        return onBoot.withFile(
                        "src/main/java/example/Models.java",
                        CONFIGURATION.formatted("dev.waymark.springai.SpringAiProvider.of(Map.of(\"claude-haiku-4-5\", "
                                + model + "))"))
                .withDependencies(
                        dependency("dev.waymark", "waymark-spring-ai", "")
                                + dependency("org.springframework.ai", "spring-ai-anthropic", ""),
                        bom.startsWith("before") ? managed : "",
                        bom.startsWith("after") ? managed : "");
    }

    private static String dependency(String group, String artifact, String version) {
        return "<dependency><groupId>%s</groupId><artifactId>%s</artifactId>%s</dependency>\n"
                .formatted(group, artifact, version.isEmpty() ? "" : "<version>" + version + "</version>");
    }
}
