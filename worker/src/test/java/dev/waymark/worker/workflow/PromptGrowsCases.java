package dev.waymark.worker.workflow;

import static org.assertj.core.api.Assertions.assertThat;

import dev.waymark.agent.FallbackModel;
import dev.waymark.agent.ToolSpec;
import dev.waymark.contract.thread.StartInput;
import dev.waymark.conversation.Conversation;
import dev.waymark.conversation.ForkRequest;
import dev.waymark.conversation.Resumption;
import dev.waymark.conversation.fact.PersonFact;
import dev.waymark.conversation.fact.SignalNames;
import dev.waymark.conversation.message.Message;
import dev.waymark.conversation.policy.SummaryRule;
import dev.waymark.conversation.rule.Rules;
import dev.waymark.conversation.state.Turn;
import dev.waymark.conversation.value.Json;
import dev.waymark.fixtures.model.ModelServer;
import dev.waymark.testkit.model.ModelAnswer;
import dev.waymark.testkit.model.ModelAnswer.Piece;
import dev.waymark.tool.EffectUnknownException;
import dev.waymark.tool.JavaTool;
import dev.waymark.tool.Tool;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.UnaryOperator;
import org.junit.jupiter.api.Test;

/** The service refuses no request of such a thread, and drops no thinking. */
abstract class PromptGrowsCases<S extends ModelServer> extends BoundThreads<S> {
    PromptGrowsCases(Service<S> service) {
        super(service);
    }

    @Test
    void requestsOfFortySteps_withThinking_extendEachOther() {
        for (int i = 1; i < STEPS; i++) {
            stage(looking());
        }
        try (WorkflowRig rig = rig()) {
            String thread = begin(rig, "Look around.");
            say(rig, thread, 2);

            assertNothingLost();
            assertThat(answered).hasSize(STEPS + 1);
            assertThat(breaks()).isEmpty();
        }
    }

    @Test
    void threeSummaries_doNotBreakTheThread() {
        try (WorkflowRig rig = rig(agent -> agent.summaries(new SummaryRule(60, 2)))) {
            String thread = begin(rig, "Hello");
            for (int turn = 2; turn <= 8; turn++) {
                say(rig, thread, turn);
            }

            assertNothingLost();
            assertThat(server.received().stream().filter(asked -> isSummary(asked.body())))
                    .hasSizeGreaterThan(2);
        }
    }

    @Test
    void summary_inAToolLoop_doesNotBreakTheThread() {
        for (int i = 1; i < 6; i++) {
            stage(looking());
        }
        try (WorkflowRig rig = rig(agent -> agent.summaries(new SummaryRule(60, 2)))) {
            String thread = begin(rig, "Look around.");

            assertThat(rig.timeline(thread).now().turn().status()).isEqualTo(Turn.Status.COMPLETE);
            assertNothingLost();
        }
    }

    @Test
    void schema_onAndOff_extendsTheRequests() {
        stage(thoughtful("Hello."), thoughtful("{\"n\": 3}"), thoughtful("Yes."), thoughtful("{\"n\": 4}"));
        try (WorkflowRig rig = rig()) {
            String thread = begin(rig, "Hello");
            say(rig, thread, 2, Map.of("schema", NUMBER.value()));
            say(rig, thread, 3);
            say(rig, thread, 4, Map.of("schema", NUMBER.value()));

            assertNothingLost();
            assertThat(breaks()).isEmpty();
        }
    }

    @Test
    void schema_mismatchAndRepetition_extendTheRequests() {
        stage(thoughtful("Three."), thoughtful("{\"n\": 3}"));
        try (WorkflowRig rig = rig()) {
            String thread = rig.start(StartInput.of("a")
                    .saying(PersonFact.UserSpoke.message("m-1", "How many?").withSchema(NUMBER)));
            Conversation state = rig.awaitTurn(thread, 1);
            say(rig, thread, 2);

            assertThat(state.turn().structured()).contains(Json.of(Map.of("n", 3)));
            assertNothingLost();
            assertThat(breaks()).isEmpty();
        }
    }

    @Test
    void blankText_betweenThinking_extendsTheRequests() {
        stage(thinking().plus(new Piece.Words("\n\n")).plus(thought()).calls("tu_1", "ls", "{}"));
        try (WorkflowRig rig = rig()) {
            begin(rig, "Look around.");

            assertNothingLost();
            assertThat(breaks()).isEmpty();
        }
    }

    @Test
    void numbers_areSentBackAsSpelled() {
        stage(thinking()
                .calls("tu_1", "ls", "{\"path\": \"/\", \"z\": 1.50, \"a\": 1E+2, \"n\": 1.0}")
                .plus(thought())
                .calls("tu_2", "ls", "{}"));
        try (WorkflowRig rig = rig()) {
            begin(rig, "Look around.");

            assertNothingLost();
        }
    }

    @Test
    void resumption_withAnotherAgent_isAnswered() {
        try (WorkflowRig rig = rig()) {
            Conversation left = rig.timeline(begin(rig, "Hello")).now();
            Resumption how = new Resumption(
                    "r", Optional.of("b"), Optional.of("And now?"), Optional.empty(), false, Optional.empty());

            String thread = rig.start(carrying("b", Rules.resume(left, how, Instant.now()), Optional.empty()));
            rig.awaitTurn(thread, left.turn().number() + 1);
            say(rig, thread, left.turn().number() + 2);

            assertThat(answered).hasSize(3);
            assertNothingLost();
        }
    }

    @Test
    void forks_beforeAndAfterAnEdit_areAnswered() {
        try (WorkflowRig rig = rig()) {
            String thread = begin(rig, "Hello");
            Conversation before = say(rig, thread, 2);
            List<Map<String, Object>> edited =
                    before.transcript().messages().stream().map(Message::tree).toList();
            edited.get(0).put("content", "Good morning");
            Conversation after = say(rig, thread, 3, Map.of("messages", edited.subList(0, 3)));
            for (Conversation ancestor : List.of(before, after)) {
                Conversation begin = Rules.fork(
                        ancestor, new ForkRequest("f", Optional.of(Message.user("Instead?"))), Instant.now());
                String fork =
                        rig.start(carrying("a", begin, rig.timeline(thread).agent()));
                rig.awaitTurn(fork, ancestor.turn().number() + 1);
            }

            assertThat(answered).hasSize(5);
            assertNothingLost();
        }
    }

    @Test
    void clear_startsAgain() {
        try (WorkflowRig rig = rig()) {
            String thread = begin(rig, "Hello");
            rig.update(thread, SignalNames.CLEAR, Map.of());
            say(rig, thread, 2);
            say(rig, thread, 3);

            assertThat(answered).hasSize(3);
            assertNothingLost();
        }
    }

    @Test
    void fallbackAndReturn_loseNothing() {
        String busy = "{\"type\":\"error\",\"error\":{\"type\":\"overloaded_error\",\"message\":\"Overloaded\"}}";
        stage(looking(), thoughtful("Fine."));
        try (WorkflowRig rig = rig(agent -> agent.fallback(List.of(FallbackModel.of("fake:" + service.other()))))) {
            String thread = begin(rig, "Hello");
            server.answers(asked -> asked.body().path("model").asText().equals(service.model())
                    ? ModelAnswer.error(529, busy)
                    : answer(asked));
            stage(looking(), thoughtful("Fine."));
            say(rig, thread, 2);
            server.answers(this::answer);
            rig.replaceWorker();
            stage(looking(), thoughtful("Fine."));
            say(rig, thread, 3);

            String ours = service.model();
            String other = service.other();
            assertThat(answered.stream().map(body -> body.path("model").asText()))
                    .containsExactly(ours, ours, other, other, ours, ours);
            assertNothingLost();
            assertThat(breaks()).isEmpty();
        }
    }

    @Test
    void approval_withChangedArguments_extendsTheRequests() {
        stage(thinking().calls("tu_1", "refund", "{\"usd\": 100}"));
        try (WorkflowRig rig = rig(
                UnaryOperator.identity(),
                ApprovalByRuleTest.refund(ToolSpec.java("refund").approval().build()))) {
            String thread = rig.start(StartInput.of("a").saying(PersonFact.UserSpoke.message("m-1", "Refund it")));
            rig.await(thread, now -> now.asks().size() == 1);
            rig.update(thread, SignalNames.APPROVE, Map.of("callId", "tu_1", "args", Map.of("usd", 50), "by", "ann"));
            rig.awaitTurn(thread, 1);
            say(rig, thread, 2);

            assertThat(answered).hasSize(3);
            assertNothingLost();
            assertThat(breaks()).isEmpty();
        }
    }

    @Test
    void consecutiveMessages_extendTheRequests() {
        try (WorkflowRig rig = rig()) {
            stage(ModelAnswer.error(
                    400, "{\"error\":{\"type\":\"invalid_request_error\",\"message\":\"No credit.\"}}"));
            String thread = begin(rig, "Hello");
            say(rig, thread, 2);
            say(rig, thread, 3);

            assertNothingLost();
            assertThat(breaks()).isEmpty();
        }
    }

    @Test
    void outcomeSettledByAPerson_extendsTheRequests() {
        stage(thinking().calls("tu_1", "charge", "{\"cents\": 7}"));
        Tool unsure = JavaTool.of("charge", "Charges", ToolProtocolCases.Charge.class, (args, context) -> {
                    throw new EffectUnknownException("no answer");
                })
                .timeout(Duration.ofSeconds(1))
                .askOnUnknown();
        try (WorkflowRig rig = rig(UnaryOperator.identity(), unsure)) {
            String thread = rig.start(StartInput.of("a").saying(PersonFact.UserSpoke.message("m-1", "Refund it")));
            rig.awaitSettled(thread);
            rig.update(thread, SignalNames.SETTLE, Map.of("callId", "tu_1", "outcome", "not-done", "by", "ann"));
            rig.awaitTurn(thread, 1);
            say(rig, thread, 2);

            assertThat(answered).hasSize(3);
            assertThat(answered.get(1).toString()).contains("did not take effect, as settled by ann");
            assertNothingLost();
            assertThat(breaks()).isEmpty();
        }
    }

    @Test
    void subagentAndItsAnswer_extendTheRequests() {
        stage(
                thinking().calls("tu_1", "scout", "{\"task\": \"look\"}"),
                looking(),
                thoughtful("Found it."),
                thoughtful("All told."));
        try (WorkflowRig rig = rig().withSubagents("a", "scout")) {
            String thread = begin(rig, "Go");
            rig.adopt(thread + "/tu_1");
            say(rig, thread, 2);

            assertThat(rig.timeline(thread).now().turn().text()).isEqualTo("Fine.");
            assertThat(answered).hasSize(5);
            assertNothingLost();
        }
    }
}
