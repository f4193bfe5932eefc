package dev.waymark.testkit.model;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.waymark.testkit.model.ModelAnswer.Piece;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.TreeMap;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class AnthropicServerTest {
    private static final String TODAY = "claude-opus-5-5";
    private static final String FORMER = "claude-sonnet-4-5";
    private static final String CONTROLS = "thinking-binding-controls-2026-08-01";
    private static final HttpClient HTTP = HttpClient.newHttpClient();

    private final ObjectNode body = ModelServer.object("{\"max_tokens\":100,\"stream\":true,"
            + "\"system\":[{\"type\":\"text\",\"text\":\"Be brief.\"}],"
            + "\"tools\":[{\"name\":\"look\",\"description\":\"\",\"input_schema\":{\"type\":\"object\"}}],"
            + "\"messages\":[{\"role\":\"user\",\"content\":\"Hi\"}]}");
    private final Map<String, String> headers = new LinkedHashMap<>();
    private AnthropicServer server;

    @BeforeEach
    void start() {
        body.put("model", TODAY);
        headers.put("x-api-key", ModelServer.KEY);
        headers.put("anthropic-version", "2023-06-01");
        headers.put("Content-Type", "application/json");
        server = new AnthropicServer();
    }

    @AfterEach
    void stop() {
        server.close();
    }

    private HttpResponse<String> ask() throws Exception {
        HttpRequest.Builder request = HttpRequest.newBuilder(URI.create(server.address() + "/v1/messages"))
                .POST(HttpRequest.BodyPublishers.ofString(body.toString()));
        headers.forEach(request::header);
        return HTTP.send(request.build(), HttpResponse.BodyHandlers.ofString());
    }

    private String refusal() throws Exception {
        HttpResponse<String> response = ask();
        assertThat(response.statusCode()).isEqualTo(400);
        return ModelServer.object(response.body()).at("/error/message").asText();
    }

    private void accepted() throws Exception {
        assertThat(ask().body()).contains("message_stop");
    }

    private ArrayNode messages() {
        return (ArrayNode) body.path("messages");
    }

    private ArrayNode content(int message) {
        return (ArrayNode) messages().path(message).path("content");
    }

    /** Requests this reply, and adds it to the messages unchanged, with a result for each call. */
    private void exchange(ModelAnswer.Speech speech) throws Exception {
        server.answers(speech);
        HttpResponse<String> response = ask();
        assertThat(response.statusCode()).as(response.body()).isEqualTo(200);
        ArrayNode reply = messages().addObject().put("role", "assistant").putArray("content");
        reply.addAll(blocks(response.body()));
        ArrayNode next = messages().addObject().put("role", "user").putArray("content");
        for (JsonNode block : reply) {
            if (block.path("type").asText().equals("tool_use")) {
                next.addObject()
                        .put("type", "tool_result")
                        .put("tool_use_id", block.path("id").asText())
                        .put("content", "ok");
            }
        }
        text(next, "Go on.");
    }

    private static ObjectNode text(ArrayNode content, String text) {
        return content.addObject().put("type", "text").put("text", text);
    }

    private static ArrayNode blocks(String stream) {
        Map<Integer, ObjectNode> blocks = new TreeMap<>();
        Map<Integer, StringBuilder> inputs = new TreeMap<>();
        stream.lines().filter(line -> line.startsWith("data: ")).forEach(line -> {
            ObjectNode event = ModelServer.object(line.substring("data: ".length()));
            int index = event.path("index").asInt();
            JsonNode delta = event.path("delta");
            if (event.has("content_block")) {
                blocks.put(index, (ObjectNode) event.get("content_block"));
            } else if (delta.has("partial_json")) {
                inputs.computeIfAbsent(index, at -> new StringBuilder())
                        .append(delta.path("partial_json").asText());
            } else if (event.has("index")) {
                delta.properties().stream()
                        .filter(field -> !field.getKey().equals("type"))
                        .forEach(field -> blocks.get(index)
                                .put(
                                        field.getKey(),
                                        blocks.get(index).path(field.getKey()).asText()
                                                + field.getValue().asText()));
            }
        });
        inputs.forEach((index, input) -> blocks.get(index).set("input", exact(input.toString())));
        return ModelServer.JSON.createArrayNode().addAll(blocks.values());
    }

    private static JsonNode exact(String json) {
        try {
            return AnthropicServer.EXACT.readTree(json);
        } catch (JsonProcessingException e) {
            throw new IllegalArgumentException(json, e);
        }
    }

    private static ModelAnswer.Speech thoughtful(String thought) {
        return ModelAnswer.says()
                .plus(new Piece.Thought(thought, "sig"))
                .plus(new Piece.Words("Let me see."))
                .plus(new Piece.Strange("{\"type\":\"redacted_thinking\",\"data\":\"c2VhbGVk\"}"));
    }

    private ObjectNode dropping() {
        headers.put("anthropic-beta", "files-api-2025-04-14," + CONTROLS);
        ObjectNode thinking = body.putObject("thinking").put("type", "adaptive");
        thinking.putObject("block_binding").put("prefix_mismatch_behavior", "drop_block");
        return thinking;
    }

    @Test
    void conversation_thatOnlyGrows_isAccepted() throws Exception {
        for (int i = 0; i < 5; i++) {
            exchange(thoughtful("Hm " + i).calls("tu_" + i, "look", "{\"n\": 1.50, \"b\": {\"z\": 1, \"a\": 2}}"));
        }

        accepted();
        assertThat(server.dropped()).isEmpty();
    }

    /** Changes something before a thinking block. */
    private void change(String what) {
        switch (what) {
            case "system" -> ((ObjectNode) body.path("system").path(0)).put("text", "Be verbose.");
            case "tools" -> ((ArrayNode) body.path("tools")).remove(0);
            case "first message" -> ((ObjectNode) messages().path(0)).put("content", "Hello");
            case "result" -> ((ObjectNode) content(2).path(0)).put("text", "Stop.");
            case "text between" -> content(1).remove(1);
            case "thinking between" -> content(1).remove(2);
            case "mark" ->
                ((ObjectNode) content(2).path(0)).putObject("cache_control").put("type", "ephemeral");
            case "text as a block" -> text(((ObjectNode) messages().path(0)).putArray("content"), "Hi");
            case "thinking from the beginning" -> {
                content(1).remove(2);
                content(1).remove(0);
            }
            case "effort" -> body.putObject("output_config").put("effort", "high");
            case "tool choice" -> body.putObject("tool_choice").put("type", "none");
            default -> throw new IllegalArgumentException(what);
        }
    }

    @ParameterizedTest
    @CsvSource({
        "system, messages.1.content.0, The `system` prompt differs",
        "tools, messages.1.content.0, The `tools` differ",
        "first message, messages.1.content.0, A message before this block differs",
        "result, messages.3.content.0, A message before this block differs",
        "text between, messages.1.content.1, A message before this block differs",
        "thinking between, messages.3.content.0, The `thinking` block that preceded this one",
    })
    void change_beforeThinking_isRefused(String what, String path, String why) throws Exception {
        exchange(thoughtful("One"));
        exchange(thoughtful("Two"));

        change(what);

        assertThat(refusal())
                .startsWith(path + ": Invalid `signature` in `")
                .contains("The block is bound to a different conversation")
                .contains(why);
    }

    @ParameterizedTest
    @CsvSource({"mark", "text as a block", "thinking from the beginning", "effort", "tool choice"})
    void change_ofUnboundContent_isAccepted(String what) throws Exception {
        exchange(thoughtful("One"));
        exchange(thoughtful("Two"));

        change(what);

        accepted();
        assertThat(server.dropped()).isEmpty();
    }

    @Test
    void numbers_areComparedAsSpelled() throws Exception {
        exchange(ModelAnswer.says().calls("tu_1", "look", "{\"n\":1.50}").plus(new Piece.Thought("Hm", "sig")));
        ((ObjectNode) content(1).path(0).path("input")).put("n", 1.5);

        assertThat(refusal()).contains("A message before this block differs");
    }

    @Test
    void requestedDrop_isReported() throws Exception {
        exchange(thoughtful("One"));
        change("system");
        dropping();

        assertThat(ask().body())
                .contains("\"input_transformations\":[{\"type\":\"thinking_dropped\",\"path\":\"messages.1.content.0\","
                        + "\"reason\":\"prefix_binding_mismatch\"},{\"type\":\"thinking_dropped\","
                        + "\"path\":\"messages.1.content.2\",\"reason\":\"prefix_binding_mismatch\"}]");
        assertThat(server.dropped()).containsExactly("messages.1.content.0", "messages.1.content.2");
    }

    @Test
    void thinking_afterADrop_isBoundToWhatWasSent() throws Exception {
        exchange(thoughtful("One"));
        change("system");
        dropping();
        exchange(thoughtful("Two"));

        accepted();
        assertThat(server.dropped()).doesNotContain("messages.3.content.0");
    }

    @Test
    void setting_withoutItsHeader_isRefused() throws Exception {
        dropping();
        headers.remove("anthropic-beta");

        assertThat(refusal()).contains("thinking.block_binding").contains(CONTROLS);
    }

    @Test
    void drop_byDefault_isSilent() throws Exception {
        server.droppingByDefault();
        exchange(thoughtful("One"));
        change("system");

        assertThat(ask().body()).contains("message_stop").doesNotContain("input_transformations");
        assertThat(server.dropped()).containsExactly("messages.1.content.0", "messages.1.content.2");
    }

    @Test
    void thinking_ofAnotherModel_isDropped() throws Exception {
        exchange(thoughtful("One"));
        body.put("model", "claude-fable-5-2");

        accepted();
        assertThat(server.dropped()).containsExactly("messages.1.content.0", "messages.1.content.2");
    }

    @ParameterizedTest
    @CsvSource({"thinking, Two", "signature, c2ln"})
    void thinking_thatWasChanged_isRefusedEvenWithDrops(String field, String value) throws Exception {
        exchange(thoughtful("One"));
        ((ObjectNode) content(1).path(0)).put(field, value);
        dropping();

        assertThat(refusal()).isEqualTo("messages.1.content.0: Invalid `signature` in `thinking` block");
    }

    @Test
    void earlierModel_isNotBoundByDefault() throws Exception {
        body.put("model", FORMER);
        exchange(thoughtful("One"));
        change("system");
        accepted();
        server.bindingEveryModel();
        messages().removeAll();
        messages().addObject().put("role", "user").put("content", "Hi");
        exchange(thoughtful("One"));
        ((ObjectNode) body.path("system").path(0)).put("text", "Be kind.");

        assertThat(refusal()).contains("The block is bound to a different conversation");
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "thinking    | {'type':'disabled'}                         | thinking.type",
                "thinking    | {'type':'between_tools'}                    | thinking.type",
                "thinking    | {'type':'enabled','budget_tokens':1024}     | thinking.type",
                "tool_choice | {'type':'any'}                              | forced tool use",
                "tool_choice | {'type':'tool','name':'look'}               | forced tool use",
                "temperature | 1                                           | temperature",
            })
    void setting_thatCurrentModelsLack_isRefused(String name, String value, String why) throws Exception {
        server.answers(ModelAnswer.says("Hello."));
        body.put("max_tokens", 2_000);
        body.set(name, ModelServer.JSON.readTree(value.replace('\'', '"')));

        assertThat(refusal()).contains(why);

        if (!value.contains("between_tools")) {
            body.put("model", FORMER);
            accepted();
        }
    }

    @Test
    void thinkingBetweenTools_isAcceptedByItsModelsBelowMaxEffort() throws Exception {
        server.answers(ModelAnswer.says("Hello."));
        body.put("model", "claude-sonnet-5-5");
        body.putObject("thinking").put("type", "between_tools");
        accepted();
        body.putObject("output_config").put("effort", "max");

        assertThat(refusal()).contains("between_tools");
    }

    @ParameterizedTest
    @CsvSource({"'', Hi", "'', ' '", "' ', ' '"})
    void emptyText_isRefused(String text, String other) throws Exception {
        ArrayNode content = ((ObjectNode) messages().path(0)).putArray("content");
        text(content, text);
        text(content, other);

        assertThat(refusal()).contains("text content blocks must");

        content.remove(1);
        assertThat(refusal()).contains("text content blocks must");
    }

    @Test
    void blankText_besideOtherBlocks_isAccepted() throws Exception {
        server.answers(ModelAnswer.says("Hello."));
        ArrayNode content = ((ObjectNode) messages().path(0)).putArray("content");
        text(content, "Hi");
        text(content, "\n\n");

        accepted();
    }

    @Test
    void consecutiveUserMessages_areOne() throws Exception {
        exchange(thoughtful("One").calls("tu_1", "look", "{}"));
        messages().addObject().put("role", "user").put("content", "Are you there?");

        accepted();
    }

    @Test
    void results_inTwoMessages_areRefused() throws Exception {
        exchange(ModelAnswer.says().calls("tu_1", "look", "{}").calls("tu_2", "look", "{}"));
        JsonNode second = content(2).remove(1);
        messages().addObject().put("role", "user").putArray("content").add(second);

        assertThat(refusal()).contains("tu_2");
    }

    @Test
    void trailingThinking_isRefusedByTheChosenModels() throws Exception {
        exchange(thoughtful("One"));
        accepted();
        server.refusingTrailingThinking(TODAY);

        assertThat(refusal()).contains("The final block in an assistant message cannot be `thinking`");
    }

    @Test
    void caller_mustBeSentBack() throws Exception {
        server.namingCallers();
        exchange(ModelAnswer.says().calls("tu_1", "look", "{}"));
        accepted();
        ((ObjectNode) content(1).path(0)).remove("caller");

        assertThat(refusal()).contains("tool_use.caller");
    }

    @Test
    void reply_thatWasPaused_isContinued() throws Exception {
        exchange(thoughtful("One").stopping("pause_turn"));
        messages().remove(2);
        exchange(thoughtful("Two").stopping("pause_turn"));
        messages().remove(3);
        accepted();
        content(2).remove(2);

        assertThat(refusal()).contains("must end with a user message");
    }

    @Test
    void reply_thatWasNotPaused_isNotContinued() throws Exception {
        exchange(thoughtful("One"));
        messages().remove(2);

        assertThat(refusal()).contains("must end with a user message");
    }

    @Test
    void laterServer_recognizesEarlierBlocks() throws Exception {
        exchange(thoughtful("One"));
        server.close();
        server = new AnthropicServer();
        server.answers(ModelAnswer.says("Hello."));

        accepted();
        assertThat(server.dropped()).isEmpty();
    }
}
