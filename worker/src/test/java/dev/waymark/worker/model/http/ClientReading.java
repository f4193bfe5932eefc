package dev.waymark.worker.model.http;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.json.JsonMapper;
import java.lang.reflect.Field;
import java.lang.reflect.Modifier;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Collections;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;

/** Reads our requests as a service's own client would write them, and writes them back. */
public final class ClientReading {
    private static final String UNKNOWN = "additionalProperties";

    private ClientReading() {}

    /**
     * Reads the body as an instance of the client's type for it, which then holds the same request.
     *
     * @param client the client's own mapper
     */
    public static <T> T read(Object body, JsonMapper client, Class<T> type) throws Exception {
        String sent = ProviderJson.MAPPER.writeValueAsString(body);
        T read = client.readValue(sent, type);
        assertThat(client.readTree(client.writeValueAsString(read))).isEqualTo(client.readTree(sent));
        return read;
    }

    /** The properties that the client does not know, at any depth, such as {@code Tool.InputSchema.title}. */
    public static List<String> unknown(Object read) throws IllegalAccessException {
        List<String> unknown = new ArrayList<>();
        collect(read, unknown, Collections.newSetFromMap(new IdentityHashMap<>()));
        return unknown.stream().distinct().sorted().toList();
    }

    private static void collect(Object value, List<String> unknown, Set<Object> seen) throws IllegalAccessException {
        if (value instanceof Collection<?> all) {
            for (Object each : all) {
                collect(each, unknown, seen);
            }
        }
        if (value == null || !value.getClass().getName().matches("com\\.(anthropic|openai)\\..+") || !seen.add(value)) {
            return;
        }
        for (Class<?> type = value.getClass(); type != Object.class; type = type.getSuperclass()) {
            for (Field field : type.getDeclaredFields()) {
                if (Modifier.isStatic(field.getModifiers()) || field.getType().isPrimitive()) {
                    continue;
                }
                field.setAccessible(true);
                if (field.getName().equals(UNKNOWN)) {
                    String name = type.getName()
                            .substring(type.getPackageName().length() + 1)
                            .replace('$', '.');
                    ((Map<?, ?>) field.get(value)).keySet().forEach(key -> unknown.add(name + "." + key));
                } else {
                    collect(field.get(value), unknown, seen);
                }
            }
        }
    }
}
