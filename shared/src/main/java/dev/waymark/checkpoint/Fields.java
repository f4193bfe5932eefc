package dev.waymark.checkpoint;

import dev.waymark.conversation.Json;
import java.time.DateTimeException;
import java.time.Instant;
import java.time.LocalDateTime;
import java.time.OffsetDateTime;
import java.time.ZoneOffset;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;
import java.util.function.BiFunction;
import org.jspecify.annotations.Nullable;

/** A JSON object that must be just so. Whatever is not is corruption, and the place is told. */
final class Fields {
    private final Map<?, ?> map;
    private final String place;

    private Fields(Map<?, ?> map, String place) {
        this.map = map;
        this.place = place;
    }

    static Fields of(@Nullable Object value, String place) {
        Object plain = value instanceof Json json ? json.value() : value;
        if (plain instanceof Map<?, ?> map) {
            return new Fields(map, place);
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

    /** Refuses every other name. */
    Fields only(String... names) {
        Set<String> others = new TreeSet<>();
        map.keySet().forEach(name -> others.add((String) name));
        others.removeAll(List.of(names));
        if (!others.isEmpty()) {
            throw corrupt("unknown field: " + others.iterator().next());
        }
        return this;
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

    /** Not empty either. */
    String id(String name) {
        String id = text(name);
        if (id.isEmpty()) {
            throw corrupt("\"" + name + "\" is empty");
        }
        return id;
    }

    boolean flag(String name) {
        if (map.get(name) instanceof Boolean flag) {
            return flag;
        }
        throw corrupt("\"" + name + "\" must be true or false");
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

    double number(String name) {
        if (map.get(name) instanceof Number number && Double.isFinite(number.doubleValue())) {
            return number.doubleValue();
        }
        throw corrupt("\"" + name + "\" must be a number");
    }

    Fields object(String name) {
        return of(map.get(name), at(name));
    }

    Json json(String name) {
        return Json.of(map.get(name));
    }

    /** Arguments of a call. */
    Json arguments(String name) {
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
        try {
            Instant time = text.endsWith("Z") || text.matches(".*[+-]\\d\\d:\\d\\d$")
                    ? OffsetDateTime.parse(text.replace(' ', 'T')).toInstant()
                    : LocalDateTime.parse(text.replace(' ', 'T')).toInstant(ZoneOffset.UTC);
            if (time.isBefore(Instant.parse("0001-01-01T00:00:00Z"))
                    || time.isAfter(Instant.parse("9999-12-31T23:59:59.999Z"))) {
                throw corrupt("\"" + name + "\" is no time: " + text);
            }
            return time;
        } catch (DateTimeException e) {
            throw corrupt("\"" + name + "\" is no time: " + text);
        }
    }

    String at(String name) {
        return place.isEmpty() ? name : place + "." + name;
    }

    String place() {
        return place;
    }
}
