package dev.waymark.checkpoint;

import static org.assertj.core.api.Assertions.assertThat;

import dev.waymark.conversation.fact.ModelFact;
import dev.waymark.conversation.fact.PersonFact;
import dev.waymark.conversation.message.Message;
import dev.waymark.conversation.value.Json;
import java.nio.charset.StandardCharsets;
import java.time.Instant;
import java.util.Optional;
import org.junit.jupiter.api.Test;

class PhasesLatestTest {
    @Test
    void latest_readAgain_knowsTheAgent() {
        CheckpointFixture thread = new CheckpointFixture(
                new PersonFact.UserSpoke(Optional.empty(), Optional.empty(), Optional.of(Message.user("Hi")), false),
                new ModelFact.ModelCalled(1));
        Json latest = PhasesCheckpoint.latest(thread.timeline());

        assertThat(CheckpointReader.read(latest.canonical().getBytes(StandardCharsets.UTF_8), Instant.EPOCH)
                        .state()
                        .agent())
                .isEqualTo("helper");
    }
}
