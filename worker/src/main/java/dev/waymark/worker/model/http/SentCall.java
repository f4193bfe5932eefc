package dev.waymark.worker.model.http;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.waymark.conversation.message.Part;
import dev.waymark.conversation.value.Json;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * The parts of a call that the service expects back unchanged: the spelling of its arguments, such as {@code 1.50}, and
 * fields that Waymark does not know, such as {@code caller}.
 */
public final class SentCall {
    private static final String ARGUMENTS = "arguments";
    private static final String FIELDS = "fields";
    private static final List<String> KNOWN = List.of("type", "id", "name", "input");

    private SentCall() {}

    /** The unknown fields of a block, and the spelling of its arguments if it differs from our own. */
    public static Optional<Json> of(ObjectNode block, Optional<String> spelling) throws JsonProcessingException {
        Map<String, Object> sent = new LinkedHashMap<>();
        spelling.ifPresent(text -> sent.put(ARGUMENTS, text));
        ObjectNode others = block.deepCopy();
        others.remove(KNOWN);
        if (!others.isEmpty()) {
            sent.put(FIELDS, ProviderJson.MAPPER.treeToValue(others, Object.class));
        }
        return sent.isEmpty() ? Optional.empty() : Optional.of(Json.of(sent));
    }

    /** Reads a call whose arguments are a text, which is sent back letter by letter. */
    public static Part.ToolUse read(String id, String name, String text) {
        Json args = CallArguments.read(text);
        boolean isOurs = text.equals(CallArguments.text(args));
        Optional<Json> sent = isOurs || !args.isObject() || !text.stripLeading().startsWith("{")
                ? Optional.empty()
                : Optional.of(Json.of(Map.of(ARGUMENTS, text)));
        return new Part.ToolUse(id, name, args, sent);
    }

    /** The arguments as text, in the service's spelling if it is recorded. */
    public static String text(Part.ToolUse use) {
        return spelling(use).orElseGet(() -> CallArguments.text(use.input()));
    }

    /** The arguments as the service spelled them; empty if our own spelling is the same. */
    public static Optional<String> spelling(Part.ToolUse use) {
        return use.sent()
                .map(kept -> kept.field(ARGUMENTS))
                .filter(String.class::isInstance)
                .map(String.class::cast)
                .filter(text -> CallArguments.read(text).equals(use.input()));
    }

    public static Map<String, Object> fields(Part.ToolUse use) {
        Map<String, Object> fields = new LinkedHashMap<>();
        use.sent().map(kept -> kept.field(FIELDS)).ifPresent(others -> {
            if (others instanceof Map<?, ?> kept) {
                kept.forEach((name, value) -> fields.put(String.valueOf(name), value));
                KNOWN.forEach(fields::remove);
            }
        });
        return fields;
    }
}
