package dev.waymark.worker.model.openai;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import com.openai.core.ObjectMappers;
import com.openai.models.chat.completions.ChatCompletionCreateParams;
import com.openai.models.responses.ResponseCreateParams;
import dev.waymark.agent.ModelOptions;
import dev.waymark.conversation.value.Json;
import dev.waymark.model.ModelRequest;
import dev.waymark.worker.model.http.ClientReading;
import dev.waymark.worker.model.http.GoldenRequest;
import dev.waymark.worker.model.http.ProviderJson;
import dev.waymark.worker.model.http.WireConversation;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.Test;

/** OpenAI's own client for Java reads our requests. */
class OpenAiClientTest {
    private static final String MODEL = "gpt-5.1";

    private static final ModelOptions OPTIONS = ModelOptions.NONE
            .withEffort("high")
            .withServiceTier("flex")
            .withTemperature(0.5)
            .withParallelCalls(false)
            .withToolChoice("bare");

    private static ModelRequest chat() {
        return WireConversation.rich(
                MODEL,
                ReasoningDetails.reasoning(MODEL, "Hm."),
                ReasoningDetails.signing(
                        MODEL, List.of(WireConversation.ordered("{'google':{'thought_signature':'c2ln'}}"))),
                OPTIONS);
    }

    private static ModelRequest responses() {
        Json item = WireConversation.ordered("{'type':'reasoning','id':'rs_1','summary':[],'encrypted_content':'x'}");
        return WireConversation.rich(
                MODEL,
                ResponseItems.reasoning(MODEL, "", Optional.of(item)),
                ResponseItems.phase(MODEL, "commentary"),
                OPTIONS);
    }

    @Test
    void chatRequest_readByTheClient_hasOnlyExpectedUnknownProperties() throws Exception {
        ChatCompletionCreateParams.Body body = ClientReading.read(
                OpenAiMapper.request(chat(), true), ObjectMappers.jsonMapper(), ChatCompletionCreateParams.Body.class);

        body.validate();
        assertThat(ClientReading.unknown(body))
                .containsExactly(
                        // For servers such as DeepSeek's, which want it back with the calls that it led to.
                        "ChatCompletionAssistantMessageParam.reasoning_content",
                        // The client sends it from another method.
                        "ChatCompletionCreateParams.Body.stream",
                        // Google's signatures of calls.
                        "ChatCompletionMessageFunctionToolCall.extra_content",
                        // Schemas.
                        "FunctionParameters.type",
                        "ResponseFormatJsonSchema.JsonSchema.Schema.additionalProperties",
                        "ResponseFormatJsonSchema.JsonSchema.Schema.properties",
                        "ResponseFormatJsonSchema.JsonSchema.Schema.required",
                        "ResponseFormatJsonSchema.JsonSchema.Schema.type");
    }

    @Test
    void responsesRequest_readByTheClient_hasOnlyExpectedUnknownProperties() throws Exception {
        JsonNode request = ProviderJson.MAPPER.valueToTree(ResponsesMapper.request(responses(), true));
        // The API's reference makes the type of a message optional, but the client needs it.
        for (JsonNode item : request.path("input")) {
            if (!item.has("type")) {
                ((ObjectNode) item).put("type", "message");
            }
        }
        ResponseCreateParams.Body body =
                ClientReading.read(request, ObjectMappers.jsonMapper(), ResponseCreateParams.Body.class);

        body.validate();
        assertThat(ClientReading.unknown(body))
                .containsExactly(
                        // Part of a schema, like those below.
                        "FunctionTool.Parameters.type",
                        // The client sends it from another method.
                        "ResponseCreateParams.Body.stream",
                        // The schema of the reply.
                        "ResponseFormatTextJsonSchemaConfig.Schema.additionalProperties",
                        "ResponseFormatTextJsonSchemaConfig.Schema.properties",
                        "ResponseFormatTextJsonSchemaConfig.Schema.required",
                        "ResponseFormatTextJsonSchemaConfig.Schema.type");
    }

    @Test
    void chatRequest_equalsTheRecordedOne() throws Exception {
        GoldenRequest.check("openai-chat.json", OpenAiMapper.request(chat(), true));
    }

    @Test
    void responsesRequest_equalsTheRecordedOne() throws Exception {
        GoldenRequest.check("openai-responses.json", ResponsesMapper.request(responses(), true));
    }
}
