package dev.waymark.worker.tool.http;

import dev.waymark.agent.Endpoint;
import dev.waymark.conversation.value.Json;
import dev.waymark.worker.secret.EnvironmentReferences;
import dev.waymark.worker.yaml.YamlFields;
import dev.waymark.worker.yaml.YamlProblem;
import dev.waymark.worker.yaml.YamlProblems;
import dev.waymark.worker.yaml.YamlValue;
import java.util.Arrays;
import java.util.Map;
import java.util.Optional;

/** Reads the {@code http} field of agent files. */
final class HttpFields {
    private static final String[] METHODS =
            Arrays.stream(Endpoint.Method.values()).map(Enum::name).toArray(String[]::new);

    private HttpFields() {}

    /** Also accepts {@code allow_private} next to {@code http}. Collects all problems of the request. */
    static Endpoint endpoint(YamlValue http, YamlFields tool, Json input) throws YamlProblem {
        YamlProblems problems = new YamlProblems();
        Optional<YamlValue> beside = tool.take("allow_private");
        Optional<YamlFields> given = problems.check(http::fields);
        if (given.isEmpty()) {
            problems.read(beside, YamlValue::flag);
            problems.end();
        }
        YamlFields fields = given.orElseThrow();
        Optional<Endpoint.Method> method = problems.check(
                () -> Endpoint.Method.valueOf(fields.require("method").oneOf(METHODS)));
        Optional<String> url = problems.check(() -> url(fields.require("url"), input));
        Map<String, String> headers = problems.read(fields.take("headers"), value -> value.entries(HttpFields::header))
                .orElse(Map.of());
        boolean isWithin =
                problems.read(fields.take("allow_private"), YamlValue::flag).orElse(false);
        boolean isBeside = problems.read(beside, YamlValue::flag).orElse(false);
        problems.run(fields::end);
        problems.end();
        return new Endpoint(method.orElseThrow(), url.orElseThrow(), headers, isWithin || isBeside);
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
