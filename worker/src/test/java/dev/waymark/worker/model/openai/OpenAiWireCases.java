package dev.waymark.worker.model.openai;

import static org.assertj.core.api.Assertions.assertThat;

import dev.waymark.conversation.message.Message;
import dev.waymark.conversation.message.Part;
import dev.waymark.conversation.message.Reply;
import dev.waymark.conversation.message.Role;
import dev.waymark.conversation.value.Json;
import dev.waymark.testkit.model.ModelAnswer;
import dev.waymark.worker.model.http.WireCases;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Tests for both APIs of OpenAI, whose errors have the same format. */
abstract class OpenAiWireCases extends WireCases {
    @Override
    protected String errorBody(String type, String message) {
        return "{\"error\":{\"message\":\"" + message + "\",\"type\":\"some_type\",\"param\":null,\"code\":\"" + type
                + "\"}}";
    }

    /** The last two are spelled as Waymark spells them, so they are stored once. */
    @ParameterizedTest
    @ValueSource(
            strings = {
                "{ \"city\": \"Oslo\" }",
                "{\"cents\":1.50}",
                "{\"city\":\"Z\\u00fcrich\"}",
                "{\"b\":1,\"a\":[true,null]}",
                "{}"
            })
    void arguments_areSentBackUnchanged(String arguments) throws Exception {
        server().answers(ModelAnswer.says().calls("tu_1", "weather", arguments), ModelAnswer.says("Fine."));
        Message question = Message.user("Weather?");

        Reply reply = provider().reply(request(List.of(question)));
        provider()
                .reply(request(List.of(
                        question,
                        new Message(Role.ASSISTANT, reply.content()),
                        Message.results(List.of(new Part.ToolResult("tu_1", "rain", false))))));

        assertThat(server().received().get(1).body().findValuesAsText("arguments"))
                .containsExactly(arguments);
        boolean isOurs = arguments.startsWith("{\"b") || arguments.equals("{}");
        assertThat(reply.calls().get(0).sent())
                .isEqualTo(isOurs ? Optional.empty() : Optional.of(Json.of(Map.of("arguments", arguments))));
    }
}
