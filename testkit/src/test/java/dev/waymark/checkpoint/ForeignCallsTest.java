package dev.waymark.checkpoint;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.tuple;

import dev.waymark.conversation.Conversation;
import dev.waymark.conversation.FileCalls;
import dev.waymark.conversation.Resumption;
import dev.waymark.conversation.Step;
import dev.waymark.conversation.call.Call;
import dev.waymark.conversation.fact.ModelFact;
import dev.waymark.conversation.fact.PersonFact;
import dev.waymark.conversation.fact.ThreadFact;
import dev.waymark.conversation.fact.ToolFact;
import dev.waymark.conversation.message.Message;
import dev.waymark.conversation.message.Part;
import dev.waymark.conversation.message.Reply;
import dev.waymark.conversation.policy.AgentPolicy;
import dev.waymark.conversation.rule.Rules;
import dev.waymark.conversation.value.CallVerdict;
import dev.waymark.conversation.value.IdempotencyKey;
import dev.waymark.conversation.value.Json;
import dev.waymark.conversation.value.Problem;
import dev.waymark.conversation.value.Usage;
import dev.waymark.testkit.GeneratedThread;
import java.nio.charset.StandardCharsets;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * Calls in the files of other programs. No call is lost, and no call runs with arguments that are not in the file. A
 * file that is ambiguous in this respect is refused.
 */
class ForeignCallsTest {
    private static final Instant NOW = Instant.parse("2026-06-01T09:00:00Z");
    private static final String AT = "2026-05-01T09:00:00+00:00";
    private static final Json CENT = Json.of(Map.of("cents", 1));

    /** The shapes in which files have calls, each with one open call whose arguments are {@code ARGS}. */
    private enum Shape {
        RUNNER("""
                {'messages': [{'role': 'user', 'content': 'Pay'}, {'role': 'assistant', 'content': [
                  {'type': 'tool_use', 'id': 'c1', 'name': 'refund', 'input': ARGS}]}],
                 'iterations': 1, 'usage': {'inputTokens': 1, 'outputTokens': 1}}""", "input"),
        THREAD("""
                {'threadId': 't', 'step': 1, 'messages': [{'role': 'user', 'content': 'Pay'},
                  {'role': 'assistant', 'content': [
                    {'type': 'tool-call', 'toolCallId': 'c1', 'toolName': 'refund', 'input': ARGS}]}],
                 'state': {'todos': [], 'files': {}}, 'createdAt': 'AT', 'updatedAt': 'AT'}""", "input"),
        INTERRUPT("""
                {'threadId': 't', 'step': 1, 'messages': [{'role': 'user', 'content': 'Pay'}],
                 'state': {'todos': [], 'files': {}}, 'createdAt': 'AT', 'updatedAt': 'AT', 'interrupt': {'step': 1,
                   'toolCall': {'toolCallId': 'c1', 'toolName': 'refund', 'args': ARGS}}}""", "args"),
        PHASES("""
                {'llm_calls': 1, 'tool_calls': 0, 'step': 1, 'state': 'running', 'started_at_s': 1, 'thread_id': 't',
                 'usage': {'input_tokens': 1, 'output_tokens': 1}, 'tool_executions': [], 'messages': [
                  {'role': 'user', 'content': 'Pay'}, {'role': 'assistant', 'content': '', 'tool_calls': [
                    {'id': 'c1', 'tool_name': 'refund', 'arguments': ARGS}]}]}""", "arguments"),
        PENDING_REPLY("""
                {'llm_calls': 1, 'tool_calls': 0, 'step': 1, 'state': 'running', 'started_at_s': 1, 'thread_id': 't',
                 'usage': {'input_tokens': 1, 'output_tokens': 1}, 'tool_executions': [], 'messages': [
                  {'role': 'user', 'content': 'Pay'}], 'pending_llm_response': {'text': '', 'tool_calls': [
                    {'id': 'c1', 'tool_name': 'refund', 'arguments': ARGS}]}}""", "arguments"),
        MESSAGES("""
                [{'role': 'user', 'content': 'Pay'}, {'role': 'assistant', 'content': '', 'toolCalls': [
                  {'id': 'c1', 'name': 'refund', 'arguments': ARGS}]}]""", "arguments"),
        VERSION("""
                {'version': 1, 'created_at': 'AT', 'plan': null, 'budget_spent_usd': 0, 'transcript': [
                  {'id': 'm1', 'role': 'user', 'created_at': 'AT', 'blocks': [{'kind': 'text', 'text': 'Pay'}]},
                  {'id': 'm2', 'role': 'assistant', 'created_at': 'AT', 'blocks': [
                    {'kind': 'tool_call', 'id': 'c1', 'name': 'refund', 'args': ARGS}]}]}""", "args"),
        SESSION(
                "{'session': {'session_id': 's1', 'created_at': 'AT', 'updated_at': 'AT', 'status': 'active'},"
                        + " 'checkpoint': " + VERSION.text + ", 'tool_calls': []}",
                "args");

        private final String text;
        private final String field;

        Shape(String text, String field) {
            this.text = text;
            this.field = field;
        }

        String with(String args) {
            return text.replace("ARGS", args);
        }
    }

    private static RestoredCheckpoint read(String text) {
        return CheckpointReader.read(
                text.replace('\'', '"').replace("\"AT\"", "\"" + AT + "\"").getBytes(StandardCharsets.UTF_8), NOW);
    }

    private static void assertCorrupt(String text, String why) {
        assertThatThrownBy(() -> read(text))
                .isInstanceOf(CheckpointCorruption.class)
                .hasMessageContaining(why);
    }

    private static Conversation resumed(RestoredCheckpoint checkpoint, FileCalls calls, AgentPolicy policy) {
        return Rules.apply(
                Rules.apply(
                        Rules.resume(
                                checkpoint.state(),
                                new Resumption(
                                                "r",
                                                Optional.empty(),
                                                Optional.empty(),
                                                Optional.empty(),
                                                false,
                                                Optional.empty())
                                        .withFileCalls(calls),
                                NOW),
                        new ThreadFact.AgentRequested(),
                        NOW),
                new ThreadFact.AgentResolved(policy),
                NOW);
    }

    private static Call call(Conversation state, String id) {
        return state.calls().get(id).orElseThrow();
    }

    // ---- arguments

    @ParameterizedTest
    @EnumSource
    void call_withItsArguments_isRead(Shape shape) {
        assertThat(call(read(shape.with("{'cents': 1}")).state(), "c1").args()).isEqualTo(CENT);
    }

    /** Without its arguments, the call would run with other arguments than its author meant. */
    @ParameterizedTest
    @EnumSource
    void call_withArgumentsUnderAnotherName_isCorruptAndNamesTheFieldsFound(Shape shape) {
        String text = shape.with("{'cents': 1}").replace("'" + shape.field + "': {'cents'", "'parameters': {'cents'");

        assertCorrupt(text, "the call has no \"" + shape.field + "\", only \"");
        assertCorrupt(text, "\"parameters\"");
    }

    @ParameterizedTest
    @EnumSource
    void call_withNonObjectArguments_isCorruptAndQuotesThem(Shape shape) {
        for (String args : List.of("null", "5", "[1]", "\"{\\\"cents\\\": 1}\"")) {
            assertCorrupt(shape.with(args), "\"" + shape.field + "\" must be an object, not " + args);
        }
    }

    /** A model can write arguments that are not a JSON object. Each format wraps them and reads them back unchanged. */
    @ParameterizedTest
    @EnumSource(CheckpointFormat.class)
    void garbledArguments_areKeptByEveryFormat(CheckpointFormat format) {
        Json garbled = Json.of("{\"cents\": ");
        CheckpointFixture fixture = new CheckpointFixture(
                new PersonFact.UserSpoke(Optional.empty(), Optional.empty(), Optional.of(Message.user("Pay")), false),
                new ModelFact.ModelCalled(1),
                new ModelFact.ModelReplied(
                        1, new Reply(List.of(new Part.ToolUse("c1", "refund", garbled)), new Usage(1, 1), "tool_use")));
        String text = (format == CheckpointFormat.PHASES
                        ? PhasesCheckpoint.latest(fixture.timeline())
                        : format.view(fixture.timeline()))
                .canonical();

        assertThat(text).contains("{\"invalid_arguments\": \"{\\\"cents\\\": \"}");
        assertThat(call(
                                CheckpointReader.read(text.getBytes(StandardCharsets.UTF_8), NOW)
                                        .state(),
                                "c1")
                        .args())
                .isEqualTo(garbled);
    }

    // ---- calls where a format has none

    @ParameterizedTest
    @CsvSource({
        "RUNNER, tool_calls, content",
        "RUNNER, toolCalls, content",
        "THREAD, toolInvocations, content",
        "PHASES, function_call, tool_calls",
        "MESSAGES, tool_calls, toolCalls",
        "VERSION, tool_calls, blocks",
        "SESSION, function_call, blocks"
    })
    void message_withCallsInAFieldOfAnotherFormat_isRefusedWithTheRightField(
            Shape shape, String field, String documented) {
        String text = shape.with("{'cents': 1}");
        String row = text.replace("'role': 'user'", "'role': 'user', '" + field + "': [{'id': 'c9'}]");

        assertCorrupt(row, "\"" + field + "\" is not a field of this format: calls belong in \"" + documented + "\"");
    }

    /** Programs write such fields without content, too. */
    @ParameterizedTest
    @ValueSource(strings = {"null", "[]"})
    void message_withoutCallsInAFieldOfAnotherFormat_isRead(String nothing) {
        String fields =
                "'tool_calls': " + nothing + ", 'function_call': " + nothing + ", 'toolInvocations': " + nothing;

        for (Shape shape : Shape.values()) {
            String text = shape.with("{'cents': 1}").replace("'role': 'user'", "'role': 'user', " + fields);
            assertThat(read(text).state().openCalls()).as(shape.name()).hasSize(1);
        }
    }

    // ---- the outcome of a run

    @ParameterizedTest
    @ValueSource(
            strings = {
                "{'interrupted': true, 'question': 'Which day?', 'checkpoint': CHECKPOINT}",
                "{'text': 'Paid.', 'structured': null, 'usage': {}, 'messages': [], 'checkpoint': CHECKPOINT}",
                "{'status': 'interrupted', 'interrupted': true, 'thread': 't', 'runId': 'r', 'checkpoint': CHECKPOINT}"
            })
    void outcomeOfARun_isReadAsTheCheckpointInside(String outcome) {
        String inside = Shape.RUNNER.with("{'cents': 1}");

        assertThat(read(outcome.replace("CHECKPOINT", inside))).isEqualTo(read(inside));
    }

    /** Its log would be lost. */
    @Test
    void sessionWithoutIdentity_isNotReadAsAnOutcome() {
        assertCorrupt(
                Shape.SESSION.with("{'cents': 1}").replace("'session':", "'other':"), "not a known checkpoint format");
    }

    // ---- requests for approval in threads of the AI SDK

    private static final String ASKED = "{'type': 'tool-approval-request', 'approvalId': 'aID', 'toolCallId': 'cID'}";

    private static String threadOf(String parts, String more) {
        return "{'threadId': 't', 'step': 1, 'messages': [{'role': 'user', 'content': 'Pay'}, {'role': 'assistant',"
                + " 'content': [" + parts + "]}" + more + "], 'state': {'todos': [], 'files': {}},"
                + " 'createdAt': 'AT', 'updatedAt': 'AT'}";
    }

    private static String use(int number, String tool) {
        return "{'type': 'tool-call', 'toolCallId': 'c" + number + "', 'toolName': '" + tool + "', 'input': {'cents': "
                + number + "}}";
    }

    private static String asked(int number) {
        return ASKED.replace("ID", "" + number);
    }

    private static final String TWO_ASKED =
            threadOf(use(1, "charge") + "," + use(2, "add") + "," + asked(1) + "," + asked(2), "");

    @ParameterizedTest
    @EnumSource
    void openRequests_ofAnyTool_waitForApproval(FileCalls calls) {
        RestoredCheckpoint checkpoint = read(TWO_ASKED);

        assertThat(checkpoint.state().isInterrupted()).isTrue();
        assertThat(checkpoint.mayHaveRun()).isEmpty();
        Conversation resumed = resumed(checkpoint, calls, GeneratedThread.policy());
        assertWaiting(resumed);
        // Programs may change, so the definition that the person decides about is looked up first.
        AgentPolicy.ToolPolicy add = AgentPolicy.ToolPolicy.NONE.changing();
        Conversation judged = Rules.apply(
                Rules.apply(
                        Rules.apply(
                                Rules.apply(
                                        resumed(
                                                checkpoint,
                                                calls,
                                                new AgentPolicy(
                                                        "helper",
                                                        4,
                                                        Map.of(
                                                                "add",
                                                                AgentPolicy.Executor.ACTIVITY,
                                                                "charge",
                                                                AgentPolicy.Executor.ACTIVITY),
                                                        Map.of("add", add, "charge", add),
                                                        Optional.empty())),
                                        new ToolFact.VerdictRequested("c1"),
                                        NOW),
                                new ToolFact.VerdictRequested("c2"),
                                NOW),
                        new ToolFact.VerdictGiven("c1", about("first")),
                        NOW),
                new ToolFact.VerdictGiven("c2", about("first")),
                NOW);
        assertWaiting(judged);
    }

    private static CallVerdict about(String definition) {
        return CallVerdict.allow("no rule").about(Optional.of(definition));
    }

    private static void assertWaiting(Conversation resumed) {
        assertThat(resumed.waitingCalls())
                .extracting(Call::id, Call::status)
                .containsExactly(tuple("c1", Call.Status.AWAITING), tuple("c2", Call.Status.AWAITING));
        assertThat(Rules.nextSteps(resumed)).noneMatch(Step.RunTool.class::isInstance);
    }

    @Test
    void openRequest_thatIsApprovedHere_runsOnce() {
        Conversation approved = Rules.apply(
                resumed(
                        read(threadOf(use(1, "charge") + "," + asked(1), "")),
                        FileCalls.CONTINUE_SAFE,
                        GeneratedThread.policy()),
                new PersonFact.ApprovalDecided(
                        true,
                        Optional.empty(),
                        Optional.of("c1"),
                        Optional.empty(),
                        Optional.empty(),
                        Optional.empty(),
                        Optional.empty()),
                NOW);

        assertThat(Rules.nextSteps(approved))
                .singleElement()
                .isInstanceOfSatisfying(
                        Step.RunTool.class, run -> assertThat(run.call().id()).isEqualTo("c1"));
    }

    @Test
    void openRequest_ofAnAgentWithoutApprovers_isDenied() {
        AgentPolicy nobody = new AgentPolicy(
                "helper",
                4,
                Map.of("refund", AgentPolicy.Executor.ACTIVITY),
                Map.of("refund", new AgentPolicy.ToolPolicy(true, true, false, false, false, 60_000, false, false)),
                Optional.of(new AgentPolicy.Approvals(true, Optional.empty())));

        Conversation resumed =
                resumed(read(threadOf(use(1, "refund") + "," + asked(1), "")), FileCalls.CONTINUE, nobody);

        assertThat(call(resumed, "c1").status()).isEqualTo(Call.Status.DENIED);
    }

    @Test
    void openRequest_isNotAnswered() {
        Resumption answering =
                new Resumption("r", Optional.empty(), Optional.of("yes"), Optional.empty(), false, Optional.empty());

        assertThat(answering.refusal(read(TWO_ASKED).state()).map(Problem::message))
                .contains("no question is open, but these calls wait for a decision: c1, c2");
    }

    /** The file asks for no approval of a call beside one that waits, so that call may have run. */
    @Test
    void callWithoutARequest_besideAWaitingCall_mayHaveRun() {
        String text = threadOf(use(1, "charge") + "," + use(2, "charge") + "," + asked(1), "");

        Conversation resumed = resumed(read(text), FileCalls.CONTINUE, GeneratedThread.policy());

        assertThat(call(resumed, "c1").status()).isEqualTo(Call.Status.AWAITING);
        assertThat(call(resumed, "c2").isOutcomeUnknown()).isTrue();
    }

    @Test
    void requestWithAResult_isClosed() {
        String result =
                ", {'role': 'tool', 'content': [{'type': 'tool-result', 'toolCallId': 'c1', 'toolName': 'charge',"
                        + " 'output': {'type': 'text', 'value': 'paid'}}]}";

        Conversation resumed = resumed(
                read(threadOf(use(1, "charge") + "," + asked(1), result)),
                FileCalls.CONTINUE,
                GeneratedThread.policy());

        assertThat(call(resumed, "c1").status()).isEqualTo(Call.Status.COMPLETED);
    }

    @Test
    void requestAboutNoCall_isCorrupt() {
        assertCorrupt(threadOf(use(1, "charge") + "," + asked(2), ""), "a request about an unknown call: c2");
    }

    // ---- a session that contradicts itself

    private static String sessionOf(String status, String result, String said, boolean isError) {
        String key = IdempotencyKey.of("s1", "refund", CENT, 0);
        String rows = "{'session_id': 's1', 'call_id': 'c1', 'tool_name': 'refund', 'args_json': '{\\'cents\\': 1}',"
                + " 'idempotency_key': '" + key + "', 'status': '" + status + "', 'result_text': " + result
                + ", 'started_at': 'AT', 'completed_at': 'AT'}";
        String answer = "{'id': 'm3', 'role': 'user', 'created_at': 'AT', 'blocks': [{'kind': 'tool_result', 'call_id':"
                + " 'c1', 'content': '" + said + "', 'is_error': " + isError + "}]}";
        return Shape.SESSION
                .with("{'cents': 1}")
                .replace("}]}]}", "}]}, " + answer + "]}")
                .replace("'tool_calls': []", "'tool_calls': [" + rows + "]");
    }

    @Test
    void row_withAnotherResultThanTheTranscript_isCorrupt() {
        assertThat(call(read(sessionOf("completed", "'paid'", "paid", false)).state(), "c1")
                        .status())
                .isEqualTo(Call.Status.COMPLETED);
        assertThat(read(sessionOf("completed", "null", "paid", false)).state().openCalls())
                .isEmpty();
        String why = "tool_calls[0]: the result of the call differs from the transcript's: c1";
        assertCorrupt(sessionOf("completed", "'paid'", "not paid", false), why);
        assertCorrupt(sessionOf("completed", "'paid'", "paid", true), why);
        assertCorrupt(sessionOf("failed", "'no'", "paid", false), why);
    }

    @ParameterizedTest
    @EnumSource(names = {"VERSION", "SESSION"})
    void twoMessagesWithOneId_areCorrupt(Shape shape) {
        assertCorrupt(shape.with("{'cents': 1}").replace("'m2'", "'m1'"), "two messages have this id: m1");
    }

    /** Our own ids never collide with those of the file, so that our output can be read again. */
    @Test
    void idsOfTheFile_neverCollideWithOurs() {
        String text = Shape.SESSION
                .with("{}")
                .replace("'m1'", "'m0'")
                .replace("{'id': 'm2'", "{'id': 'm1'")
                .replace(
                        "}]}]}",
                        "}]}, {'id': 'm2', 'role': 'user', 'created_at': 'AT', 'blocks': [{'kind': 'tool_result',"
                                + " 'call_id': 'c1', 'content': 'ok'}, {'kind': 'text', 'text': 'And?'}]},"
                                + " {'id': 'm3', 'role': 'assistant', 'created_at': 'AT', 'blocks': [{'kind': 'text',"
                                + " 'text': 'Paid.'}]}]}");

        Json written = SessionCheckpoint.of(GeneratedThread.begunWith(read(text).state(), "s1"));

        assertThat(written.canonical()).contains("\"role\": \"system\"");
        assertThat(CheckpointReader.read(written.canonical().getBytes(StandardCharsets.UTF_8), NOW)
                        .state()
                        .transcript()
                        .messages())
                .isEqualTo(read(text).state().transcript().messages())
                .hasSize(5);
    }
}
