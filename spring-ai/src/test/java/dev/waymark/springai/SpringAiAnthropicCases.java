package dev.waymark.springai;

import static org.assertj.core.api.Assertions.assertThat;

import dev.waymark.conversation.message.Message;
import dev.waymark.conversation.message.Part;
import dev.waymark.conversation.message.Reply;
import dev.waymark.conversation.value.Usage;
import dev.waymark.fixtures.model.AnthropicServer;
import dev.waymark.fixtures.model.ModelServer;
import dev.waymark.testkit.model.ModelAnswer;
import java.util.List;
import org.junit.jupiter.api.Test;

/** Spring AI's Anthropic model, of either line. */
abstract class SpringAiAnthropicCases extends SpringAiCases {
    @Override
    ModelServer newServer() {
        return new AnthropicServer();
    }

    @Override
    String errorBody(String message) {
        return "{\"type\":\"error\",\"error\":{\"type\":\"some_error\",\"message\":\"" + message + "\"}}";
    }

    @Test
    void reply_thoughts_areNotText() throws Exception {
        stage(ModelAnswer.says()
                .plus(new ModelAnswer.Piece.Thought("Hm, hm.", "signed"))
                .plus(new ModelAnswer.Piece.Words("Hello.")));

        assertThat(provider().reply(request(List.of(Message.user("Hi"))))).isEqualTo(Reply.of(new Part.Text("Hello.")));
    }

    @Test
    void reply_cachedTokens_arePartOfTheInput() throws Exception {
        server().answers(ModelAnswer.events(
                "{\"type\":\"message_start\",\"message\":{\"id\":\"msg_1\",\"type\":\"message\",\"role\":\"assistant\","
                        + "\"model\":\"m\",\"content\":[],\"stop_reason\":null,\"stop_sequence\":null,\"usage\":{\"input_tokens\":10,"
                        + "\"output_tokens\":1,\"cache_read_input_tokens\":200,\"cache_creation_input_tokens\":30}}}",
                "{\"type\":\"content_block_start\",\"index\":0,\"content_block\":{\"type\":\"text\",\"text\":\"\"}}",
                "{\"type\":\"content_block_delta\",\"index\":0,\"delta\":{\"type\":\"text_delta\",\"text\":\"Hi\"}}",
                "{\"type\":\"content_block_stop\",\"index\":0}",
                "{\"type\":\"message_delta\",\"delta\":{\"stop_reason\":\"end_turn\",\"stop_sequence\":null},\"usage\":"
                        + "{\"input_tokens\":10,\"output_tokens\":7,\"cache_read_input_tokens\":200,"
                        + "\"cache_creation_input_tokens\":30}}",
                "{\"type\":\"message_stop\"}"));

        assertThat(provider().reply(request(List.of(Message.user("Hi")))))
                .isEqualTo(new Reply(List.of(new Part.Text("Hi")), new Usage(240, 7, 200, 30), "end_turn"));
    }

    @Test
    void reply_refusal_isAFailure() {
        stage(ModelAnswer.says("I ").stopping("refusal"));

        assertThat(failure(provider()).type()).isEqualTo("Refused");
    }
}
