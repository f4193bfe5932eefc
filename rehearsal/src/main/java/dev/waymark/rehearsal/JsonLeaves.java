package dev.waymark.rehearsal;

import com.fasterxml.jackson.core.JsonProcessingException;
import dev.waymark.contract.PayloadJson;
import dev.waymark.conversation.value.Json;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/** The values in JSON objects, by the names of their fields, such as {@code address.city}. A list is one value. */
final class JsonLeaves {
    private static final int MOST_NAMED = 5;

    private JsonLeaves() {}

    /** The values as people read them. Empty if the text is not a JSON object, for example because it was cut. */
    static Optional<Map<String, String>> of(String text) {
        try {
            Json json = Json.of(PayloadJson.MAPPER.readValue(text, Object.class));
            return json.isObject() ? Optional.of(of(json)) : Optional.empty();
        } catch (JsonProcessingException | IllegalArgumentException e) {
            return Optional.empty();
        }
    }

    /** The names of the values that differ, or of the first ones. */
    static List<String> differing(Json one, Json other) {
        Map<String, String> left = of(one);
        Map<String, String> right = of(other);
        TreeSet<String> names = new TreeSet<>(left.keySet());
        names.addAll(right.keySet());
        names.removeIf(name -> left.containsKey(name) && left.get(name).equals(right.get(name)));
        return names.size() <= MOST_NAMED
                ? List.copyOf(names)
                : Stream.concat(names.stream().limit(MOST_NAMED), Stream.of("…"))
                        .toList();
    }

    private static Map<String, String> of(Json json) {
        Map<String, String> leaves = new TreeMap<>();
        add("", json.value(), leaves);
        return leaves;
    }

    private static void add(String name, @Nullable Object value, Map<String, String> leaves) {
        if (value instanceof Map<?, ?> object && !object.isEmpty()) {
            object.forEach((field, inside) -> add(name.isEmpty() ? "" + field : name + "." + field, inside, leaves));
        } else if (!name.isEmpty()) {
            leaves.put(name, value instanceof String text ? '"' + text + '"' : Json.canonical(value));
        }
    }
}
