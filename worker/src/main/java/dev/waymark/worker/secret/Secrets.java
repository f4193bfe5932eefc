package dev.waymark.worker.secret;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import com.fasterxml.jackson.databind.node.TextNode;
import java.util.Collection;
import java.util.Collections;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.regex.Pattern;
import java.util.stream.Stream;

/**
 * The values of {@code ${NAME}} in texts of an agent. They are filled in on use. Because a tool may return them, they
 * are replaced with {@code ${NAME}} in its output, in every spelling that {@link SecretValue} recognizes; each line of
 * a multi-line value is replaced on its own. Other variables whose names look like names of secrets, such as a model's
 * key, are masked too, because a program may find their values elsewhere. Immutable.
 *
 * <pre>{@code
 * Secrets secrets = Secrets.of(tool.implementation().env().values(), System.getenv());
 * start(secrets.resolve("Bearer ${TOKEN}"));
 * record(secrets.mask(output));
 * }</pre>
 */
public final class Secrets {
    /** Shorter values are often ordinary words like {@code none} and {@code eu-1}. */
    private static final int SHORTEST = 6;

    private static final Pattern SECRET_NAME = Pattern.compile(
            ".*(?:KEYS?|TOKENS?|SECRETS?|PASSWORD|PASSWD|PASSPHRASE|CREDENTIALS?)", Pattern.CASE_INSENSITIVE);

    /** If one value is a prefix of another, the longer one is matched. */
    private static final Comparator<SecretValue> LONGEST_FIRST =
            Comparator.comparingInt(value -> -value.text().length());

    /** Nothing to resolve or to mask. */
    public static final Secrets NONE = new Secrets(Map.of(), Set.of(), List.of());

    private final Map<String, String> environment;
    private final Set<String> names;
    private final List<SecretValue> values;

    private Secrets(Map<String, String> environment, Set<String> names, List<SecretValue> values) {
        this.environment = environment;
        this.names = names;
        this.values = values;
    }

    /**
     * The values of the variables that these texts reference and that the environment contains. Other variables whose
     * names look like names of secrets are masked, but cannot be resolved.
     */
    public static Secrets of(Collection<String> texts, Map<String, String> environment) {
        Set<String> names = new LinkedHashSet<>();
        texts.forEach(text -> names.addAll(EnvironmentReferences.names(text)));
        Map<String, String> values = new LinkedHashMap<>();
        names.stream().filter(environment::containsKey).forEach(name -> values.put(name, environment.get(name)));
        Map<String, String> hidden = new LinkedHashMap<>();
        values.forEach((name, value) -> hidden.put("${" + name + "}", value));
        environment.forEach((name, value) -> {
            if (SECRET_NAME.matcher(name).matches()) {
                hidden.putIfAbsent("${" + name + "}", value);
            }
        });
        return new Secrets(Collections.unmodifiableMap(values), names, hidden(hidden));
    }

    /** A single value that no text references, with its placeholder. */
    public static Secrets of(String value, String name) {
        return new Secrets(Map.of(), Set.of(), hidden(Map.of(name, value)));
    }

    private static List<SecretValue> hidden(Map<String, String> values) {
        return values.entrySet().stream()
                .flatMap(entry -> Stream.concat(
                                Stream.of(entry.getValue()), entry.getValue().lines())
                        .map(String::strip)
                        .filter(text -> text.length() >= SHORTEST)
                        .distinct()
                        .map(text -> new SecretValue(text, entry.getKey())))
                .sorted(LONGEST_FIRST)
                .toList();
    }

    /** A copy that also masks what these mask. */
    public Secrets and(Secrets more) {
        return new Secrets(
                environment,
                names,
                Stream.concat(values.stream(), more.values.stream())
                        .sorted(LONGEST_FIRST)
                        .toList());
    }

    /** A copy that does not mask these variables. */
    public Secrets except(Collection<String> variables) {
        Set<String> open = new LinkedHashSet<>();
        variables.forEach(name -> open.add("${" + name + "}"));
        return new Secrets(
                environment,
                names,
                values.stream().filter(value -> !open.contains(value.name())).toList());
    }

    /** The first referenced variable that the environment lacks. */
    public Optional<String> missing() {
        return names.stream().filter(name -> !environment.containsKey(name)).findFirst();
    }

    /** The text with its references replaced. All variables must be set. */
    public String resolve(String text) {
        return EnvironmentReferences.resolve(text, environment);
    }

    /** Like {@link #resolve}, for a single line: values are stripped of surrounding spaces and line breaks. */
    public String resolveInLine(String text) {
        Map<String, String> stripped = new LinkedHashMap<>(environment);
        stripped.replaceAll((name, value) -> value.strip());
        return EnvironmentReferences.resolve(text, stripped);
    }

    /** The text with secrets replaced. */
    public String mask(String text) {
        StreamMask mask = mask();
        return mask.next(text) + mask.end();
    }

    /** The JSON with secrets replaced, including those in field names. */
    public JsonNode mask(JsonNode json) {
        if (values.isEmpty()) {
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

    /** Masks a text that arrives in pieces. */
    public StreamMask mask() {
        return new StreamMask(values);
    }
}
