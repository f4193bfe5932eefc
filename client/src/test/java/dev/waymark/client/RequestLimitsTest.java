package dev.waymark.client;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.fasterxml.jackson.core.JsonProcessingException;
import dev.waymark.client.check.RequestLimits;
import dev.waymark.client.failure.Remedy;
import dev.waymark.client.failure.WaymarkException;
import dev.waymark.contract.PayloadJson;
import dev.waymark.conversation.value.Json;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class RequestLimitsTest {
    @Test
    void thread_upTo900Bytes_passes() {
        assertThat(RequestLimits.thread("ü".repeat(450))).hasSize(450);
    }

    @Test
    void thread_over900Bytes_isTooLarge() {
        assertThatThrownBy(() -> RequestLimits.thread("ü".repeat(451))).isInstanceOf(WaymarkException.TooLarge.class);
    }

    @Test
    void thread_emptyOrWithNul_isBadInput() {
        assertThatThrownBy(() -> RequestLimits.thread("")).extracting("type").isEqualTo("BadInput");
        assertThatThrownBy(() -> RequestLimits.thread("a\0b"))
                .extracting("type")
                .isEqualTo("BadInput");
    }

    @ParameterizedTest
    @ValueSource(strings = {"", ", \"input\": null", ", \"input\": \"{}\""})
    void messages_callWithoutArguments_isCorrupt(String input) {
        Json list = json("[{\"role\": \"user\", \"content\": \"Go\"}, {\"role\":"
                + " \"assistant\", \"content\": [{\"type\": \"tool_use\", \"id\": \"c1\", \"name\": \"pay\"" + input
                + "}]}, {\"role\": \"user\", \"content\": [{\"type\": \"tool_result\", \"toolUseId\": \"c1\","
                + " \"content\": \"ok\"}]}]");

        assertThatThrownBy(() -> RequestLimits.messages(list))
                .hasMessage("the messages are not a conversation: \"input\" of a call must be an object: \"c1\"");
    }

    @Test
    void message_256KiB_passes() {
        assertThat(RequestLimits.message("x".repeat(256 * 1024))).hasSize(256 * 1024);
    }

    @Test
    void message_oneByteMore_isTooLarge() {
        assertThatThrownBy(() -> RequestLimits.message("x".repeat(256 * 1024 - 1) + "ü"))
                .isInstanceOf(WaymarkException.TooLarge.class)
                .hasMessageContaining("262145 bytes");
    }

    @Test
    void message_blankOrLoneSurrogate_isBadInput() {
        assertThatThrownBy(() -> RequestLimits.message("")).extracting("type").isEqualTo("BadInput");
        assertThatThrownBy(() -> RequestLimits.message(" \n "))
                .extracting("type")
                .isEqualTo("BadInput");
        assertThatThrownBy(() -> RequestLimits.message("a\ud83d"))
                .extracting("type")
                .isEqualTo("BadInput");
    }

    @Test
    void message_withSurrogatePairs_passes_andWithLoneSurrogatesIsBadInput() {
        for (String whole : new String[] {"\ud83d\ude00", "a\ud83d\ude00b", "\ud83d\ude00\ud83d\ude00"}) {
            assertThat(RequestLimits.message(whole)).isEqualTo(whole);
        }
        for (String half : new String[] {"\ude00", "a\ud83db", "\ud83d\ud83d\ude00", "\ud83d\ude00\ude00"}) {
            assertThatThrownBy(() -> RequestLimits.message(half)).hasMessageContaining("unpaired surrogate");
        }
    }

    @Test
    void invalidSchema_isBadInput() {
        RequestLimits.schema(json("{\"type\":\"object\"}"));
        for (String none : new String[] {"[]", "true", "{\"type\":\"many\"}", "{\"$ref\":\"http://127.0.0.1:1/x\"}"}) {
            assertThatThrownBy(() -> RequestLimits.schema(json(none)))
                    .as(none)
                    .extracting("type")
                    .isEqualTo("BadInput");
        }
    }

    @Test
    void messages_danglingCall_isCorruption() {
        assertThatThrownBy(() ->
                        RequestLimits.messages(json("[{\"role\":\"user\",\"content\":\"hi\"},{\"role\":\"assistant\","
                                + "\"content\":[{\"type\":\"tool_use\",\"id\":\"a\",\"name\":\"b\",\"input\":{}}]}]")))
                .extracting("type")
                .isEqualTo("CheckpointCorruption");
    }

    @Test
    void messages_unknownRole_isCorruption() {
        assertThatThrownBy(() -> RequestLimits.messages(json("[{\"role\":\"system\",\"content\":\"hi\"}]")))
                .extracting("type")
                .isEqualTo("CheckpointCorruption");
    }

    @Test
    void messages_loneSurrogate_isCorruption() {
        assertThatThrownBy(() -> RequestLimits.messages(json("[{\"role\":\"user\",\"content\":\"\\ud83d\"}]")))
                .extracting("type")
                .isEqualTo("CheckpointCorruption");
    }

    @Test
    void messages_ofAnotherFormat_areCorruption_andNoCallIsDropped() {
        assertThatThrownBy(() ->
                        RequestLimits.messages(json("[{\"role\":\"user\",\"content\":\"hi\"},{\"role\":\"assistant\","
                                + "\"content\":\"\",\"toolCalls\":[{\"id\":\"a\",\"name\":\"b\",\"arguments\":{}}]}]")))
                .hasMessage("the messages are not a conversation: a message has an unknown field: toolCalls")
                .extracting("remedy")
                .isEqualTo(Remedy.of(Remedy.Action.RESUME_CHECKPOINT));
    }

    /** A repeated start compares the context with the stored one, in which Jackson tells numbers by their size. */
    @Test
    void context_isReadAsFromHistory() throws Exception {
        String text = "{\"n\": 7, \"large\": 5000000000, \"part\": 1.5}";

        assertThat(RequestLimits.context(json(text))).isEqualTo(PayloadJson.MAPPER.readTree(text));
    }

    @Test
    void messages_empty_passes() {
        assertThat(RequestLimits.messages(json("[]"))).isEmpty();
    }

    private static Json json(String text) {
        try {
            return PayloadJson.MAPPER.readValue(text, Json.class);
        } catch (JsonProcessingException e) {
            throw new IllegalArgumentException(e);
        }
    }
}
