package dev.waymark.testkit.model;

import static org.assertj.core.api.Assertions.assertThat;

import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.util.Map;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class GeminiServerTest {
    private static final String USER = "{\"role\":\"user\",\"parts\":[{\"text\":\"Hi\"}]}";
    private static final String CALL =
            "{\"role\":\"model\",\"parts\":[{\"functionCall\":{\"name\":\"f\",\"args\":{}}}]}";
    private static final String CALLS =
            "{\"role\":\"model\",\"parts\":[{\"functionCall\":{\"name\":\"f\",\"args\":{}}},"
                    + "{\"functionCall\":{\"name\":\"g\",\"args\":{}}}]}";
    private static final String RESULT =
            "{\"role\":\"user\",\"parts\":[{\"functionResponse\":{\"name\":\"f\",\"response\":{\"r\":\"1\"}}}]}";

    private static final HttpClient HTTP = HttpClient.newHttpClient();

    private GeminiServer server;

    @BeforeEach
    void start() {
        server = new GeminiServer();
        server.answers(ModelAnswer.says("Hel", "lo").using(7, 3));
    }

    @AfterEach
    void stop() {
        server.close();
    }

    private HttpResponse<String> post(String path, Map<String, String> headers, String body) throws Exception {
        HttpRequest.Builder request = HttpRequest.newBuilder(URI.create(server.address() + path))
                .header("Content-Type", "application/json")
                .POST(HttpRequest.BodyPublishers.ofString(body));
        headers.forEach(request::header);
        return HTTP.send(request.build(), HttpResponse.BodyHandlers.ofString());
    }

    private HttpResponse<String> ask(String model, String fields) throws Exception {
        String body = fields.replace("USER", USER)
                .replace("CALLS", CALLS)
                .replace("CALL", CALL)
                .replace("RESULT", RESULT);
        return post(
                "/v1beta/models/" + model + ":generateContent",
                Map.of("x-goog-api-key", ModelServer.KEY),
                "{" + body + "}");
    }

    @Test
    void reply_wholeOrStreamed_hasTheSameText() throws Exception {
        String whole = ask("gemini-2.5-flash", "\"contents\":[USER]").body();
        String streamed = post(
                        "/v1beta/models/gemini-2.5-flash:streamGenerateContent?alt=sse&key=" + ModelServer.KEY,
                        Map.of(),
                        "{\"contents\":[" + USER + "]}")
                .body();

        assertThat(whole)
                .isEqualTo("{\"candidates\":[{\"content\":{\"role\":\"model\",\"parts\":[{\"text\":\"Hello\"}]},"
                        + "\"finishReason\":\"STOP\",\"index\":0}],\"usageMetadata\":{\"promptTokenCount\":7,"
                        + "\"candidatesTokenCount\":3,\"totalTokenCount\":10},\"modelVersion\":\"gemini-2.5-flash\","
                        + "\"responseId\":\"r1\"}");
        assertThat(streamed.split("\r\n\r\n")).hasSize(3).allMatch(event -> event.startsWith("data: {"));
        assertThat(server.complaints()).isEmpty();
    }

    @ParameterizedTest
    @CsvSource(
            quoteCharacter = '~',
            delimiter = '|',
            value = {
                "\"contents\":[USER]",
                "\"contents\":[USER,USER]",
                "\"contents\":[USER,CALL,RESULT]",
                "\"contents\":[USER,CALL,RESULT,USER]",
                "\"contents\":[USER,CALL,RESULT,CALL,RESULT]",
                "\"contents\":[USER],\"tools\":{\"functionDeclarations\":[{\"name\":\"f\"}]}"
            })
    void validRequest_isAnswered(String fields) throws Exception {
        assertThat(ask("gemini-2.5-flash", fields).statusCode()).isEqualTo(200);
    }

    @ParameterizedTest
    @CsvSource(
            quoteCharacter = '~',
            delimiter = '|',
            value = {
                "\"contents\":[] | contents is not specified",
                "\"contents\":[USER],\"model\":\"m\" | Unknown name \\\"model\\\"",
                "\"contents\":[{\"role\":\"assistant\",\"parts\":[{\"text\":\"Hi\"}]}] | Please use a valid role",
                "\"contents\":[{\"role\":\"user\",\"parts\":[]}] | contents.parts must not be empty",
                "\"contents\":[{\"role\":\"user\",\"parts\":[{}]}] | required oneof field 'data'",
                "\"contents\":[{\"role\":\"user\",\"parts\":[{\"text\":\" \"}]}] | must have a text parameter",
                "\"contents\":[USER,CALL] | multiturn requests ends with a user role",
                "\"contents\":[CALL,RESULT] | function call turn comes immediately after a user turn",
                "\"contents\":[USER,CALL,USER] | number of function response parts is equal",
                "\"contents\":[USER,RESULT] | function response turn comes immediately after a function call turn",
                "\"contents\":[USER,CALLS,RESULT] | number of function response parts is equal",
                "\"contents\":[USER,CALLS,RESULT,RESULT] | number of function response parts is equal",
                "\"contents\":[USER],\"generationConfig\":{\"maxOutputTokens\":0} | max_output_tokens",
                "\"contents\":[USER],\"tools\":[{\"functionDeclarations\":[{\"name\":\"1\"}]}] | Invalid function name",
                "\"contents\":[USER],\"tools\":[{\"functionDeclarations\":[{\"name\":\"f\"},{\"name\":\"f\"}]}] | Duplicate function"
            })
    void request_thatTheRealServiceRejects_isRejected(String fields, String message) throws Exception {
        HttpResponse<String> response = ask("gemini-2.5-flash", fields);

        assertThat(response.statusCode()).isEqualTo(400);
        assertThat(response.body()).contains(message).contains("\"status\":\"INVALID_ARGUMENT\"");
        assertThat(server.complaints()).hasSize(1);
    }

    @ParameterizedTest
    @CsvSource(
            quoteCharacter = '~',
            delimiter = '|',
            value = {
                "{\"type\":\"OBJECT\"} | should be non-empty for OBJECT type",
                "{\"type\":\"OBJECT\",\"properties\":{\"a\":{}}} | must be specified",
                "{\"type\":\"OBJECT\",\"properties\":{\"a\":{\"type\":\"ARRAY\"}}} | items: missing field",
                "{\"type\":\"OBJECT\",\"properties\":{\"a\":{\"type\":\"INTEGER\",\"enum\":[\"1\"]}}} | only allowed for STRING",
                "{\"type\":\"OBJECT\",\"properties\":{\"a\":{\"type\":\"STRING\",\"enum\":[\"\"]}}} | cannot be empty",
                "{\"type\":\"OBJECT\",\"properties\":{\"a\":{\"type\":\"STRING\",\"const\":\"1\"}}} | Unknown name \\\"const\\\"",
                "{\"type\":\"OBJECT\",\"properties\":{\"a\":{\"type\":\"STRING\"}},\"required\":[\"b\"]} | property is not defined"
            })
    void schema_thatTheRealServiceRejects_isRejected(String schema, String message) throws Exception {
        HttpResponse<String> response = ask(
                "gemini-2.5-flash",
                "\"contents\":[USER],\"tools\":[{\"functionDeclarations\":[{\"name\":\"f\",\"parameters\":" + schema
                        + "}]}]");

        assertThat(response.statusCode()).isEqualTo(400);
        assertThat(response.body()).contains(message);
    }

    @Test
    void call_withoutSignatureInTheCurrentTurn_isRejectedByNewModelsOnly() throws Exception {
        assertThat(ask("gemini-2.5-pro", "\"contents\":[USER,CALL,RESULT]").statusCode())
                .isEqualTo(200);
        assertThat(ask("gemini-3-pro", "\"contents\":[USER,CALL,RESULT,USER]").statusCode())
                .isEqualTo(200);
        assertThat(ask("gemini-3-pro", "\"contents\":[USER,CALL,RESULT]").body())
                .contains("missing a thought_signature");
        assertThat(ask(
                                "gemini-2.5-pro",
                                "\"contents\":[USER,"
                                        + CALL.replace(
                                                "{\"functionCall\"", "{\"thoughtSignature\":\"eA==\",\"functionCall\"")
                                        + ",RESULT]")
                        .body())
                .contains("Corrupted thought signature");
    }

    @Test
    void key_missingOrWrong_isRejected() throws Exception {
        String path = "/v1beta/models/gemini-2.5-flash:generateContent";
        String body = "{\"contents\":[" + USER + "]}";

        assertThat(post(path, Map.of(), body).statusCode()).isEqualTo(403);
        assertThat(post(path, Map.of("x-goog-api-key", "other"), body).body()).contains("API key not valid");
        assertThat(post(path + "?key=" + ModelServer.KEY, Map.of(), body).statusCode())
                .isEqualTo(200);
        assertThat(post("/v1beta/models/gemini-2.5-flash:streamGenerateContent", Map.of(), body)
                        .statusCode())
                .isEqualTo(404);
    }
}
