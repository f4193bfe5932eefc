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
 * What {@code ${NAME}} stands for in some texts of an agent. It is filled in when it is used; and since whoever is given
 * it may quote it, it is replaced by {@code ${NAME}} in whatever comes back: in any spelling that {@link SecretValue}
 * knows, and of several lines each. So is every other variable whose name says that it is a secret, such as a model's
 * key: a program may have found it elsewhere. Immutable.
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

    private static final Pattern SECRET_NAME = Pattern.compile(
            ".*(?:KEYS?|TOKENS?|SECRETS?|PASSWORD|PASSWD|PASSPHRASE|CREDENTIALS?)", Pattern.CASE_INSENSITIVE);

    /** Where one is the beginning of another, the longer one counts. */
    private static final Comparator<SecretValue> LONGEST_FIRST =
            Comparator.comparingInt(value -> -value.text().length());

    private final Map<String, String> environment;
    private final Set<String> names;
    private final List<SecretValue> values;

    private Secrets(Map<String, String> environment, Set<String> names, List<SecretValue> values) {
        this.environment = environment;
        this.names = names;
        this.values = values;
    }

    /** What these texts name, as far as the environment has it. */
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

    /** One value that nothing names, and what stands for it. */
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

    /** The same values, and what comes back is rid of those of the others too. */
    public Secrets hiding(Secrets others) {
        List<SecretValue> all = Stream.concat(values.stream(), others.values.stream())
                .sorted(LONGEST_FIRST)
                .toList();
        return new Secrets(environment, names, all);
    }

    /** The same values, of which those of these variables are not secrets. */
    public Secrets except(Collection<String> variables) {
        Set<String> open = new LinkedHashSet<>();
        variables.forEach(name -> open.add("${" + name + "}"));
        return new Secrets(
                environment,
                names,
                values.stream().filter(value -> !open.contains(value.name())).toList());
    }

    /** The first variable that is named and that the environment lacks. */
    public Optional<String> missing() {
        return names.stream().filter(name -> !environment.containsKey(name)).findFirst();
    }

    /** The text with the values in it. None may be missing. */
    public String resolve(String text) {
        return EnvironmentReferences.resolve(text, environment);
    }

    /** The same for what stands in one line: spaces and line ends around a value are not part of it. */
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

    /** For a text that comes in pieces. */
    public StreamMask mask() {
        return new StreamMask(values);
    }
}
