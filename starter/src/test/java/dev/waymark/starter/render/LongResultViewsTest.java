package dev.waymark.starter.render;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import dev.waymark.checkpoint.CheckpointReader;
import dev.waymark.checkpoint.CheckpointViews;
import dev.waymark.client.document.CallLog;
import dev.waymark.client.document.JsonDocuments;
import dev.waymark.conversation.Conversation;
import dev.waymark.conversation.Resumption;
import dev.waymark.conversation.call.AgentPolicy;
import dev.waymark.conversation.decision.FileCalls;
import dev.waymark.conversation.fact.ModelFact;
import dev.waymark.conversation.fact.PersonFact;
import dev.waymark.conversation.fact.ThreadFact;
import dev.waymark.conversation.fact.ToolFact;
import dev.waymark.conversation.message.Message;
import dev.waymark.conversation.message.Part;
import dev.waymark.conversation.message.Reply;
import dev.waymark.conversation.message.Role;
import dev.waymark.conversation.policy.ResultRule;
import dev.waymark.conversation.rule.Rules;
import dev.waymark.conversation.value.Json;
import dev.waymark.fixtures.ThreadFixture;
import dev.waymark.timeline.CheckpointFormat;
import java.nio.charset.StandardCharsets;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Who gets the whole of a long result, and who gets the part that the model was shown. */
class LongResultViewsTest {
    private static final String LONG = "begin " + "0123456789".repeat(1_000) + " middle " + "9876543210".repeat(1_000);

    private static AgentPolicy agent() {
        return new AgentPolicy(
                        "assistant",
                        10,
                        Map.of("look", AgentPolicy.Executor.ACTIVITY, "read_result", AgentPolicy.Executor.STATE))
                .withResults(new ResultRule(4 * 1024));
    }

    private static ThreadFixture looked() {
        return ThreadFixture.resolved(agent())
                .says("m1", "Look")
                .callsModel()
                .replies(new Part.ToolUse("tu_1", "look", Json.EMPTY_OBJECT))
                .then(new ToolFact.ToolDispatched("tu_1", 1))
                .then(new ToolFact.ToolFinished("tu_1", 1, LONG, false))
                .callsModel();
    }

    private static ThreadFixture paying() {
        AgentPolicy.ToolPolicy once = new AgentPolicy.ToolPolicy(true, false, true, false, true, 60_000, false, false);
        AgentPolicy policy = new AgentPolicy(
                        "assistant",
                        10,
                        Map.of("pay", AgentPolicy.Executor.ACTIVITY, "read_result", AgentPolicy.Executor.STATE),
                        Map.of("pay", once),
                        Optional.empty())
                .withResults(new ResultRule(4 * 1024));
        ThreadFixture thread = ThreadFixture.resolved(policy)
                .says("m1", "Pay")
                .callsModel()
                .replies(new Part.ToolUse("tu_1", "pay", Json.EMPTY_OBJECT))
                .then(new ToolFact.ToolDispatched("tu_1", 1));
        String digest = thread.now().calls().get("tu_1").orElseThrow().argsDigest();
        return thread.then(new ToolFact.ToolClaimed("tu_1", 1, "pay", digest, 0, "run/1", false, Optional.empty()));
    }

    private static JsonNode call(ThreadFixture thread) {
        return CallLog.document(CallLog.of(thread.timeline()), CallLog.results(thread.timeline()))
                .get(0);
    }

    @Test
    void callLog_andShow_haveBoth() {
        assertThat(call(looked()).get("result").textValue()).startsWith("begin").doesNotContain("middle");
        assertThat(call(looked()).get("wholeResult").textValue()).isEqualTo(LONG);
        JsonNode shown = JsonDocuments.show(looked().timeline(), List.of());
        assertThat(shown.at("/wholeResults/tu_1").textValue()).isEqualTo(LONG);
        assertThat(shown.get("messages").toString()).doesNotContain("middle");
        assertThat(ThreadView.of(looked().timeline(), List.of()))
                .contains("     a part of 20014 characters; calls --full prints all of them");
        assertThat(CallText.full(
                        CallLog.of(looked().timeline()).get(0),
                        Optional.of(CallLog.results(looked().timeline()).get("tu_1"))))
                .contains("  whole    20014 characters, of which the model was shown a part", "  result   " + LONG);
    }

    @Test
    void callLog_readsFromHistory_whatTheThreadHasForgotten() {
        ThreadFixture cleared = looked().replies("Seen").then(new PersonFact.Cleared(false, Optional.empty()));

        assertThat(cleared.now().callBook().longResults()).isEmpty();
        assertThat(call(cleared).get("wholeResult").textValue()).isEqualTo(LONG);
        assertThat(JsonDocuments.show(cleared.timeline(), List.of()).has("wholeResults"))
                .isFalse();
    }

    @Test
    void resultAfterTheCallWasCancelled_doesNotReplaceWhatTheModelWasTold() {
        ThreadFixture stopped = paying().then(new PersonFact.Stopped(Optional.of("ann")))
                .then(new ToolFact.ToolFinished("tu_1", 1, LONG, false));

        assertThat(stopped.now().wholeResult("tu_1")).contains(LONG);
        assertThat(call(stopped).get("result").textValue()).startsWith("Cancelled by ann");
        assertThat(call(stopped).has("wholeResult")).isFalse();
        assertThat(ThreadView.of(stopped.timeline(), List.of())).noneMatch(line -> line.contains("calls --full"));
    }

    @Test
    void callOfAnEditedConversation_hasNotTheWholeResultOfTheCallWhoseIdItHas() {
        ThreadFixture edited = looked().replies("Seen")
                .then(new PersonFact.UserSpoke(
                        Optional.of("m2"),
                        Optional.of(List.of(
                                Message.user("Look"),
                                new Message(
                                        Role.ASSISTANT, List.of(new Part.ToolUse("tu_1", "look", Json.EMPTY_OBJECT))),
                                Message.results(List.of(new Part.ToolResult("tu_1", "nothing", false))),
                                Message.user("Go on"))),
                        Optional.empty(),
                        false))
                .callsModel();

        assertThat(call(edited).get("result").textValue()).isEqualTo("nothing");
        assertThat(call(edited).has("wholeResult")).isFalse();
    }

    @ParameterizedTest
    @EnumSource
    void formats_haveWhatTheModelWasShown_andItsHandleIsGoneElsewhere(CheckpointFormat format) {
        ThreadFixture thread = looked().replies("Seen");

        String written = CheckpointViews.of(format, thread.timeline()).canonical();

        assertThat(written).contains("are left out: read_result").doesNotContain("middle");
        Instant at = Instant.parse("2026-05-01T09:00:00Z");
        Conversation restored = CheckpointReader.read(written.getBytes(StandardCharsets.UTF_8), at)
                .state();
        Resumption how = new Resumption(
                "r",
                Optional.empty(),
                Optional.of("Go on"),
                Optional.empty(),
                false,
                Optional.empty(),
                Optional.empty(),
                FileCalls.CONTINUE);
        Conversation state = Rules.resume(restored, how, at);
        int step = state.counters().steps() + 1;
        state = Rules.apply(state, new ThreadFact.AgentRequested(), at);
        state = Rules.apply(state, new ThreadFact.AgentResolved(agent()), at);
        state = Rules.apply(state, new ModelFact.ModelCalled(step), at);
        Part read = new Part.ToolUse("tu_2", "read_result", Json.of(Map.of("call", "tu_1")));
        state = Rules.apply(state, new ModelFact.ModelReplied(step, Reply.of(read)), at);

        assertThat(state.calls().get("tu_2").orElseThrow().result().orElseThrow())
                .contains("the whole result of the call \"tu_1\" is not kept any more");
    }
}
