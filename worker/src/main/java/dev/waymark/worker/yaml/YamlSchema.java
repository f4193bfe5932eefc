package dev.waymark.worker.yaml;

import com.fasterxml.jackson.databind.JsonNode;
import com.networknt.schema.Error;
import com.networknt.schema.Schema;
import com.networknt.schema.SchemaRegistry;
import com.networknt.schema.SpecificationVersion;
import com.networknt.schema.path.NodePath;
import dev.waymark.contract.PayloadJson;
import dev.waymark.display.Suggestion;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.function.Function;
import java.util.stream.Collectors;
import java.util.stream.StreamSupport;

/**
 * A JSON schema that declares the fields of a YAML file. Its keyword {@code errorMessage}, which editors know too, says
 * in words what a value must be; the found value is added unless the schema is {@code writeOnly}. Fields that exclude
 * each other have the schema {@code {"not": {}, "errorMessage": "not allowed with …"}} under a condition.
 */
public final class YamlSchema {
    /** The value has the wrong type, or its field is unknown. Other problems of the same field are then pointless. */
    private static final List<String> FIRST = List.of("type", "additionalProperties");

    /** The largest number of fields that the problem of an unknown field lists. */
    private static final int MOST_LISTED = 10;

    private final String text;
    private final JsonNode document;
    private final Schema rules;

    private YamlSchema(String text) throws IOException {
        this.text = text;
        this.document = PayloadJson.MAPPER.readTree(text);
        this.rules = SchemaRegistry.withDefaultDialect(SpecificationVersion.DRAFT_2020_12)
                .getSchema(document);
    }

    /** Reads the schema of this name beside a class. */
    public static YamlSchema beside(Class<?> owner, String name) {
        try (InputStream in = Objects.requireNonNull(owner.getResourceAsStream(name), name)) {
            return new YamlSchema(new String(in.readAllBytes(), StandardCharsets.UTF_8));
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    public String text() {
        return text;
    }

    /**
     * Adds everything in a file that the schema does not allow to the file's problems. Whoever reads the file later can
     * add only problems of fields that are as the schema says.
     *
     * @throws YamlProblem if the file cannot be compared with a schema, because a field occurs twice, for example
     */
    public void check(YamlValue file) throws YamlProblem {
        List<Error> errors = new ArrayList<>(rules.validate(PayloadJson.MAPPER.valueToTree(file.json())));
        errors.sort(Comparator.comparing(error -> !FIRST.contains(error.getKeyword())));
        Map<String, YamlProblem> found = new LinkedHashMap<>();
        Set<String> meant = new HashSet<>();
        for (Error error : errors) {
            YamlValue value = place(file, error);
            if (error.getKeyword().equals("additionalProperties")) {
                Set<String> known = absent(error);
                Optional<String> suggestion = Suggestion.of(error.getProperty(), known);
                suggestion.ifPresent(name -> meant.add(sibling(value, name)));
                String hint = suggestion
                        .map(name -> ". Did you mean \"" + name + "\"?")
                        .orElse(
                                known.isEmpty() || known.size() > MOST_LISTED
                                        ? ""
                                        : ". Expected one of " + String.join(", ", known));
                found.putIfAbsent(value.field(), value.problem("unknown field" + hint));
            } else if (!isExplained(error, value, meant)) {
                found.putIfAbsent(value.field(), value.problem(words(error, value)));
            }
        }
        found.values().forEach(file.problems()::add);
        found.keySet().forEach(file.problems()::settle);
        meant.forEach(file.problems()::settle);
    }

    /** Whether a field that is said to be missing is there, but misspelled. */
    private static boolean isExplained(Error error, YamlValue value, Set<String> meant) {
        return switch (error.getKeyword()) {
            case "required" -> meant.contains(value.field());
            case "not" -> meant.stream().anyMatch(name -> name.startsWith(value.field() + "."));
            default -> false;
        };
    }

    /** The value that a problem is about. A missing field is at the line of its owner. */
    private static YamlValue place(YamlValue file, Error error) throws YamlProblem {
        YamlValue value = file;
        NodePath path = error.getInstanceLocation();
        for (int i = 0; i < path.getNameCount(); i++) {
            value = value.at(path.getElement(i));
        }
        return error.getProperty() == null ? value : value.at(error.getProperty());
    }

    private static String sibling(YamlValue value, String name) {
        String field = value.field();
        return field.substring(0, field.lastIndexOf('.') + 1) + name;
    }

    private Set<String> absent(Error unknown) {
        Set<String> names = new LinkedHashSet<>();
        owner(unknown).path("properties").fieldNames().forEachRemaining(names::add);
        unknown.getInstanceNode().fieldNames().forEachRemaining(names::remove);
        return names;
    }

    private String words(Error error, YamlValue value) {
        JsonNode owner = owner(error);
        String keyword = error.getKeyword();
        JsonNode limit = owner.path(keyword);
        if (keyword.equals("propertyNames")) {
            return limit.path("errorMessage").asText(error.getMessage());
        }
        String found = owner.path("writeOnly").asBoolean() || keyword.equals("not") ? "" : ", found " + value.kind();
        if (owner.has("errorMessage")) {
            return owner.get("errorMessage").textValue() + found;
        }
        return switch (keyword) {
            case "required" -> "is missing";
            case "type" -> "expected " + anyOf(limit, YamlSchema::type) + found;
            case "enum" -> "expected " + anyOf(limit, JsonNode::textValue) + found;
            case "minimum" -> "must be at least " + limit + found;
            case "maximum" -> "must be at most " + limit + found;
            case "minItems", "minProperties" -> "is empty";
            case "maxItems", "maxProperties" ->
                "too many entries: " + error.getInstanceNode().size() + ", at most " + limit;
            default -> error.getMessage();
        };
    }

    /** The part of the schema that an error is about. */
    private JsonNode owner(Error error) {
        JsonNode part = document;
        NodePath path = error.getSchemaLocation().getFragment();
        for (int i = 0; i < path.getNameCount() - 1; i++) {
            part = path.getElement(i) instanceof Integer index ? part.path(index) : part.path(path.getName(i));
        }
        return part;
    }

    private static String anyOf(JsonNode words, Function<JsonNode, String> word) {
        return StreamSupport.stream((words.isArray() ? words : List.of(words)).spliterator(), false)
                .map(word)
                .collect(Collectors.joining(" or "));
    }

    private static String type(JsonNode name) {
        return switch (name.textValue()) {
            case "object" -> "fields";
            case "array" -> "a list";
            case "integer" -> "a whole number";
            case "number" -> "a number";
            case "boolean" -> "true or false";
            default -> "text";
        };
    }
}
