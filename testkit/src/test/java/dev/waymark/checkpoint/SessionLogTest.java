package dev.waymark.checkpoint;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.waymark.conversation.Conversation;
import dev.waymark.conversation.ForkRequest;
import dev.waymark.conversation.Resumption;
import dev.waymark.conversation.call.Call;
import dev.waymark.conversation.fact.ModelFact;
import dev.waymark.conversation.fact.PersonFact;
import dev.waymark.conversation.fact.ThreadFact;
import dev.waymark.conversation.fact.ToolFact;
import dev.waymark.conversation.message.Message;
import dev.waymark.conversation.message.Part;
import dev.waymark.conversation.message.Reply;
import dev.waymark.conversation.rule.Rules;
import dev.waymark.conversation.value.IdempotencyKey;
import dev.waymark.conversation.value.Json;
import dev.waymark.conversation.value.Sha256;
import dev.waymark.conversation.value.Usage;
import dev.waymark.testkit.GeneratedThread;
import java.nio.charset.StandardCharsets;
import java.time.Instant;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** The tool call log of a {@code session}: where it must agree with the transcript, and what else it contains. */
class SessionLogTest {
    private static final Instant NOW = Instant.parse("2026-06-01T09:00:00Z");
    private static final String AT = "2026-05-01T09:00:00.123456+00:00";
    private static final Json CENT = Json.of(Map.of("cents", 1));

    private static Map<String, Object> fields(Object... namesAndValues) {
        Map<String, Object> fields = new LinkedHashMap<>();
        for (int i = 0; i < namesAndValues.length; i += 2) {
            fields.put((String) namesAndValues[i], namesAndValues[i + 1]);
        }
        return fields;
    }

    private static Map<String, Object> row(String callId, Json args, String status) {
        return fields(
                "session_id",
                "s1",
                "call_id",
                callId,
                "tool_name",
                "charge",
                "args_json",
                args.canonical(),
                "idempotency_key",
                IdempotencyKey.of("s1", "charge", args, 0),
                "status",
                status,
                "result_text",
                status.equals("issued") ? null : "paid",
                "started_at",
                AT,
                "completed_at",
                status.equals("issued") ? null : AT);
    }

    private static Map<String, Object> message(String id, String role, Map<String, ?> block) {
        return fields("id", id, "role", role, "created_at", AT, "blocks", List.of(block));
    }

    /** A session whose transcript has one open call, {@code c1}. */
    private static Json session(List<?> log) {
        return session(log, fields("kind", "tool_call", "id", "c1", "name", "charge", "args", CENT));
    }

    private static Json session(List<?> log, Map<String, ?> reply) {
        List<Object> transcript = List.of(
                message("m1", "user", fields("kind", "text", "text", "Pay")), message("m2", "assistant", reply));
        return Json.of(fields(
                "session",
                fields("session_id", "s1", "created_at", AT, "updated_at", AT, "status", "active"),
                "checkpoint",
                fields(
                        "version",
                        3,
                        "created_at",
                        AT,
                        "transcript",
                        transcript,
                        "plan",
                        null,
                        "budget_spent_usd",
                        0.25),
                "tool_calls",
                log));
    }

    private static RestoredCheckpoint read(Json document) {
        return CheckpointReader.read(document.canonical().getBytes(StandardCharsets.UTF_8), NOW);
    }

    private static Conversation resumed(Json document, String... answer) {
        return Rules.apply(
                Rules.apply(
                        Rules.resume(
                                read(document).state(),
                                new Resumption(
                                        "r",
                                        Optional.empty(),
                                        List.of(answer).stream().findFirst(),
                                        Optional.empty(),
                                        false,
                                        Optional.of("s1")),
                                NOW),
                        new ThreadFact.AgentRequested(),
                        NOW),
                new ThreadFact.AgentResolved(GeneratedThread.policy()),
                NOW);
    }

    private static void assertCorrupt(Json document, String why) {
        assertThatThrownBy(() -> read(document))
                .isInstanceOf(CheckpointCorruption.class)
                .hasMessageContaining(why);
    }

    private static List<Json> log(Conversation state) {
        List<Json> rows = new ArrayList<>();
        Json document = SessionCheckpoint.of(GeneratedThread.begunWith(state, "s1"));
        ((List<?>) Objects.requireNonNull(document.field("tool_calls"))).forEach(row -> rows.add(Json.of(row)));
        return rows;
    }

    private static Json rowOf(Conversation state, String callId) {
        return log(state).stream()
                .filter(row -> callId.equals(row.field("call_id")))
                .findFirst()
                .orElseThrow();
    }

    // ---- rows that contradict the transcript or each other

    @ParameterizedTest
    @ValueSource(strings = {"issued", "completed", "failed"})
    void row_withOtherArgumentsThanItsCall_isCorrupt(String status) {
        assertThat(read(session(List.of(row("c1", CENT, status))))
                        .state()
                        .calls()
                        .get("c1"))
                .isPresent();
        assertCorrupt(
                session(List.of(row("c1", Json.of(Map.of("cents", 2)), status))),
                "tool_calls[0]: \"args_json\" does not match the call");
    }

    @Test
    void row_ofACompletedCallWithOtherArguments_isCorrupt() {
        Conversation done = Rules.apply(
                resumed(session(List.of(row("c1", CENT, "completed"))), "Thanks"), new ModelFact.ModelCalled(1), NOW);
        String document =
                SessionCheckpoint.of(GeneratedThread.begunWith(done, "s1")).canonical();

        assertCorrupt(
                Json.of(CheckpointJson.read(document.replace("{\\\"cents\\\": 1}", "{\\\"cents\\\": 2}")
                                .getBytes(StandardCharsets.UTF_8))
                        .get(0)
                        .value()),
                "\"args_json\" does not match the call");
    }

    @Test
    void row_ofAnotherTool_isCorrupt() {
        Map<String, Object> row = row("c1", CENT, "issued");
        row.put("tool_name", "refund");

        assertCorrupt(session(List.of(row)), "\"tool_name\" does not match the call");
    }

    @ParameterizedTest
    @ValueSource(strings = {"issued", "completed"})
    void twoRowsOfOneCall_areCorrupt(String second) {
        assertCorrupt(
                session(List.of(row("c1", CENT, "issued"), row("c1", CENT, second))),
                "tool_calls[1]: the log has two rows for this call: c1");
        // The transcript lacks the call.
        assertCorrupt(
                session(List.of(row("c9", CENT, "issued"), row("c9", CENT, second))), "two rows for this call: c9");
    }

    // ---- rows that are ahead of the transcript

    private static final Map<String, Object> DONE = fields("kind", "text", "text", "Done.");

    @ParameterizedTest
    @ValueSource(strings = {"completed", "failed"})
    void endedRow_missingInTheTranscript_keepsBothTimes(String status) {
        Map<String, Object> row = row("c8", Json.of(Map.of("cents", 8)), status);
        row.put("started_at", "2026-05-01T08:00:00.123456+00:00");
        Conversation once = resumed(session(List.of(row), DONE), "Thanks");

        assertThat(rowOf(once, "c8").field("started_at")).isEqualTo(row.get("started_at"));
        assertThat(rowOf(once, "c8").field("completed_at")).isEqualTo(row.get("completed_at"));
        Conversation again = resumed(SessionCheckpoint.of(GeneratedThread.begunWith(once, "s1")), "Thanks");
        assertThat(rowOf(again, "c8")).isEqualTo(rowOf(once, "c8"));
    }

    @Test
    void issuedRow_missingInTheTranscript_isAhead() {
        Json document = session(
                List.of(
                        row("c7", CENT, "issued"),
                        row("c8", Json.of(Map.of("cents", 8)), "completed"),
                        row("c9", Json.of(Map.of("cents", 9)), "failed")),
                DONE);

        assertThat(read(document).state().callsAheadOfTranscript())
                .singleElement()
                .returns("c7", Call::id)
                .returns("charge", Call::tool)
                .returns(CENT, Call::args)
                .returns(Instant.parse("2026-05-01T09:00:00.123456Z"), Call::since);
        assertThat(resumed(document, "Go on").callsAheadOfTranscript())
                .extracting(Call::id)
                .containsExactly("c7");
    }

    @Test
    void issuedRow_ofAnOpenCall_isNotAhead() {
        assertThat(read(session(List.of(row("c1", CENT, "issued")))).state().callsAheadOfTranscript())
                .isEmpty();
    }

    @Test
    void callAhead_ofASafeTool_leavesTheListWhenTheAgentIsResolved() {
        Map<String, Object> row = row("c7", CENT, "issued");
        row.put("tool_name", "add");
        Json document = session(List.of(row), DONE);

        assertThat(read(document).state().callsAheadOfTranscript()).hasSize(1);
        assertThat(resumed(document, "Go on").callsAheadOfTranscript()).isEmpty();
    }

    @Test
    void callAhead_leavesTheListWhenAnIdenticalCallTakesItsPlace() {
        Conversation again = Rules.apply(
                Rules.apply(
                        resumed(session(List.of(row("c7", CENT, "issued")), DONE), "Pay"),
                        new ModelFact.ModelCalled(1),
                        NOW),
                new ModelFact.ModelReplied(
                        1, new Reply(List.of(new Part.ToolUse("c10", "charge", CENT)), new Usage(1, 1), "tool_use")),
                NOW);

        assertThat(again.calls().get("c10").orElseThrow().isOutcomeUnknown()).isTrue();
        assertThat(again.callsAheadOfTranscript()).isEmpty();
    }

    @Test
    void callAhead_isIssuedInLaterCheckpoints() {
        Conversation resumed = resumed(session(List.of(row("c7", CENT, "issued")), DONE), "Go on");

        assertThat(rowOf(resumed, "c7").value())
                .isEqualTo(Json.of(row("c7", CENT, "issued")).value());
    }

    /** The author's own query, {@code WHERE status = 'issued'}, finds every call whose outcome is unknown. */
    @Test
    void openCallThatWasLost_isIssuedInLaterCheckpoints() {
        Conversation resumed = resumed(session(List.of(row("c1", CENT, "issued"))));

        assertThat(resumed.calls().get("c1").orElseThrow().status()).isEqualTo(Call.Status.LOST);
        assertThat(rowOf(resumed, "c1").value())
                .isEqualTo(Json.of(row("c1", CENT, "issued")).value());
        Conversation told = Rules.apply(resumed, new ModelFact.ModelCalled(1), NOW);
        assertThat(rowOf(told, "c1").field("status")).isEqualTo("issued");
        assertThat(read(SessionCheckpoint.of(GeneratedThread.begunWith(told, "s1")))
                        .state()
                        .calls()
                        .get("c1"))
                .get()
                .returns(Call.Status.LOST, Call::status);
    }

    // ---- calls that no worker has received yet

    private static CheckpointFixture called(Part.ToolUse... uses) {
        return new CheckpointFixture(
                new PersonFact.UserSpoke(Optional.empty(), Optional.empty(), Optional.of(Message.user("Pay")), false),
                new ModelFact.ModelCalled(1),
                new ModelFact.ModelReplied(1, new Reply(List.of(uses), new Usage(1, 1), "tool_use")));
    }

    private static PersonFact.ApprovalDecided decided(boolean approved, String callId) {
        return new PersonFact.ApprovalDecided(
                approved,
                Optional.empty(),
                Optional.of(callId),
                Optional.empty(),
                Optional.empty(),
                Optional.empty(),
                Optional.empty());
    }

    private static List<String> statuses(CheckpointFixture fixture) {
        List<?> rows = (List<?>) Objects.requireNonNull(
                SessionCheckpoint.logOf(fixture.timeline()).field("tool_calls"));
        return rows.stream()
                .map(row -> (Map<?, ?>) row)
                .map(row -> row.get("call_id") + " " + row.get("status"))
                .toList();
    }

    /** The author's query interprets an {@code issued} row as a call that was interrupted while it ran. */
    @Test
    void callThatWaitsForAPerson_hasNoRowUntilAWorkerReceivesIt() {
        CheckpointFixture waiting = called(
                new Part.ToolUse("c1", "refund", CENT),
                new Part.ToolUse("c2", "ask_user", Json.of(Map.of("question", "Which day?"))));
        assertThat(waiting.state().waitingCalls()).hasSize(2);
        assertThat(statuses(waiting)).isEmpty();

        waiting.with(decided(true, "c1"));
        assertThat(statuses(waiting)).isEmpty();
        waiting.with(new ToolFact.ToolDispatched("c1", 1));
        assertThat(statuses(waiting)).containsExactly("c1 issued");
        waiting.with(new ToolFact.ToolInterrupted("c1", 1, "Which account?"));
        assertThat(statuses(waiting)).containsExactly("c1 issued");
        waiting.with(new PersonFact.HumanAnswered(Optional.empty(), Optional.of("c2"), "Friday", Optional.empty()));
        assertThat(statuses(waiting)).containsExactly("c1 issued", "c2 completed");
    }

    @Test
    void callThatIsDenied_hasAFailedRow() {
        CheckpointFixture denied =
                called(new Part.ToolUse("c1", "refund", CENT)).with(decided(false, "c1"));

        assertThat(statuses(denied)).containsExactly("c1 failed");
    }

    /** The file does not say whether the call ran. Once its tool is known, its outcome counts as unknown. */
    @Test
    void callWithoutARow_withAnUnknownOutcome_getsOne() {
        Json document = session(List.of());

        assertThat(log(read(document).state())).isEmpty();
        Conversation resumed = resumed(document);
        assertThat(resumed.calls().get("c1").orElseThrow().status()).isEqualTo(Call.Status.LOST);
        assertThat(resumed)
                .isEqualTo(resumed(SessionCheckpoint.of(
                        GeneratedThread.begunWith(read(document).state(), "s1"))));
        assertThat(rowOf(resumed, "c1").field("status")).isEqualTo("issued");
    }

    @Test
    void issuedRow_keepsItsStart() {
        Map<String, Object> row = row("c1", CENT, "issued");
        row.put("started_at", "2026-05-01T09:00:07.123456+00:00");
        Json document = session(List.of(row));

        for (Conversation state : List.of(read(document).state(), resumed(document))) {
            assertThat(rowOf(state, "c1").value()).isEqualTo(Json.of(row).value());
        }
    }

    // ---- keys by another rule

    @Test
    void keyByAnotherRule_isKeptBesideOurs() {
        String stricter = Sha256.hex("charge:" + CENT.canonical());
        Map<String, Object> row = row("c1", CENT, "completed");
        row.put("idempotency_key", stricter);
        Json other = Json.of(Map.of("cents", 9));
        Json document = session(List.of(row, row("c9", other, "completed")));

        Conversation resumed = resumed(document);
        Conversation later = Rules.apply(resumed, new ModelFact.ModelCalled(1), NOW);
        Conversation twice = read(SessionCheckpoint.of(GeneratedThread.begunWith(later, "s1")))
                .state();

        for (Conversation state : List.of(read(document).state(), resumed, later, twice)) {
            assertThat(rowOf(state, "c1").field("idempotency_key")).isEqualTo(stricter);
            assertThat(rowOf(state, "c9").field("idempotency_key"))
                    .isEqualTo(IdempotencyKey.of("s1", "charge", other, 0));
        }
    }

    @Test
    void missingKey_isCorrupt() {
        for (Object broken : new Object[] {null, "", 7}) {
            Map<String, Object> row = row("c1", CENT, "issued");
            row.put("idempotency_key", broken);
            assertCorrupt(session(List.of(row)), "idempotency_key");
        }
    }

    @Test
    void fork_keepsKeysByAnotherRule() {
        Map<String, Object> row = row("c9", CENT, "completed");
        row.put("idempotency_key", "k-9");
        Conversation resumed = resumed(session(List.of(row), DONE), "Go on");

        Conversation fork = Rules.fork(resumed, new ForkRequest("f", Optional.empty()), NOW);

        assertThat(rowOf(fork, "c9").field("idempotency_key")).isEqualTo("k-9");
    }

    // ---- arguments that an approval has changed

    @Test
    void argumentsChangedByAnApproval_areInLogAndTranscript() {
        Json approved = Json.of(Map.of("cents", 3));
        CheckpointFixture fixture = new CheckpointFixture(
                        new PersonFact.UserSpoke(
                                Optional.empty(), Optional.empty(), Optional.of(Message.user("Pay")), false),
                        new ModelFact.ModelCalled(1),
                        new ModelFact.ModelReplied(
                                1,
                                new Reply(
                                        List.of(new Part.ToolUse("c1", "refund", CENT)), new Usage(1, 1), "tool_use")))
                .with(new PersonFact.ApprovalDecided(
                        true,
                        Optional.empty(),
                        Optional.of("c1"),
                        Optional.of(approved),
                        Optional.empty(),
                        Optional.empty(),
                        Optional.empty()));
        Json approvedOnly = SessionCheckpoint.of(fixture.timeline());

        fixture.with(new ToolFact.ToolDispatched("c1", 1));
        Json running = SessionCheckpoint.of(fixture.timeline());

        for (Json each : List.of(approvedOnly, running)) {
            assertThat(each.canonical()).contains("\"args\": {\"cents\": 3}").doesNotContain("\"cents\": 1");
            assertThat(read(each).state().calls().get("c1").orElseThrow().args())
                    .isEqualTo(approved);
        }
        // The first version shows the call as the model made it.
        List<Json> versions = SessionCheckpoint.versions(fixture.timeline()).toList();
        assertThat(versions.get(0).canonical()).contains("\"args\": {\"cents\": 1}");
        assertThat(versions)
                .allSatisfy(version -> assertThat(read(version).state()).isNotNull());
    }
}
