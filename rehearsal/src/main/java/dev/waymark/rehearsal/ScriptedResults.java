package dev.waymark.rehearsal;

import dev.waymark.conversation.call.Call;
import dev.waymark.conversation.value.Json;
import dev.waymark.tool.ToolArguments;
import dev.waymark.worker.yaml.YamlFields;
import dev.waymark.worker.yaml.YamlProblem;
import dev.waymark.worker.yaml.YamlValue;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;

/**
 * Results for calls that a thread did not record, in a file:
 *
 * <pre>{@code
 * results:
 *   - { tool: refund, match: { properties: { order: { const: "1002" } } }, result: refunded }
 *   - { tool: refund, error: the order is unknown }
 * }</pre>
 *
 * The first entry for the tool whose schema, if any, matches the arguments gives the result.
 */
public record ScriptedResults(List<Entry> entries) {
    public static final ScriptedResults NONE = new ScriptedResults(List.of());

    public ScriptedResults {
        entries = List.copyOf(entries);
    }

    /** @param match a JSON Schema for the arguments; empty for any arguments */
    public record Entry(String tool, Optional<Json> match, String content, boolean isError) {
        private boolean matches(Call call) {
            return tool.equals(call.tool())
                    && match.flatMap(schema -> ToolArguments.problem(schema, call.args()))
                            .isEmpty();
        }
    }

    public static ScriptedResults read(Path file) throws YamlProblem {
        YamlFields fields = YamlValue.read(file).fields();
        List<Entry> entries = fields.require("results").items(ScriptedResults::entry);
        fields.end();
        return new ScriptedResults(entries);
    }

    private static Entry entry(YamlValue value) throws YamlProblem {
        YamlFields fields = value.fields();
        String tool = fields.require("tool").words();
        Optional<YamlValue> match = fields.take("match");
        Optional<YamlValue> error = fields.take("error");
        String content = error.isPresent()
                ? error.get().text()
                : fields.require("result").text();
        fields.end();
        return new Entry(
                tool,
                match.isPresent() ? Optional.of(Check.schema(match.get())) : Optional.empty(),
                content,
                error.isPresent());
    }

    Optional<Entry> of(Call call) {
        return entries.stream().filter(entry -> entry.matches(call)).findFirst();
    }
}
