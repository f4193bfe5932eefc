package dev.waymark.langchain4j;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import com.fasterxml.jackson.databind.JsonNode;
import dev.langchain4j.model.chat.ChatModel;
import dev.langchain4j.model.chat.StreamingChatModel;
import dev.langchain4j.model.googleai.GoogleAiGeminiChatModel;
import dev.langchain4j.model.googleai.GoogleAiGeminiStreamingChatModel;
import dev.waymark.agent.ToolSpec;
import dev.waymark.contract.PayloadJson;
import dev.waymark.conversation.message.Message;
import dev.waymark.conversation.message.Part;
import dev.waymark.conversation.message.Reply;
import dev.waymark.conversation.message.Role;
import dev.waymark.conversation.value.Json;
import dev.waymark.conversation.value.Usage;
import dev.waymark.fixtures.model.GeminiServer;
import dev.waymark.fixtures.model.ModelServer;
import dev.waymark.model.ModelFailure;
import dev.waymark.model.ModelProvider;
import dev.waymark.model.ModelRequest;
import dev.waymark.testkit.model.ModelAnswer;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** LangChain4j's module for Gemini, whether it streams or not. */
abstract class LangChainGeminiCases extends LangChainCases {
    static final String OLD = "gemini-2.5-flash";
    static final String NEW = "gemini-3-pro-preview";

    private static final Json CITY =
            Json.of(Map.of("type", "object", "properties", Map.of("city", Map.of("type", "string"))));

    /** A model of this name that returns and sends back its thinking. */
    abstract Object thinkingModel(String name);

    /** Answers with this content and this end. */
    abstract ModelAnswer candidate(String content, String finishReason, String usage);

    @Override
    final ModelServer newServer() {
        return new GeminiServer();
    }

    @Override
    final StreamingChatModel streaming(String address) {
        return GoogleAiGeminiStreamingChatModel.builder()
                .baseUrl(address + "/v1beta")
                .apiKey(ModelServer.KEY)
                .modelName(OLD)
                .build();
    }

    @Override
    final ChatModel whole(String address, int retries) {
        return GoogleAiGeminiChatModel.builder()
                .baseUrl(address + "/v1beta")
                .apiKey(ModelServer.KEY)
                .modelName(OLD)
                .maxRetries(retries)
                .build();
    }

    @Override
    final String firstWords() {
        return "data: {\"candidates\":[{\"content\":{\"role\":\"model\",\"parts\":[{\"text\":\"Hel\"}]},\"index\":0}],"
                + "\"usageMetadata\":{\"promptTokenCount\":1,\"totalTokenCount\":1},\"modelVersion\":\"m\"}\r\n\r\n";
    }

    @Override
    final String errorBody(String message) {
        return "{\"error\":{\"code\":1,\"message\":\"" + message + "\",\"status\":\"SOME_STATUS\"}}";
    }

    final ModelRequest asking(List<ToolSpec> tools, Message... messages) {
        return new ModelRequest(model(), Optional.empty(), List.of(messages), tools, 100);
    }

    private static ToolSpec tool(String schema) throws Exception {
        return ToolSpec.java("tried")
                .describedAs("Tried", PayloadJson.MAPPER.readValue(schema, Json.class))
                .build();
    }

    private JsonNode sent() {
        return server().received().get(server().received().size() - 1).body();
    }

    /** LangChain4j 1.9 sends a single object, which Gemini reads like a list of one. */
    private JsonNode declared() {
        return sent().at((IS_1_9 ? "/tools" : "/tools/0") + "/functionDeclarations/0");
    }

    /** The id of the service's first or second call. LangChain4j 1.9 does not read ids, so that calls are numbered. */
    private static String id(int number) {
        return (IS_1_9 ? "call_" : "tu_") + number;
    }

    @Override
    @Test
    protected void reply_calls_areInOrderBehindTheText() throws Exception {
        stage(ModelAnswer.says("One moment.")
                .calls("tu_1", "weather", "{\"city\": \"Tokyo\"}")
                .calls("tu_2", "ask_user", "{\"question\": \"And \\u00fcber all?\", \"n\": [1, null, 2.5]}")
                .using(41, 12));

        Map<String, Object> second = new LinkedHashMap<>();
        second.put("question", "And über all?");
        second.put("n", Arrays.asList(1, null, 2.5));
        assertThat(provider().reply(request(List.of(Message.user("Hi")))))
                .isEqualTo(new Reply(
                        List.of(
                                new Part.Text("One moment."),
                                new Part.ToolUse(id(1), "weather", Json.of(Map.of("city", "Tokyo"))),
                                new Part.ToolUse(id(2), "ask_user", Json.of(second))),
                        new Usage(41, 12),
                        "tool_use"));
    }

    @Test
    void reply_callWithoutArguments_hasNone() throws Exception {
        server().answers(asked ->
                candidate("{\"role\":\"model\",\"parts\":[{\"functionCall\":{\"name\":\"weather\"}}]}", "STOP", "{}"));

        assertThat(provider().reply(request(List.of(Message.user("Hi")))))
                .isEqualTo(new Reply(
                        List.of(new Part.ToolUse("call_1", "weather", Json.EMPTY_OBJECT)), Usage.NONE, "tool_use"));
    }

    @Test
    void request_parallelCalls_areSentOneAfterTheOther() throws Exception {
        stage(ModelAnswer.says("Fine."));

        provider()
                .reply(request(List.of(
                        Message.user("Weather?"),
                        Message.assistant(
                                new Part.Text("One moment."),
                                new Part.ToolUse("tu_1", "weather", Json.of(Map.of("city", "Tokyo"))),
                                new Part.ToolUse("tu_2", "weather", Json.of(Map.of("city", "Oslo")))),
                        Message.results(List.of(
                                new Part.ToolResult("tu_2", "rain", false),
                                new Part.ToolResult("tu_1", "sun", false))))));

        List<String> steps = new ArrayList<>();
        for (JsonNode content : sent().path("contents")) {
            for (JsonNode part : content.path("parts")) {
                steps.add(content.path("role").asText() + " " + part);
            }
        }
        String first = IS_1_9 ? "" : "\"id\":\"tu_1\",";
        String second = IS_1_9 ? "" : "\"id\":\"tu_2\",";
        assertThat(steps)
                .containsExactly(
                        "user {\"text\":\"Weather?\"}",
                        "model {\"text\":\"One moment.\"}",
                        "model {\"functionCall\":{" + first + "\"name\":\"weather\",\"args\":{\"city\":\"Tokyo\"}}}",
                        "user {\"functionResponse\":{" + first
                                + "\"name\":\"weather\",\"response\":{\"response\":\"sun\"}}}",
                        "model {\"functionCall\":{" + second + "\"name\":\"weather\",\"args\":{\"city\":\"Oslo\"}}}",
                        "user {\"functionResponse\":{" + second
                                + "\"name\":\"weather\",\"response\":{\"response\":\"rain\"}}}");
    }

    /** LangChain4j would download it, from any address that the worker can reach. */
    @Test
    void request_imageUrl_isNotDownloaded() throws Exception {
        stage(ModelAnswer.says("Fine."));
        String inside = server().address() + "/cat.png";

        provider().reply(request(List.of(new Message(Role.USER, List.of(new Part.Image(inside, Optional.empty()))))));

        assertThat(server().received()).hasSize(1);
        assertThat(sent().at("/contents/0/parts/0/text").asText())
                .isEqualTo("(an image that cannot be shown: " + inside + ")");
    }

    @Test
    void usage_thinkingModel_countsThinkingAsOutput() throws Exception {
        server().answers(
                        asked -> candidate(
                                "{\"role\":\"model\",\"parts\":[{\"text\":\"Hi\"}]}",
                                "STOP",
                                "{\"promptTokenCount\":10,\"candidatesTokenCount\":5,\"thoughtsTokenCount\":100,\"totalTokenCount\":115}"));

        assertThat(provider().reply(request(List.of(Message.user("Hi")))).usage())
                .isEqualTo(new Usage(10, 105));
    }

    @Test
    void usage_replyOfThinkingOnly_isThinking() throws Exception {
        server().answers(asked -> candidate(
                "{\"role\":\"model\",\"parts\":[{\"text\":\"\"}]}",
                "MAX_TOKENS",
                "{\"promptTokenCount\":10,\"thoughtsTokenCount\":90,\"totalTokenCount\":100}"));

        assertThat(provider().reply(request(List.of(Message.user("Hi")))))
                .isEqualTo(new Reply(List.of(), new Usage(10, 90), "max_tokens"));
    }

    @Test
    void tool_unsupportedSchema_isSentInGeminisTypes() throws Exception {
        stage(ModelAnswer.says("Fine."));
        String schema = """
                {"$schema": "https://json-schema.org/draft/2020-12/schema", "type": "object",
                 "additionalProperties": false, "required": ["age", "unknown"],
                 "$defs": {"city": {"type": "string", "pattern": "[A-Z].*"},
                           "node": {"type": "object", "properties": {"next": {"$ref": "#/$defs/node"}}}},
                 "properties": {
                   "age": {"type": "integer", "exclusiveMinimum": 0, "description": "In years"},
                   "city": {"$ref": "#/$defs/city"},
                   "node": {"$ref": "#/$defs/node"},
                   "unit": {"enum": ["C", "F"]},
                   "level": {"enum": [1, 2]},
                   "note": {"type": ["string", "null"]},
                   "tags": {"type": "array", "maxItems": 3},
                   "either": {"oneOf": [{"type": "boolean"}, {"type": "number"}]},
                   "both": {"allOf": [{"type": "object", "properties": {"a": {"type": "string"}}},
                                      {"properties": {"b": {"const": "x"}}}]},
                   "any": {"default": null},
                   "map": {"type": "object", "additionalProperties": {"type": "string"}}}}
                """;

        provider().reply(asking(List.of(tool(schema)), Message.user("Hi")));

        String any = "{\"anyOf\": [{\"type\": \"STRING\"}, {\"type\": \"NUMBER\"}, {\"type\": \"BOOLEAN\"}]}";
        assertThat(declared().at("/parameters")).isEqualTo(PayloadJson.MAPPER.readTree("""
                        {"type": "OBJECT", "required": ["age"], "properties": {
                           "age": {"type": "INTEGER", "description": "In years\\nJSON Schema: {\\"exclusiveMinimum\\": 0}"},
                           "city": {"type": "STRING", "description": "JSON Schema: {\\"pattern\\": \\"[A-Z].*\\"}"},
                           "node": {"type": "OBJECT", "required": [], "properties": {"next": ANY}},
                           "unit": {"type": "STRING", "enum": ["C", "F"]},
                           "level": {"type": "NUMBER", "description": "JSON Schema: {\\"enum\\": [1, 2]}"},
                           "note": {"anyOf": [{"type": "STRING"}, {"type": "NULL"}]},
                           "tags": {"type": "ARRAY", "items": ANY, "description": "JSON Schema: {\\"maxItems\\": 3}"},
                           "either": {"anyOf": [{"type": "BOOLEAN"}, {"type": "NUMBER"}]},
                           "both": {"type": "OBJECT", "required": [], "properties": {
                               "a": {"type": "STRING"}, "b": {"type": "STRING", "enum": ["x"]}}},
                           "any": ANY_DESCRIBED,
                           "map": {"type": "OBJECT", "required": [], "properties": {},
                                   "description": "JSON Schema: {\\"additionalProperties\\": {\\"type\\": \\"string\\"}}"}}}
                        """.replace(
                        "ANY_DESCRIBED",
                        any.replace(
                                "{\"anyOf\"", "{\"description\": \"JSON Schema: {\\\"default\\\": null}\", \"anyOf\""))
                .replace("ANY", any)));
    }

    private ModelRequest typed(String schema, ToolSpec... tools) throws Exception {
        return asking(List.of(tools), Message.user("Hi"))
                .withReplySchema(Optional.of(PayloadJson.MAPPER.readValue(schema, Json.class)));
    }

    @Test
    void reply_withSchema_isEnforcedByTheService() throws Exception {
        stage(ModelAnswer.says("{\"day\": \"2026-11-27\"}"));

        provider().reply(typed("""
                {"type": "object", "additionalProperties": false, "required": ["day", "guests"], "properties": {
                   "day": {"type": "string", "format": "date"},
                   "guests": {"type": "integer", "minimum": 1},
                   "wish": {"type": ["string", "null"]},
                   "kinds": {"type": "array", "items": {"enum": ["A", "B"]}}}}
                """));

        assertThat(sent().at("/generationConfig/responseMimeType").asText()).isEqualTo("application/json");
        assertThat(sent().at("/generationConfig/responseSchema")).isEqualTo(PayloadJson.MAPPER.readTree("""
                {"type": "OBJECT", "required": ["day", "guests"], "properties": {
                   "day": {"type": "STRING", "description": "JSON Schema: {\\"format\\": \\"date\\"}"},
                   "guests": {"type": "INTEGER", "description": "JSON Schema: {\\"minimum\\": 1}"},
                   "wish": {"anyOf": [{"type": "STRING"}, {"type": "NULL"}]},
                   "kinds": {"type": "ARRAY", "items": {"type": "STRING", "enum": ["A", "B"]}}}}
                """));
    }

    /** A schema with a map would forbid every entry, because Gemini has no maps. Tools exclude a schema. */
    @Test
    void reply_withUnenforceableSchema_hasItInTheInstructionsOnly() throws Exception {
        String city = "{\"type\": \"object\", \"properties\": {\"city\": {\"type\": \"string\"}}}";
        String map = "{\"type\": \"object\", \"additionalProperties\": {\"type\": \"string\"}}";
        List<ModelRequest> requests = List.of(
                typed(city, tool(city)),
                typed(map),
                typed("{\"type\": \"object\", \"properties\": {\"names\": " + map + "}}"),
                typed("{\"type\": \"object\", \"properties\": {\"any\": {}}}"),
                typed("{\"type\": \"object\"}"),
                typed("{\"type\": \"array\", \"items\": {\"type\": \"string\"}}"));
        for (ModelRequest request : requests) {
            stage(ModelAnswer.says("{}"));

            provider().reply(request);

            assertThat(sent().path("generationConfig").has("responseSchema")).isFalse();
            assertThat(sent().at("/generationConfig/responseMimeType").asText()).isNotEqualTo("application/json");
        }
    }

    @Test
    void reply_afterModelRejectedSchema_isRequestedWithoutOne() throws Exception {
        server().answers(asked ->
                asked.body().at("/generationConfig/responseSchema").isMissingNode()
                        ? ModelAnswer.says("{}")
                        : ModelAnswer.error(400, errorBody("response_schema is not supported by this model")));
        ModelProvider provider = provider();
        ModelRequest request = typed("{\"type\": \"object\", \"properties\": {\"city\": {\"type\": \"string\"}}}");

        provider.reply(request);
        provider.reply(request);

        assertThat(server().received()).hasSize(3);
    }

    @Test
    void tool_withoutArguments_isDeclaredWithoutParameters() throws Exception {
        stage(ModelAnswer.says("Fine."));

        provider().reply(asking(List.of(tool("{\"type\": \"object\", \"properties\": {}}")), Message.user("Hi")));

        assertThat(declared())
                .isEqualTo(PayloadJson.MAPPER.readTree("{\"name\": \"tried\", \"description\": \"Tried\"}"));
    }

    @Test
    void tool_alternativesAtTheRoot_areSentAsOptionalArguments() throws Exception {
        stage(ModelAnswer.says("Fine."));

        provider()
                .reply(asking(
                        List.of(tool(
                                "{\"anyOf\": [{\"properties\": {\"a\": {\"type\": \"string\"}}, \"required\": [\"a\"]},"
                                        + " {\"properties\": {\"b\": {\"type\": \"number\"}}}]}")),
                        Message.user("Hi")));

        assertThat(declared().at("/parameters/properties"))
                .isEqualTo(
                        PayloadJson.MAPPER.readTree("{\"a\": {\"type\": \"STRING\"}, \"b\": {\"type\": \"NUMBER\"}}"));
    }

    /** Gemini rejects the next step if the signature of a call is missing. */
    @Test
    void signature_ofACall_isSentBackToItsModelOnly() throws Exception {
        stage(ModelAnswer.says("Let me see.")
                .plus(new ModelAnswer.Piece.Thought("Hm.", "c2ln"))
                .calls("tu_1", "weather", "{\"city\": \"Tokyo\"}")
                .calls("tu_2", "weather", "{\"city\": \"Oslo\"}"));
        ModelProvider thinking = LangChainProvider.of(Map.of(model(), thinkingModel(NEW)));
        ToolSpec weather = ToolSpec.java("weather").describedAs("Weather", CITY).build();

        Reply reply = thinking.reply(asking(List.of(weather), Message.user("Weather?")));
        List<Message> step = List.of(
                Message.user("Weather?"),
                new Message(Role.ASSISTANT, reply.content()),
                Message.results(
                        List.of(new Part.ToolResult(id(1), "rain", false), new Part.ToolResult(id(2), "sun", false))));
        thinking.reply(asking(List.of(weather), step.toArray(Message[]::new)));

        assertThat(reply.content())
                .startsWith(new Part.Reasoning(
                        "Hm.",
                        Json.of(Map.of(
                                "provider",
                                "langchain4j",
                                "model",
                                NEW,
                                "attributes",
                                Map.of("thinking_signature", "c2ln")))));
        assertThat(sent().findValuesAsText("thoughtSignature"))
                .containsExactly("c2ln", "skip_thought_signature_validator");

        LangChainProvider.of(Map.of(model(), thinkingModel(OLD)))
                .reply(asking(List.of(weather), step.toArray(Message[]::new)));
        assertThat(sent().findValuesAsText("thoughtSignature")).isEmpty();
    }

    @Test
    void signature_ofACallFromAnotherModel_isNotDemanded() throws Exception {
        stage(ModelAnswer.says("Fine."));
        ModelProvider thinking = LangChainProvider.of(Map.of(model(), thinkingModel(NEW)));

        thinking.reply(request(List.of(
                Message.user("Weather?"),
                Message.assistant(new Part.ToolUse("tu_1", "weather", Json.of(Map.of("city", "Tokyo")))),
                Message.results(List.of(new Part.ToolResult("tu_1", "rain", false))))));

        assertThat(sent().findValuesAsText("thoughtSignature")).containsExactly("skip_thought_signature_validator");
    }

    /** Without {@code sendThinking(true)}, LangChain4j sends no signatures. */
    @Test
    void signature_modelBuiltWithoutSendThinking_failureSaysSo() {
        expectComplaint();
        stage(ModelAnswer.says("Fine."));
        ModelProvider forgetful = LangChainProvider.of(Map.of(
                model(),
                GoogleAiGeminiStreamingChatModel.builder()
                        .baseUrl(server().address() + "/v1beta")
                        .apiKey(ModelServer.KEY)
                        .modelName(NEW)
                        .build()));

        ModelFailure failure = catchThrowableOfType(
                ModelFailure.class,
                () -> forgetful.reply(request(List.of(
                        Message.user("Weather?"),
                        Message.assistant(new Part.ToolUse("tu_1", "weather", Json.of(Map.of("city", "Tokyo")))),
                        Message.results(List.of(new Part.ToolResult("tu_1", "rain", false)))))));

        assertThat(failure).returns("BadRequest", ModelFailure::type);
        assertThat(failure).hasMessageContaining("missing a thought_signature");
    }

    @ParameterizedTest
    @CsvSource({
        "SAFETY, Refused, false",
        "PROHIBITED_CONTENT, Refused, false",
        "RECITATION, Refused, false",
        "MALFORMED_FUNCTION_CALL, MalformedReply, true"
    })
    void reply_endedByTheService_isAFailure(String reason, String type, boolean retryable) {
        server().answers(asked -> candidate("{\"role\":\"model\",\"parts\":[{\"text\":\"\"}]}", reason, "{}"));

        ModelFailure failure =
                catchThrowableOfType(ModelFailure.class, () -> provider().reply(request(List.of(Message.user("Hi")))));

        assertThat(failure).returns(type, ModelFailure::type).returns(retryable, ModelFailure::retryable);
    }

    /** Gemini's calls are always complete, and LangChain4j does not report a token limit reached after one. */
    @Test
    void reply_callsBeforeTheLimit_areMade() throws Exception {
        stage(ModelAnswer.says().calls("tu_1", "weather", "{}").stopping("MAX_TOKENS"));

        assertThat(provider().reply(request(List.of(Message.user("Hi")))))
                .isEqualTo(Reply.of(new Part.ToolUse(id(1), "weather", Json.EMPTY_OBJECT)));
    }

    @Test
    void reply_textBeforeTheLimit_isMarked() throws Exception {
        stage(ModelAnswer.says("Once upon a").stopping("MAX_TOKENS"));

        assertThat(provider().reply(request(List.of(Message.user("Hi")))))
                .isEqualTo(new Reply(List.of(new Part.Text("Once upon a")), Usage.NONE, "max_tokens"));
    }

    /** Google's message for a limit per minute is OpenAI's message for an empty account. */
    @Test
    void failure_limitPerMinute_isRetriedWhenGoogleSays() {
        server().answers(asked -> ModelAnswer.error(429, """
                {"error": {"code": 429, "message": "You exceeded your current quota, please check your plan and\
                 billing details. For more information on this error, head to:\
                 https://ai.google.dev/gemini-api/docs/rate-limits.", "status": "RESOURCE_EXHAUSTED", "details": [
                 {"@type": "type.googleapis.com/google.rpc.RetryInfo", "retryDelay": "26.5s"}]}}
                """));

        ModelFailure failure =
                catchThrowableOfType(ModelFailure.class, () -> provider().reply(request(List.of(Message.user("Hi")))));

        assertThat(failure)
                .returns("RateLimited", ModelFailure::type)
                .returns(Optional.of(Duration.ofSeconds(27)), ModelFailure::retryAfter);
    }

    @ParameterizedTest
    @CsvSource({
        "API key not valid. Please pass a valid API key., Unauthorized",
        "The input token count (1200000) exceeds the maximum number of tokens allowed (1048576)., ContextWindowExceeded",
        "Request contains an invalid argument., BadRequest"
    })
    void failure_withGooglesMessage_isClassified(String message, String type) {
        server().answers(asked -> ModelAnswer.error(400, errorBody(message)));

        ModelFailure failure =
                catchThrowableOfType(ModelFailure.class, () -> provider().reply(request(List.of(Message.user("Hi")))));

        assertThat(failure).returns(type, ModelFailure::type).returns(false, ModelFailure::retryable);
    }

    /** Errors that LangChain4j cannot read are retried, even if the service refuses permanently. */
    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "{\"promptFeedback\":{\"blockReason\":\"PROHIBITED_CONTENT\"},\"usageMetadata\":{}}",
                "{\"candidates\":[{\"content\":{\"parts\":[]},\"finishReason\":\"A_NEW_REASON\"}],\"usageMetadata\":{}}",
                "{\"error\":{\"code\":503,\"message\":\"The model is overloaded.\",\"status\":\"UNAVAILABLE\"}}"
            })
    void reply_unreadableByLangChain4j_isRetried(String body) {
        server().answers(asked -> unreadable(body));

        ModelFailure failure =
                catchThrowableOfType(ModelFailure.class, () -> provider().reply(request(List.of(Message.user("Hi")))));

        assertThat(failure.retryable()).isTrue();
        assertThat(failure.type()).isIn("StreamCut", "MalformedReply", "ServerError");
    }

    /** LangChain4j 1.9 cannot read it. */
    @Test
    void reply_withoutParts_isEmpty() throws Exception {
        String body =
                "{\"candidates\":[{\"content\":{\"role\":\"model\"},\"finishReason\":\"STOP\"}],\"usageMetadata\":{}}";
        if (IS_1_9) {
            reply_unreadableByLangChain4j_isRetried(body);
        } else {
            server().answers(asked -> unreadable(body));

            assertThat(provider().reply(request(List.of(Message.user("Hi")))))
                    .isEqualTo(new Reply(List.of(), Usage.NONE, "end_turn"));
        }
    }

    abstract ModelAnswer unreadable(String body);
}
