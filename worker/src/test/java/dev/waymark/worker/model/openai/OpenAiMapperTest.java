package dev.waymark.worker.model.openai;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.JsonNode;
import dev.waymark.model.ModelRequest;
import dev.waymark.worker.model.http.ProviderJson;
import dev.waymark.worker.model.http.WireConversation;
import dev.waymark.worker.model.http.WireName;
import org.junit.jupiter.api.Test;

class OpenAiMapperTest {
    private static final ModelRequest REQUEST =
            WireConversation.withEverything(ReasoningDetails.reasoning("m-1", "Hm."));

    @Test
    void request_withEverything_hasTheWholeBody() throws Exception {
        assertThat(body(false)).isEqualTo(json("""
                        {'model': 'm-1', 'max_tokens': 100, 'stream': true, 'stream_options': {'include_usage': true},
                         'tools': [
                           {'type': 'function', 'function':
                             {'name': 'weather', 'description': 'The weather', 'parameters': {'type': 'object'}}},
                           {'type': 'function', 'function': {'name': 'bare', 'parameters': {'type': 'object'}}}],
                         'messages': [
                           {'role': 'system', 'content': 'Be brief.'},
                           {'role': 'user', 'content': [
                             {'type': 'text', 'text': 'Here, and there?'},
                             {'type': 'image_url', 'image_url': {'url': 'https://images.example/there.png'}},
                             {'type': 'image_url', 'image_url': {'url': 'data:image/jpeg;base64,aGVyZQ=='}}]},
                           {'role': 'assistant', 'content': 'One moment.', 'reasoning_content': 'Hm.', 'tool_calls': [
                             {'id': 'tu_1', 'type': 'function', 'function': {'name': 'weather',
                              'arguments': '{#city#:#Zürich#,#when#:null,#at#:[1,2.5,null]}'}},
                             {'id': 'RENAMED', 'type': 'function', 'function': {'name': 'weather',
                              'arguments': '{#invalid_arguments#:#{broken#}'}}]},
                           {'role': 'tool', 'tool_call_id': 'tu_1', 'content': 'rain'},
                           {'role': 'tool', 'tool_call_id': 'RENAMED', 'content': 'Invalid input'},
                           {'role': 'user', 'content': 'And?§n§nQuick!'}]}
                        """));
    }

    @Test
    void request_atOpenAi_hasTheNewerTokenLimit() {
        assertThat(body(true).has("max_tokens")).isFalse();
        assertThat(body(true).get("max_completion_tokens").intValue()).isEqualTo(100);
    }

    private static JsonNode body(boolean newLimit) {
        return ProviderJson.MAPPER.valueToTree(OpenAiMapper.request(REQUEST, newLimit));
    }

    private static JsonNode json(String text) throws JsonProcessingException {
        return ProviderJson.MAPPER.readTree(text.replace('\'', '"')
                .replace("#", "\\\"")
                .replace('§', '\\')
                .replace("RENAMED", WireName.ofCall("tu_1~2")));
    }
}
