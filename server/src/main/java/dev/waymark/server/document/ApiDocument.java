package dev.waymark.server.document;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.waymark.contract.PayloadJson;
import dev.waymark.conversation.value.Json;
import dev.waymark.server.http.RequestChecks;
import dev.waymark.tool.ToolArguments;
import java.io.IOException;
import java.io.InputStream;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;

/** The API's OpenAPI document, which requests are validated against. */
public final class ApiDocument implements RequestChecks {
    private static final String FILE = "openapi.json";
    /** The limit of a text in bytes of UTF-8. Such a text also has a {@code maxLength}, for clients. */
    private static final String MAX_BYTES = "x-waymark-max-bytes";

    /** Marks a field that the operation itself refuses, with an explanation. */
    private static final String REFUSED = "x-waymark-refused";

    private static final String SCHEMAS = "#/components/schemas/";

    private final JsonNode document;
    private final Map<String, JsonNode> operations = new LinkedHashMap<>();
    private final Map<String, Json> bodies = new LinkedHashMap<>();

    private ApiDocument(JsonNode document) {
        this.document = document;
        document.path("paths")
                .forEach(path -> path.forEach(operation -> {
                    String name = operation.path("operationId").asText();
                    if (operations.put(name, operation) != null) {
                        throw new IllegalStateException("duplicate operationId: " + name);
                    }
                    JsonNode body = operation.at("/requestBody/content/application~1json/schema");
                    if (!body.isMissingNode()) {
                        bodies.put(name, withoutTextLimits(selfContained(body)));
                    }
                }));
    }

    /** Loads the document from this jar. */
    public static ApiDocument load() {
        try (InputStream file = ApiDocument.class.getResourceAsStream(FILE)) {
            return new ApiDocument(PayloadJson.MAPPER.readTree(Objects.requireNonNull(file, FILE)));
        } catch (IOException e) {
            throw new IllegalStateException("cannot read the OpenAPI document", e);
        }
    }

    public JsonNode json() {
        return document;
    }

    /** The document of a server without authentication, which needs no tokens. */
    public JsonNode withoutAuthentication() {
        ObjectNode open = document.deepCopy();
        open.remove("security");
        ((ObjectNode) open.path("components")).remove("securitySchemes");
        open.path("paths").forEach(path -> path.forEach(operation -> ((ObjectNode) operation).remove("security")));
        return open;
    }

    @Override
    public Optional<String> bodyProblem(String operation, JsonNode body) {
        Json schema = Optional.ofNullable(bodies.get(operation))
                .orElseThrow(
                        () -> new IllegalStateException("operation has no body in the OpenAPI document: " + operation));
        Json json;
        try {
            json = Json.of(PayloadJson.MAPPER.convertValue(body, Object.class));
        } catch (IllegalArgumentException e) {
            // The body is nested too deeply, or has a number that is too large.
            return Optional.of(String.valueOf(e.getMessage()));
        }
        return ToolArguments.problem(schema, json);
    }

    @Override
    public Set<String> queryParameters(String operation) {
        Set<String> names = new LinkedHashSet<>();
        operation(operation).path("parameters").forEach(given -> {
            JsonNode parameter = resolved(given);
            if (parameter.path("in").asText().equals("query")) {
                names.add(parameter.path("name").asText());
            }
        });
        return names;
    }

    @Override
    public boolean needsBody(String operation) {
        return operation(operation).path("requestBody").path("required").asBoolean();
    }

    /** Combines a schema with the component schemas that it uses, so that its references resolve without the document. */
    public Json selfContained(JsonNode schema) {
        ObjectNode whole = PayloadJson.MAPPER.createObjectNode();
        collect(schema, whole.putObject("$defs"));
        whole.set("allOf", PayloadJson.MAPPER.createArrayNode().add(schema));
        String text = whole.toString().replace("\"" + SCHEMAS, "\"#/$defs/");
        try {
            return PayloadJson.MAPPER.readValue(text, Json.class);
        } catch (IOException e) {
            throw new IllegalStateException("cannot read a schema of the OpenAPI document", e);
        }
    }

    /**
     * The schema without limits on texts, which are refused later with status 413, and with the fields that the
     * operations refuse themselves.
     */
    private static Json withoutTextLimits(Json schema) {
        JsonNode copy = PayloadJson.MAPPER.valueToTree(schema);
        copy.findParents(REFUSED).forEach(field -> ((ObjectNode) field).remove(List.of("not", REFUSED)));
        copy.findParents(MAX_BYTES).forEach(text -> ((ObjectNode) text).remove(List.of("maxLength", MAX_BYTES)));
        return PayloadJson.MAPPER.convertValue(copy, Json.class);
    }

    private void collect(JsonNode schema, ObjectNode found) {
        schema.findValuesAsText("$ref").forEach(reference -> {
            String name = reference.substring(SCHEMAS.length());
            if (!found.has(name)) {
                JsonNode used = document.at("/components/schemas/" + name);
                found.set(name, used);
                collect(used, found);
            }
        });
    }

    private JsonNode operation(String name) {
        return Optional.ofNullable(operations.get(name))
                .orElseThrow(() -> new IllegalStateException("operation is not in the OpenAPI document: " + name));
    }

    private JsonNode resolved(JsonNode part) {
        String reference = part.path("$ref").asText();
        return reference.isEmpty() ? part : document.at(reference.substring(1));
    }
}
