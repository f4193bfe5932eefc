package dev.waymark.worker.agents;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import com.fasterxml.jackson.core.JsonProcessingException;
import dev.waymark.agent.AgentSpec;
import dev.waymark.agent.FallbackModel;
import dev.waymark.agent.ModelOptions;
import dev.waymark.agent.Pricing;
import dev.waymark.contract.PayloadJson;
import dev.waymark.conversation.message.Reply;
import dev.waymark.worker.provider.ModelProviders;
import dev.waymark.worker.tool.java.JavaTools;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** The model settings of agent files. */
class ModelFieldsTest {
    @TempDir
    Path directory;

    @Test
    void options_ofEachProvider_arePartOfTheAgent() throws Exception {
        assertThat(agent("""
                model: anthropic:m-1
                max_tokens: 9000
                options: { effort: high, thinking_budget: 8000, service_tier: standard_only, parallel_calls: false }
                """))
                .isEqualTo(new AgentSpec.Builder("a", "anthropic:m-1")
                        .maxTokens(9000)
                        .options(ModelOptions.NONE
                                .withEffort("high")
                                .withThinkingBudget(8000)
                                .withServiceTier("standard_only")
                                .withParallelCalls(false))
                        .build());
        assertThat(agent("model: openai:m-1\noptions: { temperature: 0, effort: minimal, service_tier: flex }")
                        .options())
                .contains(ModelOptions.NONE
                        .withTemperature(0)
                        .withEffort("minimal")
                        .withServiceTier("flex"));
        assertThat(agent("model: openai:m-1\noptions: {}")).isEqualTo(AgentSpec.of("a", "openai:m-1"));
    }

    @Test
    void options_inHistory_areReadBackAndAbsentIfUnset() throws JsonProcessingException {
        AgentSpec plain = AgentSpec.of("a", "openai:m-1");
        AgentSpec careful = plain.with()
                .options(ModelOptions.NONE.withEffort("high").withTemperature(0.2))
                .build();

        String json = PayloadJson.MAPPER.writeValueAsString(careful);

        assertThat(PayloadJson.MAPPER.writeValueAsString(plain)).doesNotContain("options");
        assertThat(json).contains("\"options\":{\"effort\":\"high\",\"temperature\":0.2}");
        assertThat(PayloadJson.MAPPER.readValue(json, AgentSpec.class)).isEqualTo(careful);
        assertThat(PayloadJson.MAPPER.readValue(
                        json.replace("\"effort\"", "\"luck\":null,\"effort\""), AgentSpec.class))
                .isEqualTo(careful);
    }

    @Test
    void optionsAndLimits_thatTheModelIsKnownToRefuse_areRefused() throws Exception {
        String model = "model: anthropic:claude-opus-5-5\noptions: ";
        assertThat(problem(model + "{ temperature: 0.5 }"))
                .contains("a.yaml:2: options.temperature: claude-opus-5-5 refuses a temperature");
        assertThat(problem(model + "{ thinking: disabled }"))
                .contains("options.thinking: claude-opus-5-5 refuses thinking: disabled");
        assertThat(problem(model + "{ thinking_budget: 2000 }"))
                .contains("options.thinking_budget: claude-opus-5-5 refuses a budget");
        assertThat(problem(model + "{ tool_choice: required }"))
                .contains("options.tool_choice: claude-opus-5-5 refuses a demand for a call");
        assertThat(problem("model: openai:gpt-4o\nsummarize: { when_tokens: 128000 }"))
                .contains("a.yaml:2: summarize.when_tokens: expected less than the model's context window of 128000"
                        + " tokens, found 128000");
        assertThat(agent("model: anthropic:claude-sonnet-5\noptions: { tool_choice: auto, temperature: 0.5 }")
                        .maxTokens())
                .isEqualTo(16_000);
    }

    @Test
    void limits_ofAKnownModel_areItsOwn() throws Exception {
        assertThat(agent("model: anthropic:claude-opus-5-5").maxTokens()).isEqualTo(32_000);
        assertThat(agent("model: anthropic:claude-3-haiku-20240307").maxTokens())
                .isEqualTo(4_096);
        assertThat(agent("model: anthropic:claude-opus-5-5\nmax_tokens: 50").maxTokens())
                .isEqualTo(50);
        assertThat(agent("model: anthropic:claude-opus-5-5\nfallback: [openai:gpt-4o]")
                        .maxTokens())
                .isEqualTo(16_000);
        assertThat(agent("model: openai:gpt-4o\nsummarize: {}")
                        .summaries()
                        .orElseThrow()
                        .whenTokens())
                .isEqualTo(108_800);
        assertThat(agent("model: anthropic:claude-opus-5-5\nsummarize: {}")
                        .summaries()
                        .orElseThrow()
                        .whenTokens())
                .isEqualTo(170_000);
    }

    @Test
    void fallbackOn_refusal_isRead() throws Exception {
        assertThat(agent("model: openai:m-1\nfallback: [openai:m-2]\nfallback_on: [refusal]")
                        .fallbackOnRefusal())
                .isTrue();
        assertThat(agent("model: openai:m-1\nfallback: [openai:m-2]").fallbackOnRefusal())
                .isFalse();
        assertThat(problem("model: openai:m-1\nfallback_on: [refusal]"))
                .contains("a.yaml:2: fallback_on: needs fallback");
        assertThat(problem("model: openai:m-1\nfallback: [openai:m-2]\nfallback_on: [outage]"))
                .contains("a.yaml:3: fallback_on[0]: expected refusal, found outage");
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "anthropic:m | temprature: 1     | options.temprature: unknown field. Did you mean \"temperature\"?",
                "anthropic:m | thinking: enabled | options.thinking: expected one of adaptive, between_tools, disabled, found enabled",
                "anthropic:m | { thinking: adaptive, thinking_budget: 2000 } | options.thinking: not allowed with"
                        + " thinking_budget",
                "anthropic:m | { thinking: adaptive, temperature: 1 } | options.temperature: not allowed with thinking:"
                        + " adaptive",
                "openai:m    | top_k: 1          | options.top_k: unknown field. Expected one of effort, temperature,"
                        + " thinking, thinking_display, thinking_budget, service_tier, tool_choice, parallel_calls, cache",
                "openai:m    | thinking_budget: 2000 | options.thinking_budget: unknown option. openai knows effort,"
                        + " temperature, thinking_display, service_tier, tool_choice, parallel_calls",
                "plain:m     | effort: high      | options.effort: unknown option. Models of plain have no options",
                "anthropic:m | effort: hihg      | options.effort: expected one of low, medium, high, xhigh, max,"
                        + " found hihg",
                "openai:m    | tool_choice: fetch | options: tool_choice: expected auto, required, none or the name of a"
                        + " tool of the agent, found fetch",
                "openai:m    | parallel_calls: some | options.parallel_calls: expected true or false",
                "anthropic:m | { thinking: adaptive, tool_choice: required } | options.tool_choice: not allowed with"
                        + " thinking",
                "anthropic:m | { thinking_budget: 2000, tool_choice: fetch } | options.tool_choice: not allowed with"
                        + " thinking",
                "anthropic:m | temperature: 1.5  | options.temperature: expected 0 to 1, found 1.5",
                "openai:m    | temperature: 2.5  | options.temperature: expected 0 to 2, found 2.5",
                "openai:m    | temperature: -1   | options.temperature: expected 0 to 2, found -1",
                "openai:m    | temperature: hot  | options.temperature: expected a number, found hot",
                "openai:m    | service_tier: gold | options.service_tier: expected one of auto, default, flex, scale,"
                        + " priority, fast, found gold",
                "anthropic:m | thinking_budget: 100 | options.thinking_budget: expected at least 1024 and less than"
                        + " max_tokens, which is 16000, found 100",
                "anthropic:m | thinking_budget: 16000 | options.thinking_budget: expected at least 1024 and less than"
                        + " max_tokens, which is 16000, found 16000",
            })
    void option_thatItsProviderWouldRefuse_isReportedWithItsLine(String model, String option, String problem) {
        String words = problem("model: " + model + "\noptions:\n  " + option);

        assertThat(words).contains("a.yaml:3: " + problem);
    }

    @Test
    void options_mutuallyExclusive_areReportedWithOtherProblems() {
        assertThat(problem("model: anthropic:m\noptions:\n  effort: most\n  temperature: 1\n  thinking_budget: 2000"))
                .contains("a.yaml:3: options.effort: expected one of")
                .contains("a.yaml:4: options.temperature: not allowed with thinking_budget")
                .doesNotContain("a.yaml:5");
    }

    @Test
    void fallback_withItsOwnOptionsAndPrice_isPartOfTheAgent() throws Exception {
        AgentSpec agent = agent("""
                model: anthropic:m-1
                options: { effort: max }
                fallback:
                  - openai:m-2
                  - { model: openai:m-3, options: { effort: none }, pricing: { input: 1, output: 2 } }
                """);

        assertThat(agent.fallback())
                .containsExactly(
                        FallbackModel.of("openai:m-2"),
                        FallbackModel.of("openai:m-3")
                                .with(ModelOptions.NONE.withEffort("none"))
                                .with(Pricing.of("1", "2")));
        String json = PayloadJson.MAPPER.writeValueAsString(agent);
        assertThat(PayloadJson.MAPPER.readValue(json, AgentSpec.class)).isEqualTo(agent);
        assertThat(PayloadJson.MAPPER.writeValueAsString(AgentSpec.of("a", "openai:m-1")))
                .doesNotContain("fallback");
    }

    @Test
    void retryFor_isStoredAndReadBack() throws Exception {
        AgentSpec agent = agent("model: anthropic:m-1\nretry_for: 10m");

        assertThat(agent)
                .isEqualTo(new AgentSpec.Builder("a", "anthropic:m-1")
                        .retryFor(Duration.ofMinutes(10))
                        .build());
        assertThat(agent("model: anthropic:m-1\nretry_for: 0").retryFor()).contains(Duration.ZERO);
        String json = PayloadJson.MAPPER.writeValueAsString(agent);
        assertThat(PayloadJson.MAPPER.readValue(json, AgentSpec.class)).isEqualTo(agent);
        assertThat(PayloadJson.MAPPER.readValue(json.replace("\"PT10M\"", "null"), AgentSpec.class))
                .isEqualTo(PayloadJson.MAPPER.readValue(
                        json.replace(",\"retryFor\":\"PT10M\"", ",\"luck\":1"), AgentSpec.class))
                .returns(Optional.empty(), AgentSpec::retryFor);
        assertThat(PayloadJson.MAPPER.writeValueAsString(AgentSpec.of("a", "openai:m-1")))
                .doesNotContain("retryFor");
    }

    @Test
    void silence_ofEachModel_isStoredAndReadBack() throws Exception {
        AgentSpec agent = agent("""
                model: anthropic:m-1
                silence: 60s
                fallback: [{ model: openai:m-2, silence: 2m }, openai:m-3]
                """);

        assertThat(agent)
                .isEqualTo(new AgentSpec.Builder("a", "anthropic:m-1")
                        .silence(Duration.ofSeconds(60))
                        .fallback(List.of(
                                FallbackModel.of("openai:m-2").withSilence(Duration.ofMinutes(2)),
                                FallbackModel.of("openai:m-3")))
                        .build());
        String json = PayloadJson.MAPPER.writeValueAsString(agent);
        assertThat(json).contains("\"silence\":\"PT1M\"").contains("\"silence\":\"PT2M\"");
        assertThat(PayloadJson.MAPPER.readValue(json, AgentSpec.class)).isEqualTo(agent);
        assertThat(PayloadJson.MAPPER.readValue(json.replace("\"PT1M\"", "null"), AgentSpec.class))
                .isEqualTo(PayloadJson.MAPPER.readValue(
                        json.replace(",\"silence\":\"PT1M\"", ",\"luck\":1"), AgentSpec.class))
                .returns(Optional.empty(), AgentSpec::silence);
        assertThat(PayloadJson.MAPPER.writeValueAsString(AgentSpec.of("a", "openai:m-1")
                        .with()
                        .fallback(List.of(FallbackModel.of("x:y")))
                        .build()))
                .doesNotContain("silence");
    }

    @ParameterizedTest
    @CsvSource({"0, PT0S", "'\"0\"', PT0S", "0s, PT0S", "500ms, PT0.5S", "1m, PT1M"})
    void fuse_durationOrZero_isRead(String field, Duration limit) throws Exception {
        assertThat(agent("model: openai:m-1\nfuse: " + field).fuse()).contains(limit);
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "2   | expected a duration such as 500ms, 5s, 2m or 24h, found 2",
                "61s | expected 0 to 1m, found 61s",
            })
    void fuse_invalidLimit_isReportedWithItsLine(String field, String problem) {
        assertThat(problem("model: openai:m-1\nfuse: " + field)).contains("a.yaml:2: fuse: " + problem);
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "silence: 500ms | a.yaml:2: silence: expected 1s to 9m, found 500ms",
                "silence: 10m   | a.yaml:2: silence: expected 1s to 9m, found 10m",
                "silence: 60    | a.yaml:2: silence: expected a duration such as 500ms, 5s, 2m or 24h, found 60",
                "silence: never | a.yaml:2: silence: expected a duration such as 500ms, 5s, 2m or 24h, found never",
                "retry_for: 25h | a.yaml:2: retry_for: expected 0 to 24h, found 25h",
                "retry_for: on  | a.yaml:2: retry_for: expected",
                "silense: 60s   | a.yaml:2: silense: unknown field. Did you mean \"silence\"?",
                "fallback: [{ model: 'openai:m', silence: 0s }] | a.yaml:2: fallback[0].silence: expected 1s to 9m,"
                        + " found 0s",
            })
    void silence_invalidLimit_isReportedWithItsLine(String field, String problem) {
        assertThat(problem("model: anthropic:m-1\n" + field)).contains(problem);
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "openai              | a.yaml:3: fallback[0]: expected PROVIDER:MODEL with one of the providers",
                "anthropic:m-1       | a.yaml:3: fallback[0]: duplicate model: anthropic:m-1",
                "{ modell: x }       | a.yaml:3: fallback[0].modell: unknown field. Did you mean \"model\"?",
                "{ model: 'openai:m', options: { thinking_budget: 2000 } } | a.yaml:3: fallback[0].options."
                        + "thinking_budget: unknown option. openai knows",
                "{ model: 'openai:m', pricing: { input: 1 } } | a.yaml:3: fallback[0].pricing.output: is missing",
            })
    void fallback_unusable_isReportedWithItsLine(String item, String problem) {
        assertThat(problem("model: anthropic:m-1\nfallback:\n  - " + item)).contains(problem);
    }

    @Test
    void fallbacks_tooManyOrWithoutAPriceForABudget_areReported() {
        assertThat(problem("model: openai:m\nfallback: [openai:a, openai:b, openai:c, openai:d, openai:e]"))
                .contains("a.yaml:2: fallback: too many entries: 5, at most 4");
        assertThat(problem("model: openai:gpt-5\nfallback: [openai:gpt-5-mini, openai:m-1]\nbudget: { usd: 1 }"))
                .contains("a.yaml:3: budget.usd: no price is known for openai:m-1. Set pricing");
    }

    private String problem(String text) {
        AgentInvalid problems = catchThrowableOfType(AgentInvalid.class, () -> agent(text));
        return problems.getMessage() + "\n" + String.join("\n", problems.others());
    }

    private AgentSpec agent(String text) throws AgentInvalid, IOException {
        Files.writeString(directory.resolve("a.yaml"), text);
        ModelProviders providers = ModelProviders.fromEnvironment().plus(Map.of("plain", request -> Reply.of()));
        return AgentDirectory.load(directory, providers, JavaTools.NONE)
                .find("a")
                .orElseThrow();
    }
}
