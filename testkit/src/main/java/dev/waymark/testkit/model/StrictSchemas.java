package dev.waymark.testkit.model;

import static dev.waymark.testkit.model.ModelServer.demand;

import com.fasterxml.jackson.databind.JsonNode;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;

/** The requirements of the services for a schema that they enforce while a model writes. */
final class StrictSchemas {
    private static final Set<String> KEYWORDS = Set.of(
            "type",
            "properties",
            "required",
            "additionalProperties",
            "items",
            "enum",
            "const",
            "anyOf",
            "$ref",
            "$defs",
            "title",
            "description",
            "format");

    private StrictSchemas() {}

    /** Refuses a schema with other keywords, or with objects that may have other properties. */
    static void check(JsonNode schema, String place) {
        demand(schema.isObject() && schema.path("type").asText().equals("object"), place + ": must be an object");
        for (JsonNode each : schemas(schema)) {
            each.fieldNames()
                    .forEachRemaining(name ->
                            demand(KEYWORDS.contains(name), place + ": '" + name + "' is not permitted: " + each));
            demand(
                    !each.path("type").asText().equals("object")
                            || (each.has("additionalProperties")
                                    && !each.path("additionalProperties").asBoolean(true)),
                    place + ": 'additionalProperties' is required to be supplied and to be false: " + each);
        }
    }

    /** Refuses a schema with properties that are not required. */
    static void checkComplete(JsonNode schema) {
        for (JsonNode each : schemas(schema)) {
            List<String> names = new ArrayList<>();
            each.path("properties").fieldNames().forEachRemaining(names::add);
            List<String> required = new ArrayList<>();
            each.path("required").forEach(name -> required.add(name.asText()));
            demand(
                    required.containsAll(names),
                    "'required' is required to be supplied and to be an array including every key in properties: "
                            + each);
        }
    }

    private static List<JsonNode> schemas(JsonNode schema) {
        List<JsonNode> all = new ArrayList<>(List.of(schema));
        schema.path("properties").forEach(each -> all.addAll(schemas(each)));
        schema.path("$defs").forEach(each -> all.addAll(schemas(each)));
        schema.path("anyOf").forEach(each -> all.addAll(schemas(each)));
        if (schema.has("items")) {
            all.addAll(schemas(schema.path("items")));
        }
        return all;
    }
}
