package dev.waymark.worker.limit;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.waymark.agent.AgentSpec;
import dev.waymark.conversation.message.Part;
import dev.waymark.conversation.message.Reply;
import dev.waymark.model.ModelProvider;
import dev.waymark.worker.limit.ServiceLimits.Limit;
import dev.waymark.worker.provider.ModelProviders;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class ServiceLimitsTest {
    private static final ModelProvider PROVIDER = request -> Reply.of(new Part.Text("Hello"));

    @TempDir
    Path directory;

    /** {@code also} is a second name of {@code one}. */
    private static ModelProviders providers() {
        Map<String, ModelProvider> byName = new LinkedHashMap<>();
        byName.put("one", PROVIDER);
        byName.put("also", PROVIDER);
        byName.put("two", request -> PROVIDER.reply(request));
        return ModelProviders.of(byName);
    }

    private ServiceLimits read(String text) throws Exception {
        return ServiceLimits.read(Files.writeString(directory.resolve("limits.yaml"), text), providers());
    }

    @Test
    void model_countsTowardsItsOwnLimitOrElseItsProviders() throws Exception {
        ServiceLimits limits = read("""
                limits:
                  one:big: { requests_per_minute: 600, at_a_time: 20 }
                  one: { at_a_time: 5 }
                """);

        assertThat(limits.byName())
                .isEqualTo(Map.of(
                        "one:big", new Limit(Optional.of(600), Optional.of(20)),
                        "one", new Limit(Optional.empty(), Optional.of(5))));
        assertThat(limits.nameFor("one:big")).contains("one:big");
        assertThat(limits.nameFor("one:small")).contains("one");
        assertThat(limits.nameFor("two:big")).isEmpty();
    }

    @Test
    void model_countsUnderEachOfItsNames() throws Exception {
        ServiceLimits limits = read("limits: { 'also:big': { at_a_time: 1 } }");

        assertThat(limits.byName()).containsOnlyKeys("one:big");
        assertThat(limits.nameFor("also:big")).contains("one:big");
    }

    @Test
    void emptyLimit_takesItsModelOutOfTheProvidersLimit() throws Exception {
        ServiceLimits limits = read("limits: { one: { at_a_time: 1 }, 'one:big': {} }");

        assertThat(limits.nameFor("one:big")).isEmpty();
        assertThat(limits.nameFor("one:small")).contains("one");
        assertThat(limits.byName()).containsKey("one:big");
    }

    @Test
    void limitOfNoAgent_isWarnedOf_andMissingOnesAreKnown() throws Exception {
        ServiceLimits limits = read("limits: { 'one:bgi': { at_a_time: 1 }, two: { at_a_time: 1 } }");
        List<AgentSpec> agents = List.of(AgentSpec.of("a", "one:big"), AgentSpec.of("b", "two:small"));

        assertThat(limits.unused(agents))
                .containsExactly(
                        "no agent has a model that counts towards the limit one:bgi. Did you mean \"one:big\"?");
        assertThat(limits.absent(agents)).containsExactly("one:big", "one", "two:small");
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "limits: { 'one:big': { requests_per_minut: 5 } } | requests_per_minute",
                "limits: { 'one:big': { requests_per_minute: 0 } } | requests_per_minute: ",
                "limits: { 'one:big': { requests_per_minute: 1000001 } } | requests_per_minute: ",
                "limits: { 'one:big': { requests_per_minute: 1.5 } } | requests_per_minute: ",
                "limits: { 'one:big': { at_a_time: many } } | at_a_time: ",
                "limits: { 'one:big': 5 } | one:big",
                "limits: { 'two:': { at_a_time: 5 } } | expected PROVIDER or PROVIDER:MODEL",
                "limits: { 'twoo:big': { at_a_time: 5 } } | Did you mean \"two\"?",
                "limits: { one: { at_a_time: 5 }, also: { at_a_time: 6 } } | limits one a second time",
                "limit: { one: { at_a_time: 5 } } | limits",
                "one: { at_a_time: 5 } | limits",
                "5 | expected"
            })
    void file_withAMistake_isRefusedWithItsPlace(String text, String words) {
        assertThatThrownBy(() -> read(text)).hasMessageContaining(words).hasMessageContaining("limits.yaml:1");
    }

    @Test
    void nameThatIsTooLong_isRefused() {
        assertThatThrownBy(() -> read("limits: { 'one:" + "x".repeat(200) + "': {} }"))
                .hasMessageContaining("a name has at most 200 characters");
    }
}
