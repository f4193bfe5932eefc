package dev.waymark.server;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import com.fasterxml.jackson.databind.JsonNode;
import dev.waymark.contract.PayloadJson;
import dev.waymark.conversation.value.Json;
import dev.waymark.server.document.ApiDocument;
import dev.waymark.tool.ToolArguments;
import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.time.Duration;
import java.util.Optional;

/** Sends HTTP requests, as any program could. */
record HttpCaller(HttpClient http, String address, Optional<String> token) {
    static HttpCaller of(ApiServer server, String token) {
        return new HttpCaller(
                HttpClient.newBuilder().version(HttpClient.Version.HTTP_1_1).build(),
                server.address(),
                Optional.of(token));
    }

    HttpCaller as(String other) {
        return new HttpCaller(http, address, Optional.of(other));
    }

    HttpCaller asNobody() {
        return new HttpCaller(http, address, Optional.empty());
    }

    HttpCaller at(ApiServer other) {
        return new HttpCaller(http, other.address(), token);
    }

    /** An answer whose body is JSON. */
    record Answer(int status, JsonNode body, HttpResponse<String> response) {
        String text(String field) {
            return body.path(field).asText();
        }
    }

    HttpRequest.Builder request(String path) {
        HttpRequest.Builder request = HttpRequest.newBuilder(URI.create(address + path));
        token.ifPresent(value -> request.header("Authorization", "Bearer " + value));
        return request;
    }

    Answer get(String path) throws IOException, InterruptedException {
        return send(request(path).GET());
    }

    /** A list of a thread: its messages, calls, versions or requests that wait. */
    JsonNode list(String thread, String name) throws IOException, InterruptedException {
        return get("/v1/threads/" + thread + "/" + name).body().path(name);
    }

    /** Checks a document against a schema of the API's document, and returns it. */
    static JsonNode checked(String schema, JsonNode document) {
        ApiDocument api = ApiDocument.load();
        assertThat(ToolArguments.problem(
                        api.selfContained(api.json().at("/components/schemas/" + schema)),
                        Json.of(PayloadJson.MAPPER.convertValue(document, Object.class))))
                .as(schema + " " + document)
                .isEmpty();
        return document;
    }

    Answer post(String path, String json) throws IOException, InterruptedException {
        return send(posting(path, json));
    }

    Answer post(String path, String json, String key) throws IOException, InterruptedException {
        return send(posting(path, json).header("Idempotency-Key", key));
    }

    /** Waits until this many requests of the thread wait for a person, and returns them. */
    JsonNode awaitPending(String thread, int count) {
        return await().atMost(Duration.ofMinutes(1))
                .until(() -> list(thread, "pending"), pending -> pending.size() == count);
    }

    HttpRequest.Builder posting(String path, String json) {
        return request(path)
                .header("Content-Type", "application/json")
                .POST(HttpRequest.BodyPublishers.ofString(json.replace('\'', '"')));
    }

    Answer send(HttpRequest.Builder request) throws IOException, InterruptedException {
        HttpResponse<String> response = http.send(request.build(), HttpResponse.BodyHandlers.ofString());
        JsonNode body = response.body().isEmpty()
                ? PayloadJson.MAPPER.createObjectNode()
                : PayloadJson.MAPPER.readTree(response.body());
        return new Answer(response.statusCode(), body, response);
    }

    /** Starts a thread, and returns its id. */
    String start(String agent, String message) throws IOException, InterruptedException {
        Answer answer = post("/v1/threads", "{'agent':'" + agent + "','message':'" + message + "'}");
        if (answer.status() != 201) {
            throw new AssertionError(answer.status() + " " + answer.body());
        }
        return answer.text("thread");
    }
}
