package dev.waymark.connect;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.Map;

/**
 * The environment variables of this process. {@code ./waymark} passes them through a pipe, so that other programs of
 * the same user do not find them in {@code /proc/PID/environ}. A process that was started another way uses its own
 * environment.
 */
public final class ProcessEnvironment {
    /** The system property with the path of the pipe, which can be read once. */
    private static final String SOURCE = "waymark.environment";

    private static final Map<String, String> VARIABLES = read();

    private ProcessEnvironment() {}

    /** All variables, by name. */
    public static Map<String, String> get() {
        return VARIABLES;
    }

    private static Map<String, String> read() {
        String source = System.getProperty(SOURCE);
        if (source == null) {
            return Collections.unmodifiableMap(new LinkedHashMap<>(System.getenv()));
        }
        try {
            return parse(Files.readAllBytes(Path.of(source)));
        } catch (IOException e) {
            throw new UncheckedIOException("the environment can't be read from " + source, e);
        }
    }

    /** Parses the output of {@code env -0}. */
    static Map<String, String> parse(byte[] bytes) {
        Map<String, String> variables = new LinkedHashMap<>();
        for (String variable : new String(bytes, StandardCharsets.UTF_8).split("\0")) {
            int equals = variable.indexOf('=');
            if (equals > 0) {
                variables.put(variable.substring(0, equals), variable.substring(equals + 1));
            }
        }
        return Collections.unmodifiableMap(variables);
    }
}
