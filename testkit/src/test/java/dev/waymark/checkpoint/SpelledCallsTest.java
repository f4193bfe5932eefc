package dev.waymark.checkpoint;

import static org.assertj.core.api.Assertions.assertThat;

import dev.waymark.conversation.fact.ModelFact;
import dev.waymark.conversation.fact.PersonFact;
import dev.waymark.conversation.message.Message;
import dev.waymark.conversation.message.Part;
import dev.waymark.conversation.message.Reply;
import dev.waymark.conversation.value.Json;
import java.util.Map;
import java.util.Optional;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** A checkpoint contains the arguments of a call, but not the spelling of its provider. */
class SpelledCallsTest {
    private static final Json ARGS = Json.of(Map.of("question", "Which day?"));

    @ParameterizedTest
    @EnumSource
    void waitingCall_isWrittenInOurSpelling(CheckpointFormat format) {
        Json spelled = Json.of(Map.of("arguments", "{ \"question\": \"Which day?\" }"));

        assertThat(checkpoint(format, Optional.of(spelled))).isEqualTo(checkpoint(format, Optional.empty()));
    }

    private static Json checkpoint(CheckpointFormat format, Optional<Json> sent) {
        CheckpointFixture fixture = new CheckpointFixture(
                new PersonFact.UserSpoke(Optional.empty(), Optional.empty(), Optional.of(Message.user("Go")), false),
                new ModelFact.ModelCalled(1),
                new ModelFact.ModelReplied(1, Reply.of(new Part.ToolUse("tu_1", "ask_user", ARGS, sent))));
        return format.view(fixture.timeline());
    }
}
