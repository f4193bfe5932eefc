package dev.waymark.client.span;

import static org.assertj.core.api.Assertions.assertThat;

import dev.waymark.contract.PayloadJson;
import dev.waymark.conversation.message.Message;
import dev.waymark.conversation.message.Part;
import dev.waymark.conversation.message.Reply;
import dev.waymark.conversation.message.Role;
import dev.waymark.conversation.value.Json;
import dev.waymark.conversation.value.Usage;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.junit.jupiter.api.Test;

class SpanMessagesTest {
    private static final Part THINKING = new Part.Reasoning("Hm.", Json.of(Map.of("signature", "c2ln")));

    private static void assertIs(String found, String expected) throws Exception {
        assertThat(PayloadJson.MAPPER.readTree(found))
                .isEqualTo(PayloadJson.MAPPER.readTree(expected.replace('\'', '"')));
    }

    @Test
    void input_hasTheRolesAndPartsOfTheConventions_withoutSignaturesAndImages() throws Exception {
        Message question = new Message(
                Role.USER,
                List.of(
                        new Part.Text("Where?"),
                        new Part.Image("https://example.org/map.png", Optional.of("image/png")),
                        new Part.ImageData("aGVsbG8=", "image/png")));
        Message reply = Message.assistant(
                THINKING,
                new Part.ToolUse("tu_1", "look", Json.of(Map.of("at", "map"))),
                new Part.Reasoning("", Json.of(Map.of("signature", "eA"))));
        Message results = Message.results(
                List.of(new Part.ToolResult("tu_1", "there", false, Optional.of("A person changed it."))));

        assertIs(SpanMessages.input(List.of(question, reply, results)), """
                [{'role': 'user', 'parts': [
                   {'type': 'text', 'content': 'Where?'},
                   {'type': 'uri', 'modality': 'image', 'mime_type': 'image/png', 'uri': 'https://example.org/map.png'},
                   {'type': 'text', 'content': '(an image)'}]},
                 {'role': 'assistant', 'parts': [
                   {'type': 'reasoning', 'content': 'Hm.'},
                   {'type': 'tool_call', 'id': 'tu_1', 'name': 'look', 'arguments': {'at': 'map'}}]},
                 {'role': 'tool', 'parts': [
                   {'type': 'tool_call_response', 'id': 'tu_1', 'response': 'A person changed it.\\nthere'}]}]""");
    }

    @Test
    void output_saysWhyTheReplyEnded() throws Exception {
        assertIs(
                SpanMessages.output(Reply.of(new Part.Text("There."))),
                "[{'role': 'assistant', 'parts': [{'type': 'text', 'content': 'There.'}], 'finish_reason': 'stop'}]");
        assertThat(SpanMessages.output(new Reply(List.of(new Part.Text("Th")), Usage.NONE, "max_tokens")))
                .contains("\"finish_reason\":\"length\"");
        assertThat(SpanMessages.output(Reply.of(new Part.ToolUse("tu_1", "look", Json.EMPTY_OBJECT))))
                .contains("\"finish_reason\":\"tool_call\"");
        assertIs(SpanMessages.instructions("Look."), "[{'type': 'text', 'content': 'Look.'}]");
    }
}
