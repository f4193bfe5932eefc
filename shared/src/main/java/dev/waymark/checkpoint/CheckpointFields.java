package dev.waymark.checkpoint;

import dev.waymark.conversation.value.Json;
import java.time.DateTimeException;
import java.time.Instant;
import java.time.LocalDateTime;
import java.time.OffsetDateTime;
import java.time.ZoneOffset;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.BiFunction;
import org.jspecify.annotations.Nullable;

/**
 * A JSON object of a checkpoint. An invalid field is corruption, reported with its place. Unknown fields are ignored,
 * since other programs write more fields than they document.
 */
final class CheckpointFields {
    private static final Instant FIRST = Instant.parse("0001-01-01T00:00:00Z");
    private static final Instant LAST = Instant.parse("9999-12-31T23:59:59.999Z");
    private static final int LONGEST_TIME = 40;

    /** The fields in which programs store the calls of a message. */
    private static final List<String> CALLS = List.of("tool_calls", "toolCalls", "function_call", "toolInvocations");

    private final Map<?, ?> map;
    private final String place;

    private CheckpointFields(Map<?, ?> map, String place) {
        this.map = map;
        this.place = place;
    }

    static CheckpointFields of(@Nullable Object value, String place) {
        Object plain = value instanceof Json json ? json.value() : value;
        if (plain instanceof Map<?, ?> map) {
            return new CheckpointFields(map, place);
        }
        throw CheckpointCorruption.at(place, "not an object");
    }

    CheckpointCorruption corrupt(String why) {
        return CheckpointCorruption.at(place, why);
    }

    boolean has(String name) {
        return map.containsKey(name);
    }

    boolean isNull(String name) {
        return map.get(name) == null;
    }

    @Nullable
    Object value(String name) {
        return map.get(name);
    }

    String text(String name) {
        if (map.get(name) instanceof String text) {
            return text;
        }
        throw corrupt("\"" + name + "\" must be a string");
    }

    Optional<String> optionalText(String name) {
        return isNull(name) ? Optional.empty() : Optional.of(text(name));
    }

    /** A text that is not empty. */
    String id(String name) {
        String id = text(name);
        if (id.isEmpty()) {
            throw corrupt("\"" + name + "\" is empty");
        }
        return id;
    }

    Optional<String> optionalId(String name) {
        return isNull(name) ? Optional.empty() : Optional.of(id(name));
    }

    /** A name; empty if the field is missing, null or an empty string. */
    Optional<String> optionalName(String name) {
        return optionalText(name).filter(text -> !text.isEmpty());
    }

    boolean flag(String name) {
        if (map.get(name) instanceof Boolean flag) {
            return flag;
        }
        throw corrupt("\"" + name + "\" must be true or false");
    }

    boolean optionalFlag(String name) {
        return !isNull(name) && flag(name);
    }

    int count(String name) {
        long count = total(name);
        if (count > Integer.MAX_VALUE - 1_000_000) {
            throw corrupt("\"" + name + "\" is too large");
        }
        return (int) count;
    }

    long total(String name) {
        if (map.get(name) instanceof Long number && number >= 0) {
            return number;
        }
        throw corrupt("\"" + name + "\" must be a whole number, and not negative");
    }

    Optional<Long> optionalTotal(String name) {
        return isNull(name) ? Optional.empty() : Optional.of(total(name));
    }

    double number(String name) {
        if (map.get(name) instanceof Number number && Double.isFinite(number.doubleValue())) {
            return number.doubleValue();
        }
        throw corrupt("\"" + name + "\" must be a number");
    }

    /**
     * Refuses a message with calls in a field that its format does not have. Ignored like other unknown fields, a call
     * that may have run would be lost. A field without content is ignored.
     *
     * @param documented the field that has the calls in this format, in words
     */
    void checkThatCallsAreIn(String documented) {
        for (String name : CALLS) {
            boolean isOther = !documented.equals("\"" + name + "\"");
            if (isOther && !isNull(name) && !List.of().equals(value(name))) {
                throw corrupt("\"" + name + "\" is not a field of this format: calls belong in " + documented);
            }
        }
    }

    CheckpointFields object(String name) {
        return of(map.get(name), at(name));
    }

    Json json() {
        return Json.of(map);
    }

    Json json(String name) {
        return Json.of(map.get(name));
    }

    /** A result as text: strings unchanged, everything else as JSON. */
    String spelled(String name) {
        if (!has(name)) {
            throw corrupt("\"" + name + "\" is missing");
        }
        return map.get(name) instanceof String text ? text : json(name).canonical();
    }

    /**
     * The metadata that a model provider added to a block. It must be an object, unlike arguments, which may be any
     * JSON value.
     */
    Json metadata(String name) {
        if (map.get(name) instanceof Map) {
            return json(name);
        }
        throw corrupt("\"" + name + "\" must be an object");
    }

    List<?> list(String name) {
        if (map.get(name) instanceof List<?> list) {
            return list;
        }
        throw corrupt("\"" + name + "\" must be a list");
    }

    <T> List<T> each(String name, BiFunction<Object, String, T> reader) {
        return each(list(name), at(name), reader);
    }

    /** Reads a list that must not be empty, such as messages: a conversation without messages cannot be continued. */
    <T> List<T> some(String name, BiFunction<Object, String, T> reader) {
        if (list(name).isEmpty()) {
            throw corrupt("\"" + name + "\" is empty");
        }
        return each(name, reader);
    }

    static <T> List<T> each(List<?> list, String place, BiFunction<Object, String, T> reader) {
        List<T> items = new ArrayList<>(list.size());
        for (Object item : list) {
            items.add(reader.apply(item, place + "[" + items.size() + "]"));
        }
        return items;
    }

    List<String> names() {
        return map.keySet().stream().map(name -> (String) name).toList();
    }

    Instant time(String name) {
        String text = text(name);
        return parsed(text)
                .filter(time -> !time.isBefore(FIRST) && !time.isAfter(LAST))
                .orElseThrow(() -> corrupt("\"" + name + "\" is not a time: " + text));
    }

    private static Optional<Instant> parsed(String text) {
        if (text.length() > LONGEST_TIME) {
            return Optional.empty();
        }
        String spelled = text.replace(' ', 'T');
        int zone = spelled.length() - "+00:00".length();
        boolean zoned = spelled.endsWith("Z") || (zone > 0 && "+-".indexOf(spelled.charAt(zone)) >= 0);
        try {
            return Optional.of(
                    zoned
                            ? OffsetDateTime.parse(spelled).toInstant()
                            : LocalDateTime.parse(spelled).toInstant(ZoneOffset.UTC));
        } catch (DateTimeException e) {
            return Optional.empty();
        }
    }

    String at(String name) {
        return place.isEmpty() ? name : place + "." + name;
    }

    String place() {
        return place;
    }
}
