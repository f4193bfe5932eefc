package dev.waymark.worker.tool.http;

import com.fasterxml.jackson.core.io.JsonStringEncoder;
import dev.waymark.agent.Endpoint;
import dev.waymark.worker.tool.EnvironmentReferences;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * What a tool takes from the worker's environment. Servers quote what they were sent, so in whatever comes back the
 * values are replaced by <code>${NAME}</code>, as the agent's file has it.
 */
final class Secrets {
    /** Shorter ones are words like {@code none} and {@code eu-1}, which an answer may use for something else. */
    private static final int SHORTEST = 6;

    private final Map<String, String> values;
    private final List<Spelling> spellings = new ArrayList<>();

    private record Spelling(String text, String name) {}

    private Secrets(Map<String, String> values) {
        this.values = values;
        values.forEach((name, value) -> {
            if (value.length() >= SHORTEST) {
                for (String text : List.of(
                        value,
                        new String(JsonStringEncoder.getInstance().quoteAsString(value)),
                        UrlTemplate.encoded(value))) {
                    spellings.add(new Spelling(text, "${" + name + "}"));
                }
            }
        });
        // Where one value is part of another, the longer one has to go first.
        spellings.sort(
                Comparator.comparingInt((Spelling spelling) -> spelling.text().length())
                        .reversed());
    }

    /** The variables that this endpoint names, as far as the environment has them. Line ends after a value are no part of it. */
    static Secrets of(Endpoint endpoint, Map<String, String> environment) {
        Map<String, String> values = new LinkedHashMap<>();
        texts(endpoint)
                .forEach(text -> EnvironmentReferences.names(text)
                        .forEach(name -> Optional.ofNullable(environment.get(name))
                                .ifPresent(value -> values.put(name, value.strip()))));
        return new Secrets(values);
    }

    /** The first variable that the environment lacks. */
    Optional<String> missing(Endpoint endpoint) {
        return texts(endpoint).stream()
                .flatMap(text -> EnvironmentReferences.missing(text, values).stream())
                .findFirst();
    }

    private static List<String> texts(Endpoint endpoint) {
        List<String> texts = new ArrayList<>(endpoint.headers().values());
        texts.add(endpoint.url());
        return texts;
    }

    /** The text with the values in it. */
    String resolve(String text) {
        return EnvironmentReferences.resolve(text, values);
    }

    /** The text without them. */
    String mask(String text) {
        String masked = text;
        for (Spelling spelling : spellings) {
            masked = masked.replace(spelling.text(), spelling.name());
        }
        return masked;
    }
}
