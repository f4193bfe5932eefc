package dev.waymark.worker.agents;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import dev.waymark.agent.AgentSpec;
import dev.waymark.agent.ToolSpec;
import dev.waymark.contract.PayloadJson;
import dev.waymark.conversation.policy.AnnounceRule;
import dev.waymark.conversation.policy.AnnouncedEvent;
import dev.waymark.conversation.policy.SummaryRule;
import dev.waymark.worker.yaml.YamlValue;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/** The schema of agent files agrees with the guide, the example agents and the limits in Java. */
class AgentSchemaTest {
    private static final Path ROOT = Path.of("").toAbsolutePath().getParent();
    private static final Pattern TABLE =
            Pattern.compile("<!-- fields of (\\S+), printed by AgentSchemaTest -->\\n\\n(?:\\|.*\\n)*\\n?");
    private static final JsonNode SCHEMA = schema();

    /** {@code -Dpage.record=true} writes the tables into the page. */
    @Test
    void guide_hasEveryField() throws IOException {
        Path file = ROOT.resolve("docs/guide/agent-files.md");
        String printed = TABLE.matcher(Files.readString(file))
                .replaceAll(found -> Matcher.quoteReplacement("<!-- fields of " + found.group(1)
                        + ", printed by AgentSchemaTest -->\n\n" + table(found.group(1)) + "\n"));
        if (Boolean.getBoolean("page.record")) {
            Files.writeString(file, printed);
        }

        assertThat(Files.readString(file)).isEqualTo(printed);
        assertThat(printed)
                .contains(
                        "| [`fuse`](#calls-that-run-with-the-model-call) |",
                        "| [`verify_forbids`](",
                        "| [`mcp`](mcp.md) |");
    }

    @Test
    void everyField_isDescribed_andEveryPatternHasWords() {
        List<String> silent = new ArrayList<>();
        visit("", SCHEMA, silent);
        assertThat(silent).isEmpty();
    }

    @Test
    void limitsAndDefaults_areThoseOfJava() {
        assertThat(at("/properties/max_iterations/default").intValue()).isEqualTo(AgentSpec.DEFAULT_MAX_ITERATIONS);
        assertThat(at("/properties/continue_cut/maximum").intValue()).isEqualTo(AgentSpec.MOST_CONTINUATIONS);
        assertThat(at("/properties/fallback/maxItems").intValue()).isEqualTo(AgentSpec.MOST_FALLBACKS);
        assertThat(at("/properties/announce/maxProperties").intValue()).isEqualTo(AnnounceRule.MOST_RECEIVERS);
        assertThat(at("/properties/summarize/properties/when_tokens/default").longValue())
                .isEqualTo(SummaryRule.DEFAULT.whenTokens());
        assertThat(at("/properties/summarize/properties/keep_messages/default").intValue())
                .isEqualTo(SummaryRule.DEFAULT.keepMessages());
        assertThat(at("/$defs/tool/properties/timeout/default").textValue())
                .isEqualTo(ToolSpec.DEFAULT_TIMEOUT.toSeconds() + "s");
        assertThat(at("/$defs/silence/default").textValue()).isEqualTo(AgentSpec.DEFAULT_SILENCE.toMinutes() + "m");
        assertThat(at("/properties/fuse/default").textValue()).isEqualTo(AgentSpec.DEFAULT_FUSE.toSeconds() + "s");
        assertThat(at("/properties/announce/additionalProperties/properties/events/items/enum"))
                .extracting(JsonNode::textValue)
                .containsExactlyElementsOf(Arrays.stream(AnnouncedEvent.values())
                        .map(AnnouncedEvent::wireName)
                        .toList());
    }

    @Test
    void exampleAgents_matchTheSchema_thatTheirFirstLineNames() throws Exception {
        List<Path> files = new ArrayList<>();
        for (String directory : List.of("agents", "examples/front-ends/agents")) {
            try (Stream<Path> all = Files.list(ROOT.resolve(directory))) {
                all.filter(file -> file.toString().matches(".*/[a-z]+\\.yaml")).forEach(files::add);
            }
        }
        assertThat(files).hasSizeGreaterThan(8);
        for (Path file : files) {
            String first = Files.readAllLines(file).get(0);
            Path named = file.resolveSibling(first.replace("# yaml-language-server: $schema=", ""));
            assertThat(Files.readString(named.normalize())).as(file.toString()).isEqualTo(AgentDirectory.schema());
            YamlValue root = YamlValue.read(file);
            AgentFile.SCHEMA.check(root);
            root.problems().end();
        }
    }

    private static String table(String pointer) {
        JsonNode owner = at(pointer.equals("/") ? "" : pointer);
        List<String> required = new ArrayList<>();
        owner.path("required").forEach(name -> required.add(name.textValue()));
        StringBuilder table = new StringBuilder("| field | meaning |\n|---|---|\n");
        for (Map.Entry<String, JsonNode> field : owner.path("properties").properties()) {
            String link = keyword(field.getValue(), "$comment").asText();
            String name = "`" + field.getKey() + "`";
            JsonNode standard = keyword(field.getValue(), "default");
            table.append("| ")
                    .append(link.isEmpty() ? name : "[" + name + "](" + link + ")")
                    .append(required.contains(field.getKey()) ? " (required)" : "")
                    .append(" | ")
                    .append(keyword(field.getValue(), "description").textValue())
                    .append(standard.isMissingNode() ? "" : ". Default: `" + standard.asText() + "`")
                    .append(" |\n");
        }
        return table.toString();
    }

    /** A keyword of a field, or of the definition that it refers to. */
    private static JsonNode keyword(JsonNode field, String name) {
        return field.has(name) || !field.has("$ref")
                ? field.path(name)
                : keyword(at(field.get("$ref").textValue().substring(1)), name);
    }

    /** Conditions are not visited: their properties have no words of their own. */
    private static void visit(String path, JsonNode part, List<String> silent) {
        if (part.has("pattern") && !part.has("errorMessage")) {
            silent.add(path + ": no errorMessage");
        }
        part.path("properties").properties().forEach(field -> {
            if (!field.getValue().has("not")
                    && keyword(field.getValue(), "description").isMissingNode()) {
                silent.add(path + "." + field.getKey() + ": no description");
            }
            visit(path + "." + field.getKey(), field.getValue(), silent);
        });
        Stream.of("items", "additionalProperties", "propertyNames")
                .filter(part::has)
                .forEach(keyword -> visit(path + "/" + keyword, part.get(keyword), silent));
        if (!path.contains("/$defs")) {
            part.path("$defs").properties().stream()
                    .filter(each -> !List.of("ownTool", "not").contains(each.getKey()))
                    .forEach(each -> visit("/$defs/" + each.getKey(), each.getValue(), silent));
        }
    }

    private static JsonNode at(String pointer) {
        JsonNode part = SCHEMA.at(pointer);
        assertThat(part.isMissingNode()).as(pointer).isFalse();
        return part;
    }

    private static JsonNode schema() {
        try {
            return PayloadJson.MAPPER.readTree(AgentDirectory.schema());
        } catch (IOException e) {
            throw new IllegalStateException(e);
        }
    }
}
