package dev.waymark.contract;

import static org.assertj.core.api.Assertions.assertThat;

import dev.waymark.contract.work.ModelInput;
import dev.waymark.contract.work.ToolInput;
import dev.waymark.conversation.Conversation;
import dev.waymark.conversation.fact.ThreadFact;
import dev.waymark.conversation.message.Part;
import dev.waymark.conversation.message.Reply;
import dev.waymark.conversation.message.Transcript;
import dev.waymark.conversation.rule.Rules;
import dev.waymark.conversation.state.ThreadIdentity;
import dev.waymark.conversation.value.Json;
import dev.waymark.conversation.value.Usage;
import java.time.Instant;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.Test;

/** Data that histories contain for every step is written in its shortest form. Longer forms are also read. */
class BriefFormsTest {
    private static final Part CALL = new Part.ToolUse("tu_1", "look", Json.EMPTY_OBJECT);

    @Test
    void toolInput_ofTheFirstDispatch_omitsTheNumber() throws Exception {
        ToolInput first = new ToolInput("tu_1", 1, Json.EMPTY_OBJECT, Optional.empty(), Optional.empty());
        ToolInput second = new ToolInput("tu_1", 2, Json.EMPTY_OBJECT, Optional.empty(), Optional.empty());

        assertThat(PayloadJson.MAPPER.writeValueAsString(first)).isEqualTo("{\"callId\":\"tu_1\",\"args\":{}}");
        assertThat(PayloadJson.MAPPER.writeValueAsString(second))
                .isEqualTo("{\"callId\":\"tu_1\",\"dispatch\":2,\"args\":{}}");
        assertThat(there(first, ToolInput.class)).isEqualTo(first);
        assertThat(there(second, ToolInput.class)).isEqualTo(second);
    }

    @Test
    void reply_withTheUsualStop_omitsIt() throws Exception {
        Reply calls = new Reply(List.of(CALL), Usage.NONE, "tool_use");
        Reply ends = Reply.of(new Part.Text("Done."));
        Reply cut = new Reply(List.of(new Part.Text("Do")), Usage.NONE, "max_tokens");

        assertThat(PayloadJson.MAPPER.writeValueAsString(calls)).doesNotContain("stop");
        assertThat(PayloadJson.MAPPER.writeValueAsString(ends)).doesNotContain("stop");
        assertThat(PayloadJson.MAPPER.writeValueAsString(cut)).contains("\"stop\":\"max_tokens\"");
        assertThat(List.of(there(calls, Reply.class), there(ends, Reply.class), there(cut, Reply.class)))
                .containsExactly(calls, ends, cut);
    }

    @Test
    void modelInput_withShortDigest_matchesItsTranscript() {
        Conversation blank = Rules.start(
                new ThreadFact.RunStarted(ThreadIdentity.RULES, "helper", false, Optional.empty()), Instant.EPOCH);
        assertThat(ModelInput.of(blank).isOf(Transcript.EMPTY)).isTrue();
    }

    private static <T> T there(T value, Class<T> type) throws Exception {
        return PayloadJson.MAPPER.readValue(PayloadJson.MAPPER.writeValueAsString(value), type);
    }
}
