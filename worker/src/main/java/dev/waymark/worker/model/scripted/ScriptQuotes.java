package dev.waymark.worker.model.scripted;

import dev.waymark.conversation.message.Message;
import dev.waymark.conversation.message.Part;
import dev.waymark.conversation.message.Reply;
import dev.waymark.conversation.value.Json;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * Fills in results: {@code {{ID}}} in texts and arguments of a script is replaced with the result of the call with this
 * id. An unknown id stays as it is.
 */
final class ScriptQuotes {
    private static final Pattern QUOTE = Pattern.compile("\\{\\{([A-Za-z0-9_~-]+)}}");

    private final Map<String, String> results = new LinkedHashMap<>();

    ScriptQuotes(List<Message> messages) {
        for (Message message : messages) {
            for (Part.ToolResult result : message.toolResults()) {
                // The output of programs usually ends with a line break.
                results.put(result.toolUseId(), result.content().stripTrailing());
            }
        }
    }

    Reply in(Reply written) {
        if (results.isEmpty()) {
            return written;
        }
        return new Reply(written.content().stream().map(this::in).toList(), written.usage(), written.stop());
    }

    private Part in(Part part) {
        if (part instanceof Part.Text text) {
            return new Part.Text(in(text.text()));
        }
        return part instanceof Part.ToolUse use
                ? new Part.ToolUse(use.id(), use.name(), Json.of(in(use.input().value())))
                : part;
    }

    private @Nullable Object in(@Nullable Object tree) {
        if (tree instanceof Map<?, ?> map) {
            Map<String, Object> copy = new LinkedHashMap<>();
            map.forEach((name, value) -> copy.put((String) name, in(value)));
            return copy;
        }
        if (tree instanceof List<?> list) {
            return list.stream().map(this::in).toList();
        }
        return tree instanceof String text ? in(text) : tree;
    }

    private String in(String text) {
        return QUOTE.matcher(text).replaceAll(quote -> {
            String result = results.getOrDefault(quote.group(1), quote.group());
            return Matcher.quoteReplacement(result);
        });
    }
}
