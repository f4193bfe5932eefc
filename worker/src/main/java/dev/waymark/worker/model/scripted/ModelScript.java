package dev.waymark.worker.model.scripted;

import dev.waymark.conversation.message.Part;
import dev.waymark.conversation.message.Reply;
import dev.waymark.conversation.value.Json;
import dev.waymark.conversation.value.Usage;
import dev.waymark.model.ModelFailure;
import dev.waymark.worker.yaml.YamlFields;
import dev.waymark.worker.yaml.YamlProblem;
import dev.waymark.worker.yaml.YamlValue;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;

/** The entries of a script file, at least one. */
record ModelScript(List<Line> lines) {

    /** An entry of {@code replies}: a reply or an error, sent after {@code delay}. */
    record Line(Duration delay, Optional<Reply> reply, Optional<Error> error) {}

    record Error(String type, String message, boolean retryable) {
        ModelFailure failure() {
            return retryable ? ModelFailure.passing(type, message) : ModelFailure.permanent(type, message);
        }
    }

    ModelScript {
        lines = List.copyOf(lines);
    }

    static ModelScript read(Path file) throws YamlProblem {
        YamlFields fields = YamlValue.read(file).fields();
        YamlValue replies = fields.require("replies");
        fields.end();
        List<Line> lines = new ArrayList<>();
        for (YamlValue item : replies.items()) {
            lines.add(line(item));
        }
        if (lines.isEmpty()) {
            throw replies.problem("expected at least one reply");
        }
        return new ModelScript(lines);
    }

    /** The entry for a transcript with this many assistant messages. The last entry repeats. */
    Line line(long assistantMessages) {
        return lines.get((int) Math.min(assistantMessages, lines.size() - 1));
    }

    private static Line line(YamlValue item) throws YamlProblem {
        YamlFields fields = item.fields();
        Optional<YamlValue> text = fields.take("text");
        Optional<YamlValue> calls = fields.take("tool_calls");
        Optional<YamlValue> usage = fields.take("usage");
        Optional<YamlValue> delay = fields.take("delay");
        Optional<YamlValue> error = fields.take("error");
        fields.end();
        Duration wait = delay.isPresent() ? delay.get().duration() : Duration.ZERO;
        if (error.isPresent()) {
            if (text.isPresent() || calls.isPresent() || usage.isPresent()) {
                throw error.get().problem("not allowed together with text, tool_calls or usage");
            }
            return new Line(wait, Optional.empty(), Optional.of(error(error.get())));
        }
        if (text.isEmpty() && calls.isEmpty()) {
            throw item.problem("expected text, tool_calls or error");
        }
        List<Part> parts = new ArrayList<>();
        if (text.isPresent() && !text.get().text().isEmpty()) {
            parts.add(new Part.Text(text.get().text()));
        }
        if (calls.isPresent()) {
            parts.addAll(calls(calls.get()));
        }
        Usage tokens = usage.isPresent() ? usage(usage.get()) : Usage.NONE;
        Reply reply = new Reply(parts, tokens, calls.isPresent() ? "tool_use" : "end_turn");
        return new Line(wait, Optional.of(reply), Optional.empty());
    }

    private static List<Part> calls(YamlValue list) throws YamlProblem {
        List<Part> calls = new ArrayList<>();
        Set<String> ids = new HashSet<>();
        for (YamlValue item : list.items()) {
            YamlFields fields = item.fields();
            YamlValue id = fields.require("id");
            if (!ids.add(id.words())) {
                throw id.problem("duplicate call id: " + id.words());
            }
            String name = fields.require("name").words();
            Optional<YamlValue> input = fields.take("input");
            calls.add(new Part.ToolUse(
                    id.words(), name, input.isPresent() ? input.get().json() : Json.EMPTY_OBJECT));
            fields.end();
        }
        if (calls.isEmpty()) {
            throw list.problem("expected at least one call");
        }
        return calls;
    }

    private static Usage usage(YamlValue value) throws YamlProblem {
        YamlFields fields = value.fields();
        Optional<YamlValue> input = fields.take("input_tokens");
        Optional<YamlValue> output = fields.take("output_tokens");
        fields.end();
        return new Usage(
                input.isPresent() ? input.get().integer(0) : 0,
                output.isPresent() ? output.get().integer(0) : 0);
    }

    private static Error error(YamlValue value) throws YamlProblem {
        YamlFields fields = value.fields();
        String type = fields.require("type").words();
        String message = fields.require("message").text();
        Optional<YamlValue> retryable = fields.take("retryable");
        fields.end();
        return new Error(type, message, retryable.isPresent() && retryable.get().flag());
    }
}
