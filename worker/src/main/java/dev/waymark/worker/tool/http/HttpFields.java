package dev.waymark.worker.tool.http;

import dev.waymark.agent.Endpoint;
import dev.waymark.conversation.value.Json;
import dev.waymark.worker.secret.EnvironmentReferences;
import dev.waymark.worker.yaml.YamlFields;
import dev.waymark.worker.yaml.YamlProblem;
import dev.waymark.worker.yaml.YamlValue;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Optional;

/** Reads the {@code http} field of agent files. */
final class HttpFields {
    private static final String[] METHODS =
            Arrays.stream(Endpoint.Method.values()).map(Enum::name).toArray(String[]::new);

    private HttpFields() {}

    /** Also accepts {@code allow_private} next to {@code http}. */
    static Endpoint endpoint(YamlValue http, YamlFields tool, Json input) throws YamlProblem {
        YamlFields fields = http.fields();
        Endpoint.Method method =
                Endpoint.Method.valueOf(fields.require("method").oneOf(METHODS));
        String url = url(fields.require("url"), input);
        Map<String, String> headers = new LinkedHashMap<>();
        Optional<YamlValue> given = fields.take("headers");
        if (given.isPresent()) {
            for (Map.Entry<String, YamlValue> header :
                    given.get().fields().takeAll().entrySet()) {
                headers.put(header.getKey(), header(header.getKey(), header.getValue()));
            }
        }
        Optional<YamlValue> within = fields.take("allow_private");
        fields.end();
        Optional<YamlValue> beside = tool.take("allow_private");
        boolean allowPrivate = within.isPresent() && within.get().flag();
        allowPrivate |= beside.isPresent() && beside.get().flag();
        return new Endpoint(method, url, headers, allowPrivate);
    }

    private static String url(YamlValue value, Json input) throws YamlProblem {
        String url = value.text();
        if (!EnvironmentReferences.isWellFormed(url)) {
            throw value.problem("expected ${NAME}");
        }
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
        if (!EnvironmentReferences.isWellFormed(text)) {
            throw value.problem("expected ${NAME}");
        }
        return text;
    }
}
