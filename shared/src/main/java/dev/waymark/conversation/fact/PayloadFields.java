package dev.waymark.conversation.fact;

import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Optional;

/** Writes the fields of a payload in order. Leaves out what is empty or false. */
final class PayloadFields {
    private final Map<String, Object> fields = new LinkedHashMap<>();

    PayloadFields put(String name, String value) {
        fields.put(name, value);
        return this;
    }

    PayloadFields put(String name, Optional<?> value) {
        value.ifPresent(present -> fields.put(name, present));
        return this;
    }

    PayloadFields put(String name, boolean value) {
        return put(name, Optional.of(value).filter(set -> set));
    }

    Map<String, Object> done() {
        return fields;
    }
}
