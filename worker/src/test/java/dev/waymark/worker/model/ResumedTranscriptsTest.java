package dev.waymark.worker.model;

import static org.assertj.core.api.Assertions.assertThat;

import dev.waymark.agent.ToolSpec;
import dev.waymark.checkpoint.CheckpointReader;
import dev.waymark.checkpoint.CheckpointViews;
import dev.waymark.checkpoint.PhasesCheckpoint;
import dev.waymark.conversation.Conversation;
import dev.waymark.conversation.Resumption;
import dev.waymark.conversation.Step;
import dev.waymark.conversation.fact.ModelFact;
import dev.waymark.conversation.fact.ThreadFact;
import dev.waymark.conversation.message.Message;
import dev.waymark.conversation.rule.Rules;
import dev.waymark.conversation.value.Json;
import dev.waymark.fixtures.GeneratedThread;
import dev.waymark.fixtures.model.AnthropicServer;
import dev.waymark.fixtures.model.ModelServer;
import dev.waymark.fixtures.model.OpenAiServer;
import dev.waymark.fixtures.model.ResponsesServer;
import dev.waymark.model.ModelProvider;
import dev.waymark.model.ModelRequest;
import dev.waymark.testkit.model.ModelAnswer;
import dev.waymark.timeline.CheckpointFormat;
import dev.waymark.timeline.Timeline;
import dev.waymark.worker.model.anthropic.AnthropicProvider;
import dev.waymark.worker.model.openai.OpenAiProvider;
import dev.waymark.worker.model.openai.ResponsesProvider;
import java.nio.charset.StandardCharsets;
import java.time.Instant;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Requests of threads that continue from a checkpoint are accepted by services that check every detail. */
@Tag("full")
class ResumedTranscriptsTest {
    private static final int CONVERSATIONS = 100;
    private static final Instant LATER = Instant.parse("2026-06-01T09:00:00Z");

    @ParameterizedTest
    @EnumSource(CheckpointFormat.class)
    void nextModelCall_afterACheckpoint_isAcceptedByEachService(CheckpointFormat format) throws Exception {
        try (ModelServer anthropic = new AnthropicServer();
                ModelServer openai = new OpenAiServer();
                ModelServer responses = new ResponsesServer()) {
            List<ModelProvider> providers = List.of(
                    AnthropicProvider.of(anthropic.environment()),
                    OpenAiProvider.of(openai.environment()),
                    ResponsesProvider.of(responses.environment()));
            responses.answers(ModelAnswer.says("Yes."));
            anthropic.answers(ModelAnswer.says("Yes."));
            openai.answers(ModelAnswer.says("Yes."));
            int asked = 0;
            for (long seed = 0; asked < CONVERSATIONS; seed++) {
                Optional<List<Message>> transcript = nextModelCall(format, GeneratedThread.of(seed));
                if (transcript.isPresent()) {
                    asked++;
                    for (ModelProvider provider : providers) {
                        provider.reply(new ModelRequest(
                                "m-1",
                                Optional.of("You help."),
                                transcript.get(),
                                List.of(ToolSpec.java("add").build()),
                                100));
                    }
                }
            }

            assertThat(anthropic.complaints()).isEmpty();
            assertThat(openai.complaints()).isEmpty();
            assertThat(responses.complaints()).isEmpty();
            assertThat(anthropic.received()).hasSize(CONVERSATIONS);
        }
    }

    private static Optional<List<Message>> nextModelCall(CheckpointFormat format, Timeline timeline) {
        Json checkpoint = format == CheckpointFormat.PHASES
                ? PhasesCheckpoint.latest(timeline)
                : CheckpointViews.of(format, timeline);
        if (timeline.now().transcript().isEmpty() || checkpoint.equals(Json.of(List.of()))) {
            return Optional.empty();
        }
        Conversation left = CheckpointReader.read(checkpoint.canonical().getBytes(StandardCharsets.UTF_8), LATER)
                .state();
        Resumption how = new Resumption(
                "r", Optional.empty(), Optional.of("And now?"), Optional.empty(), false, Optional.empty());
        if (how.refusal(left).isPresent()) {
            return Optional.empty();
        }
        Conversation resumed = Rules.apply(
                Rules.apply(Rules.resume(left, how, LATER), new ThreadFact.AgentRequested(), LATER),
                new ThreadFact.AgentResolved(GeneratedThread.policy()),
                LATER);
        int step = resumed.counters().steps() + 1;
        return Rules.nextSteps(resumed).contains(new Step.CallModel(step))
                ? Optional.of(Rules.apply(resumed, new ModelFact.ModelCalled(step), LATER)
                        .transcript()
                        .messages())
                : Optional.empty();
    }
}
