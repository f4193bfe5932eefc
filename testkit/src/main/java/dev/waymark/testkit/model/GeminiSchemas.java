package dev.waymark.testkit.model;

import static dev.waymark.testkit.model.ModelServer.demand;

import com.fasterxml.jackson.databind.JsonNode;
import java.util.Map;
import java.util.Set;

/** Gemini's rules for function declarations. Their schemas are a subset of OpenAPI's, without much of JSON Schema. */
final class GeminiSchemas {
    private static final String NAME = "[a-zA-Z_][a-zA-Z0-9_.:-]{0,63}";
    private static final Set<String> TYPES =
            Set.of("STRING", "NUMBER", "INTEGER", "BOOLEAN", "ARRAY", "OBJECT", "NULL");
    private static final Set<String> FIELDS = Set.of(
            "type",
            "format",
            "title",
            "description",
            "nullable",
            "enum",
            "maxItems",
            "minItems",
            "properties",
            "required",
            "minProperties",
            "maxProperties",
            "minLength",
            "maxLength",
            "pattern",
            "example",
            "anyOf",
            "propertyOrdering",
            "default",
            "items",
            "minimum",
            "maximum");

    private GeminiSchemas() {}

    static void checkDeclaration(JsonNode declaration, String at) {
        GeminiServer.demandKnown(declaration, Set.of("name", "description", "parameters"), at);
        demand(
                declaration.path("name").asText().matches(NAME),
                at + ".name: Invalid function name. Must start with a letter or an underscore. Must be alphameric (a-z,"
                        + " A-Z, 0-9), underscores (_), dots (.), colons (:), or dashes (-), with a maximum length of"
                        + " 64: " + declaration.path("name"));
        if (declaration.has("parameters")) {
            JsonNode parameters = declaration.path("parameters");
            demand(parameters.path("type").asText().equals("OBJECT"), at + ".parameters.type: must be OBJECT");
            demand(
                    !parameters.path("properties").isEmpty(),
                    at + ".parameters.properties: should be non-empty for OBJECT type");
            check(parameters, at + ".parameters");
        }
    }

    static void checkReply(JsonNode schema) {
        check(schema, "generation_config.response_schema");
    }

    private static void check(JsonNode schema, String at) {
        demand(schema.isObject(), at + ": not a schema: " + schema);
        GeminiServer.demandKnown(schema, FIELDS, at);
        String type = schema.path("type").asText();
        demand(
                TYPES.contains(type) || (type.isEmpty() && !schema.path("anyOf").isEmpty()),
                at + ".type: must be specified when not using one_of, any_of or all_of fields");
        demand(
                !schema.has("description") || schema.path("description").isTextual(),
                at + ".description: must be a string");
        if (schema.has("enum")) {
            demand(type.equals("STRING"), at + ".enum: only allowed for STRING type");
            schema.path("enum")
                    .forEach(value ->
                            demand(!value.asText().isEmpty(), at + ".enum: cannot be empty: " + schema.path("enum")));
        }
        demand(!type.equals("ARRAY") || schema.has("items"), at + ".items: missing field.");
        if (schema.has("items")) {
            check(schema.path("items"), at + ".items");
        }
        for (Map.Entry<String, JsonNode> property : schema.path("properties").properties()) {
            check(property.getValue(), at + ".properties[" + property.getKey() + "].value");
        }
        for (JsonNode required : schema.path("required")) {
            demand(schema.path("properties").has(required.asText()), at + ".required: property is not defined");
        }
        for (int i = 0; i < schema.path("anyOf").size(); i++) {
            check(schema.path("anyOf").get(i), at + ".any_of[" + i + "]");
        }
    }
}
