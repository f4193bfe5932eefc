package dev.waymark.conversation.rule;

import static dev.waymark.conversation.rule.ConversationScript.NONE;
import static dev.waymark.conversation.rule.ConversationScript.reply;
import static dev.waymark.conversation.rule.ConversationScript.said;
import static dev.waymark.conversation.rule.ConversationScript.use;
import static dev.waymark.conversation.rule.ToolConversationScript.approved;
import static dev.waymark.conversation.rule.ToolConversationScript.begun;
import static dev.waymark.conversation.rule.ToolConversationScript.claimed;
import static dev.waymark.conversation.rule.ToolConversationScript.denied;
import static dev.waymark.conversation.rule.ToolConversationScript.dispatched;
import static dev.waymark.conversation.rule.ToolConversationScript.lost;
import static dev.waymark.conversation.rule.ToolConversationScript.settled;
import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.waymark.contract.PayloadJson;
import dev.waymark.conversation.Conversation;
import dev.waymark.conversation.ForkRequest;
import dev.waymark.conversation.Resumption;
import dev.waymark.conversation.Step;
import dev.waymark.conversation.UnsignedDecisions;
import dev.waymark.conversation.call.AgentPolicy;
import dev.waymark.conversation.call.Call;
import dev.waymark.conversation.decision.CallApproval;
import dev.waymark.conversation.decision.CallSettlement;
import dev.waymark.conversation.decision.DecisionSignature;
import dev.waymark.conversation.decision.DecisionStatement;
import dev.waymark.conversation.decision.PendingItem;
import dev.waymark.conversation.decision.Signers;
import dev.waymark.conversation.fact.ModelFact;
import dev.waymark.conversation.fact.PersonFact;
import dev.waymark.conversation.fact.SubagentFact;
import dev.waymark.conversation.fact.ThreadFact;
import dev.waymark.conversation.message.Part;
import dev.waymark.conversation.policy.WaitRule;
import dev.waymark.conversation.state.ThreadIdentity;
import dev.waymark.conversation.value.Json;
import dev.waymark.conversation.value.ProblemType;
import dev.waymark.conversation.value.SignerKey;
import java.nio.charset.StandardCharsets;
import java.security.GeneralSecurityException;
import java.security.KeyPair;
import java.security.KeyPairGenerator;
import java.security.PrivateKey;
import java.security.Signature;
import java.time.Instant;
import java.util.Base64;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.UnaryOperator;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

class SignedDecisionTest {
    private static final KeyPair ANN = pair();
    private static final KeyPair BEN = pair();
    private static final Optional<String> BY_ANN = Optional.of("ann");
    private static final Json OTHER = Json.of(Map.of("n", 1));

    private static KeyPair pair() {
        try {
            return KeyPairGenerator.getInstance("Ed25519").generateKeyPair();
        } catch (GeneralSecurityException e) {
            throw new IllegalStateException(e);
        }
    }

    private static Signers signers(String thread) {
        Map<String, SignerKey> keys = new LinkedHashMap<>();
        keys.put("ann", SignerKey.of(ANN.getPublic()));
        keys.put("ben", SignerKey.of(BEN.getPublic()));
        return new Signers(thread, keys);
    }

    private static ConversationScript replied(String thread, Part... parts) {
        return begun(Optional.of(new AgentPolicy.Approvals(
                        false, Optional.empty(), Optional.of(signers(thread)), WaitRule.DEFAULT)))
                .with(said("Hello"), new ModelFact.ModelCalled(1), reply(1, parts));
    }

    private static String signature(PrivateKey key, DecisionStatement statement) {
        try {
            Signature signer = Signature.getInstance("Ed25519");
            signer.initSign(key);
            signer.update(statement.bytes());
            return Base64.getEncoder().encodeToString(signer.sign());
        } catch (GeneralSecurityException e) {
            throw new IllegalStateException(e);
        }
    }

    /** The statement to sign for a decision on the thread's first open request. */
    private static DecisionStatement statement(ConversationScript story, String decision, Optional<Json> args) {
        PendingItem ask = story.state().asks().get(0);
        return DecisionStatement.about(
                ask.signers().orElseThrow(), ask.since(), ask.argsDigest(), decision, args, NONE, NONE, BY_ANN);
    }

    private static PersonFact.ApprovalDecided signed(
            String callId, boolean approve, Optional<Json> args, Optional<String> by, String signature) {
        return new PersonFact.ApprovalDecided(approve, NONE, Optional.of(callId), args, NONE, by, NONE)
                .withSignature(signature);
    }

    private static PersonFact.ApprovalDecided approvedByAnn(ConversationScript story, String callId) {
        return signed(
                callId,
                true,
                Optional.empty(),
                BY_ANN,
                signature(ANN.getPrivate(), statement(story, "approve", Optional.empty())));
    }

    @Test
    void decision_withoutASignature_isReportedAsIgnored() {
        ConversationScript story = replied("trip", use("a", "fire"));

        assertThat(story.refusal(approved("a"))).contains(ProblemType.SIGNATURE_REQUIRED);
        assertThat(story.refusal(denied("a"))).contains(ProblemType.SIGNATURE_REQUIRED);
        story.with(approved("a"), denied("a"));
        assertThat(story.call("a").waitsForPerson()).isTrue();
        assertThat(story.state().ignored().last())
                .extracting(ignored -> ignored.signal())
                .containsExactly("approve", "deny");
    }

    @Test
    void decision_signed_applies_andNamesTheSigner() {
        ConversationScript story = replied("trip", use("a", "fire"));
        Instant asked = story.call("a").since();
        PersonFact.ApprovalDecided decision = approvedByAnn(story, "a");

        story.with(decision);

        assertThat(story.decides()).containsExactly(new Step.RunTool(story.call("a"), 1));
        CallApproval approval = story.call("a").approval().orElseThrow();
        assertThat(approval.by()).contains("ann");
        assertThat(approval.signed())
                .contains(new DecisionSignature(
                        asked,
                        ToolConversationScript.DIGEST,
                        NONE,
                        NONE,
                        decision.signature().orElseThrow()));
        assertThat(UnsignedDecisions.in(story.state())).isEmpty();
    }

    @Test
    void denial_signed_applies() {
        ConversationScript story = replied("trip", use("a", "fire"));

        story.with(signed(
                "a",
                false,
                Optional.empty(),
                BY_ANN,
                signature(ANN.getPrivate(), statement(story, "deny", Optional.empty()))));

        assertThat(story.call("a").status()).isEqualTo(Call.Status.DENIED);
        assertThat(UnsignedDecisions.in(story.state())).isEmpty();
    }

    static Stream<UnaryOperator<DecisionStatement>> elsewhere() {
        return Stream.of(
                said -> new DecisionStatement(
                        "other/a",
                        said.asked(),
                        said.argsDigest(),
                        said.decision(),
                        said.newArgsDigest(),
                        said.words(),
                        said.note(),
                        said.by()),
                said -> new DecisionStatement(
                        "trip/b",
                        said.asked(),
                        said.argsDigest(),
                        said.decision(),
                        said.newArgsDigest(),
                        said.words(),
                        said.note(),
                        said.by()),
                said -> new DecisionStatement(
                        said.place(),
                        said.asked().minusMillis(1),
                        said.argsDigest(),
                        said.decision(),
                        said.newArgsDigest(),
                        said.words(),
                        said.note(),
                        said.by()),
                said -> new DecisionStatement(
                        said.place(),
                        said.asked(),
                        "0".repeat(64),
                        said.decision(),
                        said.newArgsDigest(),
                        said.words(),
                        said.note(),
                        said.by()),
                said -> new DecisionStatement(
                        said.place(),
                        said.asked(),
                        said.argsDigest(),
                        "deny",
                        said.newArgsDigest(),
                        said.words(),
                        said.note(),
                        said.by()),
                said -> new DecisionStatement(
                        said.place(),
                        said.asked(),
                        said.argsDigest(),
                        said.decision(),
                        Optional.of("0".repeat(64)),
                        said.words(),
                        said.note(),
                        said.by()),
                said -> new DecisionStatement(
                        said.place(),
                        said.asked(),
                        said.argsDigest(),
                        said.decision(),
                        said.newArgsDigest(),
                        Optional.of("because"),
                        said.note(),
                        said.by()),
                said -> new DecisionStatement(
                        said.place(),
                        said.asked(),
                        said.argsDigest(),
                        said.decision(),
                        said.newArgsDigest(),
                        said.words(),
                        said.note(),
                        "ben"),
                said -> new DecisionStatement(
                        said.place(),
                        said.asked(),
                        said.argsDigest(),
                        said.decision(),
                        said.newArgsDigest(),
                        said.words(),
                        Optional.of("seen"),
                        said.by()));
    }

    @ParameterizedTest
    @MethodSource
    void elsewhere(UnaryOperator<DecisionStatement> change) {
        ConversationScript story = replied("trip", use("a", "fire"));
        DecisionStatement right = statement(story, "approve", Optional.empty());
        assertThat(story.refusal(signed("a", true, Optional.empty(), BY_ANN, signature(ANN.getPrivate(), right))))
                .isEmpty();

        PersonFact.ApprovalDecided replayed =
                signed("a", true, Optional.empty(), BY_ANN, signature(ANN.getPrivate(), change.apply(right)));

        assertThat(story.refusal(replayed)).contains(ProblemType.SIGNATURE_REQUIRED);
    }

    @Test
    void decision_signedBySomebodyElse_isRefused() {
        ConversationScript story = replied("trip", use("a", "fire"));
        String bens = signature(BEN.getPrivate(), statement(story, "approve", Optional.empty()));

        for (Optional<String> by : List.of(BY_ANN, Optional.of("eve"), NONE)) {
            assertThat(story.refusal(signed("a", true, Optional.empty(), by, bens)))
                    .contains(ProblemType.SIGNATURE_REQUIRED);
        }
        for (String broken : List.of("", "?", "AAAA", bens.substring(4), bens + "AAAA")) {
            assertThat(story.refusal(signed("a", true, Optional.empty(), BY_ANN, broken)))
                    .contains(ProblemType.SIGNATURE_REQUIRED);
        }
    }

    @Test
    void otherArguments_areSignedToo() {
        ConversationScript story = replied("trip", use("a", "fire"));
        Optional<Json> other = Optional.of(OTHER);
        String signature = signature(ANN.getPrivate(), statement(story, "approve", other));

        assertThat(story.refusal(signed("a", true, Optional.empty(), BY_ANN, signature)))
                .contains(ProblemType.SIGNATURE_REQUIRED);
        assertThat(story.refusal(signed("a", true, Optional.of(Json.of(Map.of("n", 2))), BY_ANN, signature)))
                .contains(ProblemType.SIGNATURE_REQUIRED);
        story.with(signed("a", true, other, BY_ANN, signature));
        assertThat(story.call("a").args()).isEqualTo(OTHER);
        assertThat(UnsignedDecisions.in(story.state())).isEmpty();
    }

    @Test
    void settlement_mustBeSigned() {
        ConversationScript story =
                replied("trip", use("a", "mail")).with(dispatched("a", 1), claimed("a", 1, "mail", "x"), lost("a", 1));
        assertThat(story.refusal(settled("a", CallSettlement.Outcome.RERUN))).contains(ProblemType.SIGNATURE_REQUIRED);
        String signature = signature(ANN.getPrivate(), statement(story, "rerun", Optional.empty()));

        assertThat(story.refusal(new PersonFact.OutcomeSettled(
                        "a",
                        CallSettlement.Outcome.GIVE_UP,
                        NONE,
                        BY_ANN,
                        NONE,
                        Optional.of(signature),
                        Optional.empty())))
                .contains(ProblemType.SIGNATURE_REQUIRED);
        assertThat(story.refusal(new PersonFact.OutcomeSettled(
                        "a",
                        CallSettlement.Outcome.RERUN,
                        NONE,
                        BY_ANN,
                        NONE,
                        Optional.of(signature),
                        Optional.empty())))
                .isEmpty();
    }

    @Test
    void settlement_signatureCoversItsNoteAndOutcome() {
        ConversationScript story =
                replied("trip", use("a", "sign")).with(dispatched("a", 1), claimed("a", 1, "sign", "x"), lost("a", 1));
        PendingItem ask = story.state().asks().get(0);
        Optional<String> note = Optional.of("not on the statement");
        String signature = signature(
                ANN.getPrivate(),
                DecisionStatement.about(
                        ask.signers().orElseThrow(),
                        ask.since(),
                        ask.argsDigest(),
                        "not-done",
                        Optional.empty(),
                        NONE,
                        note,
                        BY_ANN));

        assertThat(story.refusal(notDone(note, signature))).isEmpty();
        for (Optional<String> other : List.of(NONE, Optional.of(""), Optional.of("seen"))) {
            assertThat(story.refusal(notDone(other, signature))).contains(ProblemType.SIGNATURE_REQUIRED);
        }
        assertThat(story.refusal(new PersonFact.OutcomeSettled(
                        "a",
                        CallSettlement.Outcome.GIVE_UP,
                        NONE,
                        BY_ANN,
                        note,
                        Optional.of(signature),
                        Optional.empty())))
                .contains(ProblemType.SIGNATURE_REQUIRED);
    }

    @Test
    void settlement_keepsItsSignature_whichRevealsChanges() throws Exception {
        for (CallSettlement.Outcome verdict : CallSettlement.Outcome.values()) {
            ConversationScript story = replied("trip", use("a", "mail"))
                    .with(dispatched("a", 1), claimed("a", 1, "mail", "x"), lost("a", 1));
            PendingItem ask = story.state().asks().get(0);
            Optional<String> result =
                    verdict == CallSettlement.Outcome.DONE ? Optional.of("sent at noon") : Optional.empty();
            Optional<String> note = Optional.of("not on the statement");
            DecisionStatement statement = DecisionStatement.about(
                    ask.signers().orElseThrow(),
                    ask.since(),
                    ask.argsDigest(),
                    verdict.wireName(),
                    Optional.empty(),
                    result,
                    note,
                    BY_ANN);
            String signature = signature(ANN.getPrivate(), statement);

            story.with(new PersonFact.OutcomeSettled(
                    "a", verdict, result, BY_ANN, note, Optional.of(signature), Optional.empty()));

            assertThat(story.call("a").settlement().orElseThrow().signed())
                    .contains(new DecisionSignature(
                            ask.since(), ask.argsDigest().orElseThrow(), NONE, result, signature));
            assertThat(UnsignedDecisions.in(story.state())).isEmpty();
            for (String field : List.of("outcome", "by", "note", "signed")) {
                ObjectNode tree = PayloadJson.MAPPER.valueToTree(story.state());
                ObjectNode settlement = (ObjectNode) tree.at("/calls/a/settlement");
                switch (field) {
                    case "outcome" ->
                        settlement.put("outcome", verdict == CallSettlement.Outcome.RERUN ? "give-up" : "rerun");
                    case "by" -> settlement.put("by", "ben");
                    case "note" -> settlement.put("note", "on the statement");
                    default -> settlement.remove("signed");
                }
                assertThat(UnsignedDecisions.in(PayloadJson.MAPPER.treeToValue(tree, Conversation.class)))
                        .as(field)
                        .containsExactly("a");
            }
        }
    }

    private static PersonFact.OutcomeSettled notDone(Optional<String> note, String signature) {
        return new PersonFact.OutcomeSettled(
                "a", CallSettlement.Outcome.NOT_DONE, NONE, BY_ANN, note, Optional.of(signature), Optional.empty());
    }

    /** Signatures of earlier versions, whose statements had no note. */
    @Test
    void statement_withoutANote_hasUnchangedBytes() {
        DecisionStatement statement = new DecisionStatement(
                "trip/a", ConversationScript.START, "e3b0", "rerun", NONE, Optional.of("why"), NONE, "ann");

        assertThat(new String(statement.bytes(), StandardCharsets.UTF_8))
                .isEqualTo("{\"argsDigest\": \"e3b0\", \"asked\": \"" + ConversationScript.START
                        + "\", \"by\": \"ann\", \"decision\": \"rerun\", \"place\": \"trip/a\","
                        + " \"purpose\": \"waymark decision 1\", \"words\": \"why\"}");
    }

    @Test
    void decision_inTheParent_isCheckedInParentAndSubagent() {
        ConversationScript below = replied("trip/tu_1", use("a", "fire"));
        AgentPolicy boss = new AgentPolicy("boss", 9, Map.of("helper", AgentPolicy.Executor.SUBAGENT));
        ConversationScript above = ConversationScript.begun(
                        new ThreadFact.RunStarted(ThreadIdentity.RULES, "boss", false, Optional.empty()))
                .with(new ThreadFact.AgentRequested(), new ThreadFact.AgentResolved(boss))
                .with(said("Go"), new ModelFact.ModelCalled(1))
                .with(reply(1, new Part.ToolUse("tu_1", "helper", Json.of(Map.of("task", "look")))))
                .with(new SubagentFact.SubagentStarted("tu_1", Optional.empty()))
                .with(new SubagentFact.SubagentReported("tu_1", below.state().progress()));

        assertThat(above.refusal(approved("tu_1/a"))).contains(ProblemType.SIGNATURE_REQUIRED);
        PersonFact.ApprovalDecided decision = approvedByAnn(above, "tu_1/a");
        above.with(decision);

        Step.PassOn passedOn = (Step.PassOn) above.decides().get(0);
        Map<?, ?> body = (Map<?, ?>) passedOn.decision().body().value();
        assertThat(body.get("signature")).isEqualTo(decision.signature().orElseThrow());
        assertThat(below.refusal(signed(
                        (String) body.get("callId"),
                        true,
                        Optional.empty(),
                        Optional.of((String) body.get("by")),
                        (String) body.get("signature"))))
                .isEmpty();
    }

    @Test
    void decision_alteredInTheState_isFound() throws Exception {
        ConversationScript story = replied("trip", use("a", "fire"));
        story.with(approvedByAnn(story, "a"));

        for (String change : List.of("another approver", "no approver", "no signature")) {
            ObjectNode tree = PayloadJson.MAPPER.valueToTree(story.state());
            ObjectNode approval = (ObjectNode) tree.at("/calls/a/approval");
            switch (change) {
                case "another approver" -> approval.put("by", "ben");
                case "no approver" -> approval.remove("by");
                default -> approval.remove("signed");
            }
            assertThat(UnsignedDecisions.in(PayloadJson.MAPPER.treeToValue(tree, Conversation.class)))
                    .as(change)
                    .containsExactly("a");
        }
    }

    @Test
    void thread_withTheStateOfAnother_requiresItsOwnSignatures() {
        ConversationScript story = replied("trip", use("a", "fire"));

        Conversation forked =
                Rules.fork(story.state(), new ForkRequest("f-1", Optional.empty()), ConversationScript.START);
        Conversation resumed = Rules.resume(
                story.state(),
                new Resumption("r-1", NONE, NONE, Optional.empty(), false, NONE),
                ConversationScript.START);

        assertThat(List.of(forked.policy(), resumed.policy())).containsOnly(Optional.empty());
    }
}
