package dev.waymark.starter.render;

import static org.assertj.core.api.Assertions.assertThat;

import dev.waymark.conversation.fact.ModelFact;
import dev.waymark.conversation.fact.PersonFact;
import dev.waymark.conversation.message.Part;
import dev.waymark.conversation.message.Reply;
import dev.waymark.conversation.value.Json;
import dev.waymark.conversation.value.Usage;
import dev.waymark.fixtures.ThreadFixture;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.junit.jupiter.api.Test;

class ThreadViewTest {
    @Test
    void card_waitingThread_saysHowToAnswer() {
        ThreadFixture fixture = ThreadFixture.resolved("ask_user")
                .says("m1", "Book it")
                .callsModel()
                .asks("tu_7", "Which day?")
                .says("m2", "Hurry");

        assertThat(ThreadView.of(fixture.timeline(), List.of()))
                .containsExactly(
                        "t1: assistant, turn 1, interrupted",
                        "1 model call, 41 tokens in, 12 out",
                        "",
                        "> Book it",
                        "  -> ask_user {\"question\": \"Which day?\"}  [tu_7]",
                        "> (queued) Hurry",
                        "? Which day?",
                        "  waymark answer t1 TEXT");
    }

    private static ThreadFixture stopped() {
        return ThreadFixture.resolved()
                .says("m1", "Weather?")
                .callsModel()
                .then(new PersonFact.Stopped(Optional.of("It rains in\nthe"), Optional.of("ann")));
    }

    @Test
    void card_stoppedReply_showsItUntilTheThreadContinues() {
        assertThat(ThreadView.of(stopped().timeline(), List.of()))
                .endsWith("> Weather?", "│ It rains in", "│ the", "  (stopped here)", "! Stopped: Cancelled by ann.");
        assertThat(stopped().replies("Too late.").timeline().stoppedHere()).isPresent();
        assertThat(stopped().says("m2", "Go on").timeline().stoppedHere()).isEmpty();
        assertThat(stopped().then(PersonFact.UserSpoke.retrying()).timeline().stoppedHere())
                .isEmpty();
        assertThat(stopped()
                        .then(new PersonFact.Cleared(false, Optional.empty()))
                        .timeline()
                        .stoppedHere())
                .isEmpty();
    }

    /** The reply had ended before the message that should stop it arrived. */
    @Test
    void card_stopBetweenReplies_showsNoWords() {
        ThreadFixture fixture = ThreadFixture.charging()
                .says("m1", "Pay")
                .callsModel()
                .charges("tu_1", 500)
                .then(new PersonFact.Stopped(Optional.of("I pay."), Optional.empty()));

        assertThat(fixture.timeline().stoppedHere()).isEmpty();
    }

    @Test
    void card_cachedAndReasoningTokens_areShown() {
        ThreadFixture fixture = ThreadFixture.resolved("ask_user")
                .says("m1", "Book it")
                .callsModel()
                .then(new ModelFact.ModelReplied(
                        1, new Reply(List.of(new Part.Text("Booked.")), new Usage(50, 20, 30, 10, 8), "end_turn")));

        assertThat(ThreadView.of(fixture.timeline(), List.of()))
                .contains("1 model call, 50 tokens in (30 from the cache, 10 written to it), 20 out (8 for reasoning)");
    }

    @Test
    void card_refusedReasoning_isReported() {
        ThreadFixture fixture = ThreadFixture.resolved("ask_user")
                .says("m1", "Book it")
                .callsModel()
                .then(new ModelFact.ModelReplied(
                        1, Reply.of(new Part.Text("Booked.")).refusingReasoning()));

        assertThat(ThreadView.of(fixture.timeline(), List.of()))
                .contains("the agent's model gets no earlier reasoning any more: its service refused to read it");
    }

    @Test
    void card_completeThread_showsTheConversation() {
        ThreadFixture fixture = ThreadFixture.resolved("ask_user")
                .says("m1", "Book it")
                .callsModel()
                .asks("tu_7", "Which day?")
                .answers("tu_7", "Friday")
                .callsModel()
                .replies("Booked.");

        assertThat(ThreadView.of(fixture.closed(), List.of()))
                .containsExactly(
                        "t1: assistant, turn 1, complete, closed",
                        "2 model calls, 82 tokens in, 24 out",
                        "",
                        "> Book it",
                        "  -> ask_user {\"question\": \"Which day?\"}  [tu_7]",
                        "  <- Friday  [tu_7]",
                        "│ Booked.");
    }

    @Test
    void card_callToApprove_showsArgumentsAndBothCommands() {
        ThreadFixture fixture =
                ThreadFixture.charging().says("m1", "Pay").callsModel().charges("tu_1", 8400);
        String digest = fixture.now().calls().get("tu_1").orElseThrow().argsDigest();

        assertThat(ThreadView.of(fixture.timeline(), List.of()))
                .endsWith(
                        "? May charge_card {\"cents\": 8400} run?",
                        "  waymark approve t1 --digest " + digest,
                        "  waymark deny t1 --digest " + digest + " --reason TEXT");
    }

    @Test
    void card_unknownOutcome_showsHowToSettle() {
        ThreadFixture fixture = ThreadFixture.charging()
                .says("m1", "Pay")
                .callsModel()
                .charges("tu_1", 8400)
                .isApproved("tu_1", "ann")
                .loses("tu_1");

        assertThat(ThreadView.of(fixture.timeline(), List.of()))
                .endsWith(
                        "? Did charge_card {\"cents\": 8400} take effect? The outcome is unknown: the worker is gone",
                        "  waymark settle t1 --call tu_1 --outcome done --result TEXT",
                        "  waymark settle t1 --call tu_1 --outcome not-done",
                        "  waymark settle t1 --call tu_1 --outcome rerun",
                        "  waymark settle t1 --call tu_1 --outcome give-up");
    }

    @Test
    void card_longArgumentsWithControls_areShownCompletely() {
        ThreadFixture fixture = ThreadFixture.charging()
                .says("m1", "Pay")
                .callsModel()
                .replies(new Part.ToolUse(
                        "tu_1", "charge_card", Json.of(Map.of("to", "ann\u202Ebob", "words", "x".repeat(5_000)))));

        assertThat(ThreadView.of(fixture.timeline(), List.of()))
                .anySatisfy(line -> assertThat(line)
                        .startsWith("? May charge_card {\"to\": \"ann\\u202ebob\"")
                        .contains("x".repeat(5_000)));
    }
}
