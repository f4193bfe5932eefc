package dev.waymark.starter.render;

import static org.assertj.core.api.Assertions.assertThat;

import dev.waymark.client.document.CallLog;
import dev.waymark.contract.thread.CallItem;
import dev.waymark.conversation.call.AgentPolicy;
import dev.waymark.conversation.decision.CallSettlement;
import dev.waymark.conversation.fact.ModelFact;
import dev.waymark.conversation.fact.PersonFact;
import dev.waymark.conversation.fact.ThreadFact;
import dev.waymark.conversation.fact.ToolFact;
import dev.waymark.conversation.message.Part;
import dev.waymark.conversation.message.Reply;
import dev.waymark.conversation.policy.SummaryRule;
import dev.waymark.conversation.value.IdempotencyKey;
import dev.waymark.conversation.value.Json;
import dev.waymark.conversation.value.VerifiedSubject;
import dev.waymark.fixtures.ThreadFixture;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.junit.jupiter.api.Test;

class CallTextTest {
    private static final Json ARGS = Json.of(Map.of("cents", 8400));

    private static ThreadFixture charged() {
        return ThreadFixture.charging()
                .says("m1", "Pay")
                .callsModel()
                .charges("tu_1", 8400)
                .isApproved("tu_1", "ann")
                .loses("tu_1")
                .then(new ThreadFact.TimePassed())
                .then(new ToolFact.VerifyDispatched("tu_1", 1))
                .then(new ToolFact.ToolVerified("tu_1", 1, Optional.empty(), Optional.empty()))
                .then(new PersonFact.OutcomeSettled(
                        "tu_1",
                        CallSettlement.Outcome.DONE,
                        Optional.of("receipt 7"),
                        Optional.of("bob"),
                        Optional.of("in the ledger\u202e, line 3"),
                        Optional.empty(),
                        Optional.empty()));
    }

    @Test
    void settledCall_namesOutcomeAndPerson() {
        CallItem row = CallLog.of(charged().timeline()).get(0);

        assertThat(CallText.decisions(row))
                .isEqualTo("approved by ann; settled: done by bob: in the ledger\\u202e, line 3");
        assertThat(CallLog.document(CallLog.of(charged().timeline()), Map.of())
                        .get(0)
                        .get("settled")
                        .toString())
                .matches(
                        "\\{\"outcome\":\"done\",\"by\":\"bob\",\"note\":\"in the ledger\u202e, line 3\",\"at\":\"2026.*Z\"}");
    }

    @Test
    void importedCall_isMarkedAndHasNoDecision() {
        CallItem row = CallLog.of(ThreadFixture.charging()
                        .says("m1", "Pay")
                        .callsModel()
                        .charges("tu_1", 8400)
                        .timeline())
                .get(0);
        CallItem ofFile = new CallItem(
                row.callId(),
                row.tool(),
                row.args(),
                row.key(),
                row.dispatches(),
                row.status(),
                row.since(),
                row.approval(),
                row.claimedAt(),
                row.question(),
                row.settled(),
                true,
                row.verdict(),
                row.grant(),
                Optional.of(Json.of(Map.of("cents", 9000))));

        assertThat(CallText.tool(row)).isEqualTo("charge_card");
        assertThat(CallText.tool(ofFile)).isEqualTo("charge_card (from a file)");
        assertThat(CallText.decisions(ofFile)).isEmpty();
        assertThat(CallText.full(ofFile, Optional.empty()))
                .contains("  origin   from a file", "  model    {\"cents\": 9000}")
                .noneMatch(line -> line.contains("decided"));
    }

    @Test
    void clearedCall_isReadFromHistory() {
        CallItem row = CallLog.of(charged()
                        .then(new PersonFact.Cleared(false, Optional.empty()))
                        .then(new PersonFact.Cleared(true, Optional.empty()))
                        .timeline())
                .get(0);

        assertThat(row.args()).isEqualTo(ARGS);
        assertThat(row.key()).contains(IdempotencyKey.of("t1", "charge_card", ARGS, 0));
        assertThat(CallText.decisions(row))
                .isEqualTo("approved by ann; settled: done by bob: in the ledger\\u202e, line 3");
    }

    @Test
    void summarizedCall_isReadFromHistory() {
        AgentPolicy policy = new AgentPolicy("assistant", 10, Map.of("add", AgentPolicy.Executor.ACTIVITY))
                .withSummaries(new SummaryRule(1, 1));
        ThreadFixture thread = ThreadFixture.resolved(policy)
                .says("m1", "Add")
                .callsModel()
                .replies(new Part.ToolUse("tu_1", "add", ARGS))
                .then(new ToolFact.ToolDispatched("tu_1", 1))
                .then(new ToolFact.ToolFinished("tu_1", 1, "3", false))
                .callsModel()
                .replies("Three")
                .says("m2", "Thanks");
        int step = thread.now().counters().steps() + 1;
        thread.then(new ModelFact.SummaryRequested(step))
                .then(new ModelFact.Summarised(step, Reply.of(new Part.Text("They added."))));

        List<CallItem> rows = CallLog.of(thread.timeline());

        assertThat(thread.now().calls().contains("tu_1")).isFalse();
        assertThat(rows).hasSize(1);
        assertThat(rows.get(0).args()).isEqualTo(ARGS);
        assertThat(rows.get(0).status()).isEqualTo("completed");
        assertThat(CallLog.results(thread.timeline()).get("tu_1").told().content())
                .isEqualTo("3");
    }

    @Test
    void verifiedSubject_isShownBesideTheStatedName() {
        ThreadFixture decided = ThreadFixture.charging()
                .says("m1", "Pay")
                .callsModel()
                .charges("tu_1", 8400)
                .then(new PersonFact.ApprovalDecided(
                                true,
                                Optional.empty(),
                                Optional.of("tu_1"),
                                Optional.empty(),
                                Optional.empty(),
                                Optional.of("the boss"),
                                Optional.empty())
                        .withVerified(new VerifiedSubject("ann", Optional.of("https://id.example"))));

        CallItem row = CallLog.of(decided.timeline()).get(0);

        assertThat(CallText.decisions(row)).isEqualTo("approved by ann (verified), under the name the boss");
        assertThat(row.approval().orElseThrow().verified())
                .contains(new VerifiedSubject("ann", Optional.of("https://id.example")));
    }
}
