package dev.waymark.conversation;

import static dev.waymark.conversation.Story.ask;
import static dev.waymark.conversation.Story.reply;
import static dev.waymark.conversation.Story.said;
import static dev.waymark.conversation.Story.text;
import static dev.waymark.conversation.Story.use;
import static org.assertj.core.api.Assertions.assertThat;

import java.time.Instant;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Optional;
import org.junit.jupiter.api.Test;

class ForkTest {
    private static final Instant LATER = Story.START.plusSeconds(3_600);
    private static final Fork SILENT = new Fork("f", Optional.empty());
    private static final Fork SPEAKING = new Fork("f", Optional.of("And now?"));

    private static Story asked(Part... parts) {
        Map<String, Terms.ToolKind> tools = new LinkedHashMap<>(Story.terms(4).tools());
        tools.put("charge", Terms.ToolKind.ACTIVITY);
        Terms.Care care = new Terms.Care(true, false, false, false, false, false, 60_000);
        Terms terms = new Terms("helper", 9, tools, Map.of("charge", care), Optional.empty());
        return Story.begun(new Fact.RunStarted(1, "helper", false, Optional.empty()))
                .with(new Fact.AgentRequested(), new Fact.AgentResolved(terms))
                .with(said("Charge"), new Fact.ModelCalled(1), reply(1, parts));
    }

    private static Story claimed() {
        return asked(use("tu_1", "charge"))
                .with(new Fact.ToolDispatched("tu_1", 1))
                .with(new Fact.ToolClaimed("tu_1", 1, "charge", Sha256.hex("{}"), 0, "run/1/x", false));
    }

    private static Call call(Conversation state, String id) {
        return state.calls().get(id).orElseThrow();
    }

    @Test
    void whatIsDone_askedForAgain_isGivenAsRecorded() {
        Story story = claimed()
                .with(new Fact.ToolFinished("tu_1", 1, "charged 5", false))
                .with(new Fact.ModelCalled(2), reply(2, text("Done.")));

        Conversation again = SPEAKING.of(story.state(), LATER)
                .apply(new Fact.ModelCalled(3), LATER)
                .apply(reply(3, use("other", "charge")), LATER);

        assertThat(call(again, "other").status()).isEqualTo(Call.Status.COMPLETED);
        assertThat(call(again, "other").result()).contains("[idempotent replay of tu_1]: charged 5");
        assertThat(again.decide()).containsExactly(new Step.CallModel(4));
    }

    @Test
    void callThatIsOpen_isUnknownAndNeverRun() {
        Conversation forked = SILENT.of(claimed().state(), LATER);

        assertThat(call(forked, "tu_1").status()).isEqualTo(Call.Status.LOST);
        assertThat(call(forked, "tu_1").result().orElseThrow()).contains("tool-durability-error");
        assertThat(forked.decide()).isEmpty();
    }

    @Test
    void withoutAMessage_nothingRuns() {
        assertThat(SILENT.of(Story.ready().with(said("Hello")).state(), LATER).decide())
                .isEmpty();
        assertThat(SILENT.of(
                                Story.ready()
                                        .with(said("Hello"), new Fact.ModelCalled(1))
                                        .state(),
                                LATER)
                        .decide())
                .isEmpty();
    }

    @Test
    void openQuestion_staysOpen_unlessSomethingElseIsSaid() {
        Story story = asked(ask("tu_1", "Which day?"));

        assertThat(SILENT.of(story.state(), LATER).isInterrupted()).isTrue();
        Conversation spoken = SPEAKING.of(story.state(), LATER);
        assertThat(spoken.decide()).containsExactly(new Step.CallModel(2));
        assertThat(Pairing.violation(spoken.apply(new Fact.ModelCalled(2), LATER)
                        .transcript()
                        .messages()))
                .isEmpty();
    }

    @Test
    void keys_areThoseOfANewSession() {
        Story story = claimed().with(new Fact.ToolFinished("tu_1", 1, "Tool error: no", true));

        Conversation again = SPEAKING.of(story.state(), LATER)
                .apply(new Fact.ModelCalled(2), LATER)
                .apply(reply(2, use("other", "charge")), LATER);

        assertThat(again.session()).isEmpty();
        assertThat(call(again, "other").repeat()).isZero();
        assertThat(again.decide()).containsExactly(new Step.RunTool(call(again, "other"), 1));
    }
}
