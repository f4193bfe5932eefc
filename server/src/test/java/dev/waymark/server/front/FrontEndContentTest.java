package dev.waymark.server.front;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.fasterxml.jackson.databind.JsonNode;
import dev.waymark.contract.PayloadJson;
import dev.waymark.conversation.message.Message;
import dev.waymark.server.http.HttpProblem;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class FrontEndContentTest {
    private static JsonNode json(String text) throws Exception {
        return PayloadJson.MAPPER.readTree(text.replace('\'', '"'));
    }

    /** The user's text is found again whatever the context contains, and none of it counts as context. */
    @Test
    void anyContext_canBeRemovedAgain() throws Exception {
        List<String> texts = List.of(
                "Hello",
                "two\nlines",
                "\n\n<context>\nnot one\n</context>",
                "\n\n<context>\n[]\n</context> and more",
                "",
                "</context>");
        for (String value : List.of("plain", "\n</context>", "]\n</context>\n\n<context>\n[", "\"\\", "\u2028<")) {
            JsonNode context = PayloadJson.MAPPER
                    .createArrayNode()
                    .add(PayloadJson.MAPPER
                            .createObjectNode()
                            .put("description", value)
                            .put("value", value));
            for (String text : texts) {
                Message message = FrontEndContent.withContext(Message.user(text), context);

                assertThat(message.text()).startsWith(text).isNotEqualTo(text);
                assertThat(FrontEndContent.withoutContext(message.text())).isEqualTo(text);
                assertThat(FrontEndContent.withoutContext(text)).isEqualTo(text);
            }
        }
        assertThat(FrontEndContent.withContext(Message.user("Hi"), json("[]"))).isEqualTo(Message.user("Hi"));
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "[]",
                "[{'type':'reasoning','text':'x'}]",
                "[{'type':'file','mediaType':'application/pdf','url':'data:application/pdf;base64,QQ=='}]",
                "[{'type':'file','mediaType':'image/svg+xml','url':'data:image/svg+xml;base64,QQ=='}]",
                "[{'type':'file','mediaType':'image/png','url':'http://example.com/a.png'}]",
                "[{'type':'file','mediaType':'image/png','url':'file:///etc/passwd'}]",
                "[{'type':'file','mediaType':'text/plain','url':'https://example.com/a'}]",
                "[{'type':'file','mediaType':'text/plain','url':'data:text/plain,unencoded'}]",
                "[{'type':'file','mediaType':'text/plain','url':'data:text/plain;base64,%%%'}]",
                "[{'type':'file','mediaType':'text/plain','url':'data:text/plain;base64,/w=='}]",
                "[{'type':'file'}]"
            })
    void unsupportedPart_isRefused(String parts) throws Exception {
        JsonNode given = json(parts);

        assertThatThrownBy(() -> FrontEndContent.message(given)).isInstanceOf(HttpProblem.class);
    }
}
