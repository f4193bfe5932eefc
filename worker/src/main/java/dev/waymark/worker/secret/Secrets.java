package dev.waymark.worker.secret;

import com.fasterxml.jackson.core.io.JsonStringEncoder;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import com.fasterxml.jackson.databind.node.TextNode;
import java.net.URLEncoder;
import java.nio.charset.StandardCharsets;
import java.util.Collection;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.stream.Stream;

/**
 * What {@code ${NAME}} stands for in some texts of an agent. It is filled in when it is used; and since whoever is given
 * it may quote it, it is replaced by {@code ${NAME}} in whatever comes back: as it is, in JSON, percent-encoded, and of
 * several lines each. Immutable.
 *
 * <pre>{@code
 * Secrets secrets = Secrets.of(tool.env().values(), System.getenv());
 * start(secrets.resolve("Bearer ${TOKEN}"));
 * record(secrets.mask(output));
 * }</pre>
 */
public final class Secrets {
    /** Shorter ones are words like {@code none} and {@code eu-1}, which an answer may use for something else. */
    private static final int SHORTEST = 6;

    private final Map<String, String> environment;
    private final Set<String> names;
    private final List<Spelling> spellings;

    /** @param name what stands for it */
    record Spelling(String text, String name) {}

    private Secrets(Map<String, String> environment, Set<String> names, List<Spelling> spellings) {
        this.environment = environment;
        this.names = names;
        this.spellings = spellings;
    }

    /** What these texts name, as far as the environment has it. */
    public static Secrets of(Collection<String> texts, Map<String, String> environment) {
        Set<String> names = new LinkedHashSet<>();
        texts.forEach(text -> names.addAll(EnvironmentReferences.names(text)));
        Map<String, String> values = new LinkedHashMap<>();
        names.stream().filter(environment::containsKey).forEach(name -> values.put(name, environment.get(name)));
        Map<String, String> hidden = new LinkedHashMap<>();
        values.forEach((name, value) -> hidden.put("${" + name + "}", value));
        return new Secrets(Collections.unmodifiableMap(values), names, spellings(hidden));
    }

    /** One value that nothing names, and what stands for it. */
    public static Secrets of(String value, String name) {
        return new Secrets(Map.of(), Set.of(), spellings(Map.of(name, value)));
    }

    private static List<Spelling> spellings(Map<String, String> values) {
        return values.entrySet().stream()
                .flatMap(entry -> Stream.concat(
                                Stream.of(entry.getValue()), entry.getValue().lines())
                        .map(String::strip)
                        .filter(text -> text.length() >= SHORTEST)
                        .flatMap(Secrets::spelled)
                        .distinct()
                        .map(text -> new Spelling(text, entry.getKey())))
                // Where one is the beginning of another, the longer one counts.
                .sorted((one, other) -> other.text().length() - one.text().length())
                .toList();
    }

    private static Stream<String> spelled(String value) {
        String json = new String(JsonStringEncoder.getInstance().quoteAsString(value));
        String form = URLEncoder.encode(value, StandardCharsets.UTF_8);
        String percent = form.replace("+", "%20").replace("*", "%2A").replace("%7E", "~");
        // Some escape slashes in JSON.
        return Stream.of(value, json, json.replace("/", "\\/"), form, percent);
    }

    /** The same values, of which those of these variables are no secret. */
    public Secrets except(Collection<String> variables) {
        Set<String> open = new LinkedHashSet<>();
        variables.forEach(name -> open.add("${" + name + "}"));
        return new Secrets(
                environment,
                names,
                spellings.stream()
                        .filter(spelling -> !open.contains(spelling.name()))
                        .toList());
    }

    /** The first variable that is named and that the environment lacks. */
    public Optional<String> missing() {
        return names.stream().filter(name -> !environment.containsKey(name)).findFirst();
    }

    /** The text with the values in it. None may be missing. */
    public String resolve(String text) {
        return EnvironmentReferences.resolve(text, environment);
    }

    /** The same for what stands in one line: spaces and line ends around a value are no part of it. */
    public String resolveInLine(String text) {
        Map<String, String> stripped = new LinkedHashMap<>(environment);
        stripped.replaceAll((name, value) -> value.strip());
        return EnvironmentReferences.resolve(text, stripped);
    }

    /** The text without them. */
    public String mask(String text) {
        StreamMask mask = mask();
        return mask.next(text) + mask.end();
    }

    /** The same JSON without them, names of fields included. */
    public JsonNode mask(JsonNode json) {
        if (spellings.isEmpty()) {
            return json;
        }
        if (json.isTextual()) {
            return TextNode.valueOf(mask(json.textValue()));
        }
        if (json.isArray()) {
            ArrayNode masked = JsonNodeFactory.instance.arrayNode();
            json.forEach(item -> masked.add(mask(item)));
            return masked;
        }
        if (json.isObject()) {
            ObjectNode masked = JsonNodeFactory.instance.objectNode();
            json.properties().forEach(field -> masked.set(mask(field.getKey()), mask(field.getValue())));
            return masked;
        }
        return json;
    }

    /** For a text that comes in pieces. */
    public StreamMask mask() {
        return new StreamMask(spellings);
    }
}
