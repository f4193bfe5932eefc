package dev.waymark.worker.model;

import static org.assertj.core.api.Assertions.assertThat;

import dev.waymark.conversation.message.Part;
import dev.waymark.conversation.message.Reply;
import dev.waymark.conversation.value.Json;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class StructuredReplyTest {
    private static final Json SCHEMA = Json.of(Map.of("type", "object", "required", List.of("n")));

    private static Reply judged(String words) {
        return StructuredReply.of(Reply.of(new Part.Text(words)), Optional.of(SCHEMA));
    }

    @ParameterizedTest
    @ValueSource(strings = {"{\"n\": 3}", " \n{\"n\":3}\n", "```json\n{\"n\": 3}\n```", "```\n{\"n\": 3}```\n"})
    void reply_oneMatchingValue_isReadAsJson(String words) {
        assertThat(judged(words).structured()).contains(Json.of(Map.of("n", 3)));
        assertThat(judged(words).misfit()).isEmpty();
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "",
                "Three",
                "{\"n\": 3} Done.",
                "{\"n\": 3}{\"n\": 4}",
                "{\"n\": 3",
                "```",
                "```json```",
                "```json\n```",
                "Here it is:\n```json\n{\"n\": 3}\n```",
                "{\"n\": 1e999999}"
            })
    void reply_notOneValue_isAMisfit(String words) {
        assertThat(judged(words).structured()).isEmpty();
        assertThat(judged(words).misfit()).contains("it is not one JSON value");
    }

    @ParameterizedTest
    @ValueSource(strings = {"{}", "[]", "null", "\"n\""})
    void reply_anotherValue_isAMisfitWithTheReason(String words) {
        assertThat(judged(words).misfit().orElseThrow()).isNotEqualTo("it is not one JSON value");
    }

    @Test
    void reply_thatCallsTools_isNotFinal() {
        Reply reply = Reply.of(new Part.Text("Three"), new Part.ToolUse("tu_1", "add", Json.EMPTY_OBJECT));

        assertThat(StructuredReply.of(reply, Optional.of(SCHEMA))).isEqualTo(reply);
    }

    @Test
    void reply_withoutASchema_staysUnchanged() {
        Reply reply = Reply.of(new Part.Text("Three"));

        assertThat(StructuredReply.of(reply, Optional.empty())).isEqualTo(reply);
    }
}
