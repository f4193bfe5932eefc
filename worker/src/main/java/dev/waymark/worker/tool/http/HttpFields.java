package dev.waymark.worker.tool.http;

import dev.waymark.agent.Endpoint;
import dev.waymark.conversation.value.Json;
import dev.waymark.worker.yaml.YamlFields;
import dev.waymark.worker.yaml.YamlProblem;
import dev.waymark.worker.yaml.YamlValue;
import java.util.Map;
import java.util.Optional;

/** Reads the {@code http} field of agent files. */
final class HttpFields {
    private HttpFields() {}

    /** Also accepts {@code allow_private} next to {@code http}. */
    static Endpoint endpoint(YamlValue http, YamlFields tool, Json input) throws YamlProblem {
        YamlFields fields = http.fields();
        boolean allowPrivate = fields.isSet("allow_private") || tool.isSet("allow_private");
        Map<String, String> headers = fields.read("headers", value -> value.entries(HttpFields::header))
                .orElse(Map.of());
        String url = fields.require("url", value -> url(value, input));
        return new Endpoint(
                Endpoint.Method.valueOf(fields.require("method", YamlValue::text)), url, headers, allowPrivate);
    }

    private static String url(YamlValue value, Json input) throws YamlProblem {
        String url = value.text();
        UrlTemplate template = UrlTemplate.of(url);
        Optional<String> problem = template.problem();
        if (problem.isPresent()) {
            throw value.problem(problem.get());
        }
        for (String field : template.fields()) {
            if (!(input.field("properties") instanceof Map<?, ?> properties) || !properties.containsKey(field)) {
                throw value.problem("{" + field + "} is not a property of the tool's input");
            }
        }
        return url;
    }

    private static String header(String name, YamlValue value) throws YamlProblem {
        String text = value.text();
        Optional<String> problem = RequestHeaders.problem(name, text);
        if (problem.isPresent()) {
            throw value.problem(problem.get());
        }
        return text;
    }
}
