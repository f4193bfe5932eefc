package dev.waymark.worker.model.anthropic;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.JsonNode;
import dev.waymark.agent.ModelOptions;
import dev.waymark.conversation.message.Message;
import dev.waymark.conversation.message.Part;
import dev.waymark.conversation.value.Json;
import dev.waymark.model.ModelRequest;
import dev.waymark.worker.model.http.ProviderJson;
import dev.waymark.worker.model.http.WireConversation;
import dev.waymark.worker.model.http.WireName;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.junit.jupiter.api.Test;

class AnthropicMapperTest {
    private static final Part.Reasoning THOUGHT =
            OpaqueBlock.reasoning("m-1", "Hm.", Json.of(Map.of("type", "thinking", "signature", "c2ln")));

    @Test
    void cacheOfAnHour_isRequestedAtEachMark() throws Exception {
        ModelRequest request = new ModelRequest(
                "m-1",
                Optional.of("Look."),
                List.of(Message.user("Hi")),
                List.of(),
                100,
                ModelOptions.NONE.withCache("1h"));

        assertThat(body(request).findValues("cache_control"))
                .hasSize(2)
                .allSatisfy(mark -> assertThat(mark.path("ttl").asText()).isEqualTo("1h"));
        assertThat(body(request.to("m-1", ModelOptions.NONE.withCache("5m"))).toString())
                .doesNotContain("ttl");
    }

    @Test
    void request_withEverything_hasTheWholeBody() throws Exception {
        assertThat(body(WireConversation.withEverything(THOUGHT))).isEqualTo(json("""
                        {'model': 'm-1', 'max_tokens': 100, 'stream': true,
                         'system': [{'type': 'text', 'text': 'Be brief.', 'cache_control': {'type': 'ephemeral'}}],
                         'tools': [{'name': 'weather', 'description': 'The weather', 'input_schema': {'type': 'object'}},
                                   {'name': 'bare', 'input_schema': {'type': 'object'}}],
                         'messages': [
                           {'role': 'user', 'content': [
                             {'type': 'text', 'text': 'Here, and there?'},
                             {'type': 'image', 'source': {'type': 'url', 'url': 'https://images.example/there.png'}},
                             {'type': 'image', 'cache_control': {'type': 'ephemeral'},
                              'source': {'type': 'base64', 'media_type': 'image/jpeg', 'data': 'aGVyZQ=='}}]},
                           {'role': 'assistant', 'content': [
                             {'type': 'thinking', 'thinking': 'Hm.', 'signature': 'c2ln'},
                             {'type': 'text', 'text': 'One moment.'},
                             {'type': 'tool_use', 'id': 'tu_1', 'name': 'weather',
                              'input': {'city': 'Zürich', 'when': null, 'at': [1, 2.5, null]}},
                             {'type': 'tool_use', 'id': 'RENAMED', 'name': 'weather',
                              'input': {'invalid_arguments': '{broken'}}]},
                           {'role': 'user', 'content': [
                             {'type': 'tool_result', 'tool_use_id': 'tu_1', 'content': 'rain'},
                             {'type': 'tool_result', 'tool_use_id': 'RENAMED', 'content': 'Invalid input', 'is_error': true}]},
                           {'role': 'user', 'content': [{'type': 'text', 'text': 'And?'}]},
                           {'role': 'user', 'content': [
                             {'type': 'text', 'text': 'Quick!', 'cache_control': {'type': 'ephemeral'}}]}]}
                        """));
    }

    /**
     * Apart from cache marks, each request begins with the previous one. Otherwise the prompt cache would never match.
     */
    @Test
    void nextRequest_beginsWithThisOne() throws Exception {
        ModelRequest now = WireConversation.withEverything(THOUGHT);
        List<Message> more = new ArrayList<>(now.messages());
        more.add(Message.assistant(new Part.Text("Rain.")));
        more.add(Message.user("Thanks"));
        ModelRequest next = new ModelRequest(now.model(), now.instructions(), more, now.tools(), now.maxTokens());

        String sent = withoutMarks(body(now));
        String messages = sent.substring(sent.indexOf("\"messages\""), sent.indexOf("],\"tools\""));
        assertThat(withoutMarks(body(next))).contains(messages);
        assertThat(body(next).at("/messages/4/content/0").has("cache_control")).isTrue();
    }

    @Test
    void request_withoutInstructions_marksTheTools() throws Exception {
        ModelRequest request = WireConversation.withEverything(THOUGHT);
        JsonNode body = body(new ModelRequest(
                request.model(), Optional.of(" "), request.messages(), request.tools(), request.maxTokens()));

        assertThat(body.has("system")).isFalse();
        assertThat(body.at("/tools/0").has("cache_control")).isFalse();
        assertThat(body.at("/tools/1").has("cache_control")).isTrue();
    }

    private static String withoutMarks(JsonNode body) {
        return body.toString().replace(",\"cache_control\":{\"type\":\"ephemeral\"}", "");
    }

    private static JsonNode body(ModelRequest request) throws JsonProcessingException {
        return ProviderJson.MAPPER.readTree(ProviderJson.MAPPER.writeValueAsString(AnthropicMapper.request(request)));
    }

    private static JsonNode json(String text) throws JsonProcessingException {
        return ProviderJson.MAPPER.readTree(text.replace('\'', '"').replace("RENAMED", WireName.ofCall("tu_1~2")));
    }
}
