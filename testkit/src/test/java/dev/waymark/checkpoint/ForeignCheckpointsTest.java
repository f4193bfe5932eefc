package dev.waymark.checkpoint;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.waymark.conversation.Conversation;
import dev.waymark.conversation.Resumption;
import dev.waymark.conversation.Step;
import dev.waymark.conversation.call.Call;
import dev.waymark.conversation.fact.ModelFact;
import dev.waymark.conversation.fact.ThreadFact;
import dev.waymark.conversation.message.Message;
import dev.waymark.conversation.message.Pairing;
import dev.waymark.conversation.message.Part;
import dev.waymark.conversation.message.Role;
import dev.waymark.conversation.rule.Rules;
import dev.waymark.conversation.state.Turn;
import dev.waymark.conversation.value.Json;
import dev.waymark.conversation.value.Usage;
import dev.waymark.testkit.GeneratedThread;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Files in the shapes that other programs really write. They contain more than is documented, and sometimes less. */
class ForeignCheckpointsTest {
    private static final Instant NOW = Instant.parse("2026-06-01T09:00:00Z");

    private static String file(String name) {
        try (InputStream in = ForeignCheckpointsTest.class.getResourceAsStream("/foreign/" + name)) {
            return new String(Objects.requireNonNull(in, name).readAllBytes(), StandardCharsets.UTF_8);
        } catch (IOException e) {
            throw new AssertionError(e);
        }
    }

    private static RestoredCheckpoint read(String text) {
        return CheckpointReader.read(text.replace('\'', '"').getBytes(StandardCharsets.UTF_8), NOW);
    }

    private static Conversation resumed(String text, String... answer) {
        return resumed(read(text), answer);
    }

    private static Conversation resumed(RestoredCheckpoint checkpoint, String... answer) {
        Resumption how = new Resumption(
                "r", Optional.empty(), List.of(answer).stream().findFirst(), Optional.empty(), false, Optional.empty());
        return Rules.apply(
                Rules.apply(Rules.resume(checkpoint.state(), how, NOW), new ThreadFact.AgentRequested(), NOW),
                new ThreadFact.AgentResolved(GeneratedThread.policy()),
                NOW);
    }

    private static List<Message> nextModelCall(Conversation state) {
        int step = state.counters().steps() + 1;
        assertThat(Rules.nextSteps(state)).containsExactly(new Step.CallModel(step));
        List<Message> messages = Rules.apply(state, new ModelFact.ModelCalled(step), NOW)
                .transcript()
                .messages();
        assertThat(Pairing.violation(messages)).isEmpty();
        return messages;
    }

    private static void assertCorrupt(String text, String why) {
        assertThatThrownBy(() -> read(text))
                .isInstanceOf(CheckpointCorruption.class)
                .hasMessageContaining(why);
    }

    private static Call call(Conversation state, String id) {
        return state.calls().get(id).orElseThrow();
    }

    private static String firstRecords(String chain, int count) {
        return String.join("\n", chain.lines().limit(count).toList());
    }

    /** Returns a field of the snapshot that the phases format has for this state. */
    private static Object shown(Conversation state, String name) {
        Json latest = PhasesCheckpoint.latest(GeneratedThread.begunWith(state, "t"));
        return ((Map<?, ?>) Objects.requireNonNull(latest.field("payload"))).get(name);
    }

    // ---- phases: a chain in which only snapshots name the thread, with the provider's own data

    private static final String CHAIN = file("phases.jsonl");

    @ParameterizedTest
    @CsvSource({"3, 1", "4, 1", "5, 1", "6, 2", "7, 2", "9, 3", "10, 3", "15, 4"})
    void phases_everyRecordFromTheFirstSnapshotOn_canBeContinued(int records, int messages) {
        RestoredCheckpoint checkpoint = read(firstRecords(CHAIN, records));

        assertThat(checkpoint.thread()).contains("thread_3c49");
        assertThat(checkpoint.state().transcript().count()).isGreaterThanOrEqualTo(Math.min(messages, 2));
        assertThat(Rules.nextSteps(resumed(firstRecords(CHAIN, records))).isEmpty())
                .isEqualTo(records == 15);
    }

    @Test
    void phases_withoutAThreadId_areCorrupt() {
        assertCorrupt(firstRecords(CHAIN, 6).replace("\"thread_id\"", "\"other\""), "thread_id");
        assertCorrupt(CHAIN.lines().toList().get(0), "thread_id");
    }

    @Test
    void phases_anotherThreadInThePayload_isCorrupt() {
        String record = CHAIN.lines().toList().get(2).replaceFirst("\"step\"", "\"thread_id\": \"t2\", \"step\"");

        assertCorrupt(record, "\"thread_id\" differs from the record");
    }

    @Test
    void phases_beforeTheBatch_runsItsCalls() {
        for (int records : List.of(6, 7)) {
            Conversation state = resumed(firstRecords(CHAIN, records));

            assertThat(Rules.nextSteps(state)).hasSize(2).allMatch(Step.RunTool.class::isInstance);
        }
    }

    /** The batch has one call with side effects and one without. The file says that both have ended. */
    @Test
    void phases_afterTheBatch_runsNoneOfItsCallsAndTellsTheModel() {
        for (String phase : List.of("post_tool_batch", "post_subagent_batch")) {
            Conversation state = resumed(firstRecords(CHAIN, 8).replace("post_tool_batch", phase));

            List<Part.ToolResult> results = nextModelCall(state).get(2).toolResults();
            assertThat(results).extracting(Part.ToolResult::toolUseId).containsExactly("tc1", "tc2");
            assertThat(results.get(0).content())
                    .contains("is not declared 'safeToRetry: true'", "had been claimed for execution");
            assertThat(results.get(1).content())
                    .contains("tool-durability-error", "Call it again")
                    .doesNotContain("not declared");
        }
    }

    /** If such a chain were accepted, the model would be called again, and might repeat calls that have ended. */
    @ParameterizedTest
    @ValueSource(
            strings = {
                "(\"tool_calls\": )\\[\\{\"id\": \"tc1\".*?\\}\\}\\]/$1[]",
                "(\"pending_llm_response\": )\\{.*?\"model\": \"unknown\"\\}/$1null"
            })
    void phases_batchWithCallsMissingInTheSnapshot_isCorrupt(String removal) {
        String[] change = removal.split("/");

        assertCorrupt(
                firstRecords(CHAIN, 8).replaceAll(change[0], change[1]), "no snapshot has the calls of this batch");
    }

    @Test
    void phases_laterStepWithoutASnapshot_runsNoneOfTheCalls() {
        List<String> records = CHAIN.lines().toList();
        String chain = String.join("\n", records.subList(0, 6)) + "\n" + records.get(9);

        assertThat(call(resumed(chain), "tc1").status()).isEqualTo(Call.Status.LOST);
    }

    @ParameterizedTest
    @ValueSource(ints = {0, 3, 6, 7})
    void phases_effectsBesideAnyRecord_areReplayed(int record) {
        String effects = ", \"effects\": " + file("effects.json").strip() + "}";
        List<String> records = CHAIN.lines().limit(8).toList();
        String chain = String.join("\n", records)
                .replace(records.get(record), records.get(record).replaceFirst("}$", effects));

        List<Part.ToolResult> results = nextModelCall(resumed(chain)).get(2).toolResults();

        assertThat(results)
                .containsExactly(
                        new Part.ToolResult("tc1", "{\"result\": 3}", false), new Part.ToolResult("tc2", "7", false));
        assertThat(shown(resumed(chain), "replayed_effect_count")).isEqualTo(2L);
        assertCorrupt(chain.replace("\"result\": 3", "\"result\": 4"), "output_hash");
        assertCorrupt(chain.replace("\"b\": 2", "\"b\": 3"), "input_hash");
    }

    @Test
    void phases_effectsOfCallsWithResults_areKept() {
        String effects = ", \"effects\": " + file("effects.json").strip() + "}";
        String snapshot = CHAIN.lines().toList().get(8).replaceFirst("}$", effects);

        assertThat(nextModelCall(resumed(snapshot))).hasSize(4);
        assertCorrupt(snapshot.replace("\"output\": 7", "\"output\": 8"), "output_hash");
    }

    @Test
    void phases_endOfABatchWithCallsInNoSnapshot_isCorrupt() {
        List<String> records = CHAIN.lines().toList();

        assertCorrupt(String.join("\n", records.subList(0, 5)) + "\n" + records.get(7), "no snapshot has the calls");
    }

    @Test
    void phases_failedAfterItsBatch_runsNothingAgain() {
        String executions = "[{'tool_name': 'charge', 'tool_call_id': 'tc1', 'success': false, 'output': null,"
                + " 'error': 'no'}]";
        String end = "{'run_id': 'run_15e3', 'step': 1, 'phase': 'run_terminal', 'timestamp_ms': 1795305555999,"
                + " 'payload': {'state': 'failed', 'message': 'charge failed', 'terminal_result': {"
                + "'run_id': 'run_15e3', 'state': 'failed', 'tool_executions': " + executions + "}}}";

        Conversation state = resumed(firstRecords(CHAIN, 7) + "\n" + end);

        List<Part.ToolResult> results = nextModelCall(state).get(2).toolResults();
        assertThat(results.get(0)).isEqualTo(new Part.ToolResult("tc1", "no", true));
        assertThat(results.get(1).content()).contains("tool-durability-error");
    }

    @Test
    void phases_callsWithoutIds_areGivenSome() {
        String chain = firstRecords(CHAIN, 6).replaceAll("\"id\": \"tc\\d\"", "\"id\": null");

        assertThat(resumed(chain).openCalls()).extracting(Call::id).containsExactly("call_1", "call_2");
    }

    @Test
    void phases_countersOfAnotherProgramsRun_areShownAgain() {
        Conversation state = read(firstRecords(CHAIN, 9)).state();
        Conversation pending = read(firstRecords(CHAIN, 6)).state();

        assertThat(shown(state, "tool_calls")).isEqualTo(2L);
        assertThat(shown(state, "llm_calls")).isEqualTo(1L);
        assertThat((List<?>) shown(state, "tool_executions")).hasSize(2);
        assertThat(shown(pending, "tool_calls")).isEqualTo(0L);
    }

    @Test
    void phases_terminalRecordAlone_keepsItsCountersForItsTurnOnly() {
        String terminal = CHAIN.lines().toList().get(14);

        Conversation state = read(terminal).state();
        assertThat(read(terminal).thread()).contains("thread_3c49");
        assertThat(state.turn())
                .returns(Turn.Status.COMPLETE, Turn::status)
                .returns("The end.", Turn::text)
                .returns(2, Turn::iterations)
                .returns(new Usage(30, 11), Turn::usage);
        assertThat(shown(state, "tool_calls")).isEqualTo(2L);

        Conversation next = resumed(terminal, "And now?");
        assertThat(shown(next, "tool_calls")).isEqualTo(0L);
        assertThat(shown(next, "llm_calls")).isEqualTo(0L);
    }

    @Test
    void phases_terminalThatContradictsItself_isCorrupt() {
        String terminal = CHAIN.lines().toList().get(14);

        assertCorrupt(
                terminal.replaceFirst(
                        "\"terminal_result\": \\{\"run_id\": \"run_15e3\"",
                        "\"terminal_result\": {\"run_id\": \"run_9\""),
                "run_id");
        assertCorrupt(
                terminal.replace(
                        "\"state\": \"completed\", \"final_text\": \"The end.\", \"llm_response\"",
                        "\"state\": \"failed\", \"final_text\": \"The end.\", \"llm_response\""),
                "the state differs");
    }

    @Test
    void phases_pausedForAnApproval_runsNoOtherCall() {
        String paused = "{'run_id': 'run_15e3', 'step': 1, 'phase': 'paused', 'timestamp_ms': 1795305555999,"
                + " 'payload': {'kind': 'approval', 'reason': 'refund'}}";
        String chain =
                firstRecords(CHAIN, 7).replace("\"tool_name\": \"add\"", "\"tool_name\": \"refund\"") + "\n" + paused;

        Conversation state = resumed(chain);

        assertThat(call(state, "tc1").status()).isEqualTo(Call.Status.LOST);
        assertThat(call(state, "tc2").status()).isEqualTo(Call.Status.AWAITING);
    }

    @Test
    void phases_resultOfARun_withOrWithoutItsRecord_isTheEnd() {
        String terminal = CHAIN.lines().toList().get(14);
        String result = terminal.substring(terminal.indexOf("\"terminal_result\": ") + "\"terminal_result\": ".length())
                .replaceFirst("}}$", "");
        String alone = terminal.replaceFirst("\"payload\": .*", "\"payload\": {\"terminal_result\": ") + result + "}}";

        for (String text : List.of(result, alone)) {
            RestoredCheckpoint checkpoint = read(text);

            assertThat(checkpoint.format()).isEqualTo(CheckpointFormat.PHASES);
            assertThat(checkpoint.thread()).contains("thread_3c49");
            assertThat(checkpoint.state().turn())
                    .returns(Turn.Status.COMPLETE, Turn::status)
                    .returns("The end.", Turn::text)
                    .returns(2, Turn::iterations)
                    .returns(new Usage(30, 11), Turn::usage);
            assertThat(nextModelCall(resumed(text, "And now?"))).hasSize(2);
        }
        assertCorrupt(
                result.replace("\"state\": \"completed\"", "\"state\": \"running\""), "a run does not end running");
        assertCorrupt(result.replace("\"run_id\"", "\"id\""), "not a known checkpoint format");
    }

    @Test
    void phases_resultWithoutCounters_isTheEndUnlessAfterASnapshot() {
        String end = "{'run_id': 'run_15e3', 'phase': 'run_terminal', 'timestamp_ms': 1795305555999, 'payload': {"
                + "'terminal_result': {'run_id': 'run_15e3', 'thread_id': 'thread_3c49', 'state': 'completed',"
                + " 'final_text': 'Done.', 'usage_aggregate': {'input_tokens': 3, 'output_tokens': 4}}}}";

        assertThat(read(end).state().turn()).returns("Done.", Turn::text).returns(new Usage(3, 4), Turn::usage);
        assertCorrupt(
                firstRecords(CHAIN, 7) + "\n" + end.replace("'final_text'", "'tool_executions': [], 'final_text'"),
                "state_snapshot");
    }

    @Test
    void phases_namesOfEarlierVersions_areReadIfTheNewNameIsMissing() {
        String record = CHAIN.lines().toList().get(2);
        String legacy = record.replace("\"schema_version\"", "\"schemaVersion\"")
                .replace("\"run_id\"", "\"runId\"")
                .replace("\"payload\"", "\"data\"");

        assertThat(read(legacy).state()).isEqualTo(read(record).state());
        assertThat(read(legacy.replace("\"schemaVersion\"", "\"version\"")).state())
                .isEqualTo(read(record).state());
        assertThat(read(record.replaceFirst("\\{", "{\"runId\": \"old\", \"data\": {}, \"version\": \"v0\","))
                        .state())
                .isEqualTo(read(record).state());
    }

    // ---- thread

    @Test
    void thread_messageAndFileWithoutContent_areRead() {
        String file =
                "{'content': [], 'created_at': '2026-05-01T09:00:00.000Z', 'modified_at': '2026-05-01T09:00:00.000Z'}";
        String text = thread("{'role': 'user', 'content': []}, {'role': 'user', 'content': 'next'}", "")
                .replace("'files': {}", "'files': {'/a.txt': " + file + "}");

        RestoredCheckpoint checkpoint = read(text);

        assertThat(checkpoint
                        .state()
                        .workspace()
                        .files()
                        .get("/a.txt")
                        .orElseThrow()
                        .content())
                .isEmpty();
        assertThat(nextModelCall(resumed(text))).containsExactly(Message.user("next"));
    }

    private static String thread(String messages, String more) {
        return "{'threadId': 'trip', 'step': 2, 'messages': [" + messages + "], 'state': {'todos': [], 'files': {},"
                + " 'cwd': '/'}, 'createdAt': '2026-05-01T09:00:00.000Z', 'updatedAt': '2026-05-01T09:00:01.000Z'"
                + more + "}";
    }

    @Test
    void thread_summaryAsASystemMessage_isKept() {
        String summary =
                "[Previous conversation summary]\\nAll went well.\\n\\n[End of summary - recent messages follow]";
        String text = thread(
                "{'role': 'system', 'content': '" + summary + "'}, {'role': 'user', 'content': 'next'},"
                        + " {'role': 'assistant', 'content': 'two'}, {'role': 'assistant', 'content': 'three'}",
                "");

        List<Message> messages = nextModelCall(resumed(text, "Go on"));

        assertThat(messages).hasSize(5);
        assertThat(messages.get(0).text()).startsWith("[Previous conversation summary]\nAll went well.");
        assertThat(messages.get(0).role()).isEqualTo(Role.USER);
    }

    @Test
    void thread_partsOfAUser_areAllKept() {
        String text = thread(
                "{'role': 'user', 'providerOptions': {'x': {}}, 'content': [{'type': 'text', 'text': 'See '},"
                        + " {'type': 'image', 'image': 'https://a.example/b.png'},"
                        + " {'type': 'image', 'image': 'data:image/gif;base64,R0lG'},"
                        + " {'type': 'file', 'data': 'aGk=', 'mediaType': 'image/png', 'filename': 'a.png'},"
                        + " {'type': 'text', 'text': 'this'}]}",
                "");

        assertThat(nextModelCall(resumed(text)))
                .containsExactly(new Message(
                        Role.USER,
                        List.of(
                                new Part.Text("See "),
                                new Part.Image("https://a.example/b.png", Optional.empty()),
                                new Part.ImageData("R0lG", "image/gif"),
                                new Part.ImageData("aGk=", "image/png"),
                                new Part.Text("this"))));
        assertCorrupt(text.replace("image/png", "application/pdf"), "a file that is not an image");
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            quoteCharacter = '`',
            value = {
                "{'type': 'json', 'value': {'a': [1]}} | {\"a\": [1]} | false",
                "{'type': 'json', 'value': 'plain'} | plain | false",
                "{'type': 'error-json', 'value': {'code': 1}} | {\"code\": 1} | true",
                "{'type': 'error-text', 'value': 'no'} | no | true",
                "{'type': 'execution-denied', 'reason': 'late'} | Tool execution denied by user. The add tool was not"
                        + " executed. Reason: late | true",
                "{'type': 'content', 'value': [{'type': 'text', 'text': 'a'}, {'type': 'text', 'text': 'b'}]} | ab | false"
            })
    void thread_outputsOfEveryKind_areOneText(String output, String text, boolean isError) {
        String document = thread(
                "{'role': 'user', 'content': 'x'}, {'role': 'assistant', 'content': [{'type': 'reasoning', 'text': 'hm'},"
                        + " {'type': 'tool-call', 'toolCallId': 'c1', 'toolName': 'add', 'input': {}, 'providerExecuted': false}]},"
                        + " {'role': 'tool', 'content': [{'type': 'tool-result', 'toolCallId': 'c1', 'toolName': 'add',"
                        + " 'output': " + output + "}]}",
                "");

        assertThat(nextModelCall(resumed(document)).get(2).toolResults())
                .containsExactly(new Part.ToolResult("c1", text, isError));
    }

    private static String interrupt(String tool, String args) {
        return ", 'interrupt': {'toolCall': {'toolCallId': 'c9', 'toolName': '" + tool + "', 'args': " + args
                + "}, 'step': 2}";
    }

    @Test
    void thread_callOfTheInterruptOnly_isAskedFor() {
        String text = thread("{'role': 'user', 'content': 'x'}", interrupt("refund", "{'cents': 5}"));

        Conversation state = resumed(text);

        assertThat(call(state, "c9"))
                .returns(Call.Status.AWAITING, Call::status)
                .returns(Json.of(Map.of("cents", 5)), Call::args);
        assertThat(read(text).state().transcript().count()).isEqualTo(2);
    }

    @Test
    void thread_interruptThatContradictsItsCall_isCorrupt() {
        String messages = "{'role': 'user', 'content': 'x'}, {'role': 'assistant', 'content': [{'type': 'tool-call',"
                + " 'toolCallId': 'c9', 'toolName': 'refund', 'input': {'cents': 5}}]}";

        assertThat(call(resumed(thread(messages, interrupt("refund", "{'cents': 5}"))), "c9")
                        .status())
                .isEqualTo(Call.Status.AWAITING);
        assertCorrupt(thread(messages, interrupt("refund", "{'cents': 500}")), "args");
        assertCorrupt(thread(messages, interrupt("charge", "{'cents': 5}")), "toolName");
    }

    // ---- runner

    private static String runner(String messages, String more) {
        return "{'messages': [" + messages + "], 'iterations': 1, 'usage': {'inputTokens': 10, 'outputTokens': 5,"
                + " 'cachedTokens': 3}" + more + "}";
    }

    @Test
    void runner_replyWithoutContent_endsTheTurn() {
        String text = runner("{'role': 'user', 'content': 'go'}, {'role': 'assistant', 'content': []}", "");

        assertThat(read(text).state().turn())
                .returns(Turn.Status.COMPLETE, Turn::status)
                .returns("", Turn::text);
        assertThat(RunnerCheckpoint.of(read(text).state()).field("messages"))
                .isEqualTo(read(text).document().field("messages"));
        assertThat(nextModelCall(resumed(text, "Well?"))).hasSize(3);
    }

    @Test
    void runner_systemMessageInTheHistory_isKept() {
        String text = runner("{'role': 'system', 'content': 'Be brief.'}, {'role': 'user', 'content': 'go'}", "");

        assertThat(nextModelCall(resumed(text))).containsExactly(Message.user("Be brief."), Message.user("go"));
    }

    @Test
    void runner_idUsedAgainInALaterStep_isRenamed() {
        String step = "{'role': 'assistant', 'content': [{'type': 'tool_use', 'id': 'tu_1', 'name': 'ask_user',"
                + " 'input': {'question': 'Day?'}}]}";
        String result =
                "{'role': 'user', 'content': [{'type': 'tool_result', 'toolUseId': 'tu_1', 'content': 'Friday'}]}";
        String text = runner(
                "{'role': 'user', 'content': 'go'}, " + step + ", " + result + ", " + step,
                ", 'pendingToolUseId': 'tu_1'");

        Conversation state = resumed(text, "Monday");

        assertThat(nextModelCall(state))
                .contains(
                        Message.results(List.of(new Part.ToolResult("tu_1", "Friday", false))),
                        Message.results(List.of(new Part.ToolResult("tu_1~2", "Monday", false))));
    }

    @ParameterizedTest
    @ValueSource(strings = {"runner", "thread", "phases"})
    void anyFormat_withoutMessages_isCorrupt(String format) {
        String text = switch (format) {
            case "runner" -> runner("", "");
            case "thread" -> thread("", "");
            default ->
                CHAIN.lines().toList().get(2).replaceFirst("\"messages\": \\[.*?\\], \"llm", "\"messages\": [], \"llm");
        };

        assertCorrupt(text, "\"messages\" is empty");
    }

    @Test
    void savedThread_cleared_isReadWithItsFiles() {
        String cleared = thread("", "")
                .replace("'todos': []", "'todos': [{'id': '1', 'content': 'a', 'status': 'pending'}]")
                .replace('\'', '"');

        Conversation state = CheckpointReader.readSaved(cleared.getBytes(StandardCharsets.UTF_8), NOW)
                .state();

        assertThat(state.isBlank()).isTrue();
        assertThat(state.workspace().todos()).hasSize(1);
    }

    @Test
    void anyFormat_messageAfterAnOpenCall_isCorrupt() {
        assertCorrupt(
                runner(
                        "{'role': 'assistant', 'content': [{'type': 'tool_use', 'id': 'tu_1', 'name': 'add', 'input': {}}]},"
                                + " {'role': 'user', 'content': 'Hello?'}",
                        ""),
                "tu_1");
        assertCorrupt(
                thread(
                        "{'role': 'assistant', 'content': [{'type': 'tool-call', 'toolCallId': 'c1', 'toolName': 'add',"
                                + " 'input': {}}]}, {'role': 'user', 'content': 'Hello?'}",
                        ""),
                "c1");
    }

    // ---- any format

    @ParameterizedTest
    @ValueSource(strings = {"runner-asking.json", "thread-with-tools.json", "phases.jsonl", "effects.json"})
    void byteOrderMark_isIgnored(String name) {
        assertThat(CheckpointJson.read(("\uFEFF" + file(name)).getBytes(StandardCharsets.UTF_8)))
                .isEqualTo(CheckpointJson.read(file(name).getBytes(StandardCharsets.UTF_8)));
    }

    // ---- messages

    @Test
    void messages_systemRow_isKept() {
        String text = "[{'role': 'system', 'content': 'You triage.'}, {'role': 'user', 'content': 'x'},"
                + " {'role': 'assistant', 'content': 'k'}, {'role': 'system', 'content': 'Be brief.'}]";

        assertThat(nextModelCall(resumed(text)))
                .containsExactly(
                        Message.user("You triage."),
                        Message.user("x"),
                        new Message(Role.ASSISTANT, List.of(new Part.Text("k"))),
                        Message.user("Be brief."));
    }

    private static String calls(String... calls) {
        return "{'role': 'assistant', 'content': '[Calling]', 'toolCalls': [" + String.join(",", calls) + "]}";
    }

    private static String result(String id, String tool, String content) {
        return "{'role': 'tool', 'toolCallId': '" + id + "', 'toolName': '" + tool + "', 'content': '" + content + "'}";
    }

    private static final String GO = "{'role': 'user', 'content': 'go'}";

    @Test
    void messages_resultsNamedByStepAndTool_findTheirCalls() {
        String text = "["
                + String.join(
                        ",",
                        GO,
                        calls(
                                "{'name': 'add', 'arguments': {}}",
                                "{'name': 'charge', 'arguments': {}}",
                                "{'name': 'add', 'arguments': {'x': 2}}"),
                        result("call_1_add", "add", "3"),
                        result("call_1_charge", "charge", "ok"),
                        result("call_1_add", "add", "4"),
                        GO,
                        calls("{'name': 'add', 'arguments': {}}"),
                        result("call_1_add", "add", "5"))
                + "]";

        List<Message> messages = nextModelCall(resumed(text));

        assertThat(messages.get(2).toolResults())
                .extracting(Part.ToolResult::content)
                .containsExactly("3", "ok", "4");
        assertThat(messages.get(5).toolResults())
                .extracting(Part.ToolResult::content)
                .containsExactly("5");
    }

    @Test
    void messages_reusedIds_areRenamedEvenInOneReply() {
        String one = "{'id': 'c1', 'name': 'add', 'arguments': {}}";
        String text = "["
                + String.join(
                        ",",
                        GO,
                        calls(one, one),
                        result("c1", "add", "1"),
                        result("c1", "add", "2"),
                        calls(one),
                        result("c1", "add", "3"))
                + "]";

        List<Message> messages = nextModelCall(resumed(text));

        assertThat(messages.stream().flatMap(message -> message.toolResults().stream()))
                .containsExactly(
                        new Part.ToolResult("c1", "1", false),
                        new Part.ToolResult("c1~2", "2", false),
                        new Part.ToolResult("c1~3", "3", false));
        assertCorrupt(
                text.replace("'toolName': 'add', 'content': '2'", "'toolName': 'charge', 'content': '2'"), "charge");
    }

    @Test
    void messages_olderOrphan_isExplainedByItsToolOnce() {
        String text = "["
                + String.join(
                        ",",
                        GO,
                        calls(
                                "{'id': 'c1', 'name': 'charge', 'arguments': {}}",
                                "{'id': 'c2', 'name': 'add', 'arguments': {}}"),
                        GO,
                        "{'role': 'assistant', 'content': 'So.'}",
                        GO)
                + "]";

        Conversation state = resumed(text);

        List<Part.ToolResult> results = nextModelCall(state).get(2).toolResults();
        assertThat(results.get(0).content()).contains("is not declared 'safeToRetry: true'");
        assertThat(results.get(1).content()).contains("tool-durability-error").doesNotContain("not declared");
        assertThat(call(state, "c1").claim()).isEmpty();
        Json told = MessagesCheckpoint.of(state);
        RestoredCheckpoint again = CheckpointReader.read(told.canonical().getBytes(StandardCharsets.UTF_8), NOW);
        assertThat(MessagesCheckpoint.of(resumed(again))).isEqualTo(told);
    }

    @Test
    void messages_orphanReadWithoutAnAgent_claimsNothingAboutItsTool() {
        String text = "["
                + String.join(
                        ",",
                        GO,
                        calls(
                                "{'id': 'c1', 'name': 'charge', 'arguments': {}}",
                                "{'id': 'c2', 'name': 'ls', 'arguments': {}}"),
                        GO,
                        "{'role': 'assistant', 'content': 'So.'}")
                + "]";

        Conversation read = Rules.readWithoutAgent(read(text).state(), Set.of("ls"));

        List<Part.ToolResult> results = read.transcript().messages().get(2).toolResults();
        assertThat(results.get(0).content())
                .contains("tool-durability-error", "Whether the tool is declared 'safeToRetry: true' is not known here")
                .doesNotContain("not declared");
        assertThat(results.get(1).content()).contains("tool-durability-error", "The tool has no side effects");
        assertThat(read.turn()).isEqualTo(read(text).state().turn());
    }

    // ---- versions, session

    private static final String ROWS = "[{'id': 'm0', 'role': 'system', 'created_at': '2026-05-01T09:00:00', 'blocks':"
            + " [{'kind': 'text', 'text': 'You add.'}]}, {'id': 'a1', 'role': 'user', 'created_at':"
            + " '2026-05-01T09:00:01.000001', 'blocks': [{'kind': 'text', 'text': 'go', 'x': 1}]}]";

    @ParameterizedTest
    @ValueSource(
            strings = {
                "{'version': 3, 'created_at': '2026-05-01T09:00:02+00:00', 'transcript': ROWS, 'plan': null, 'budget_spent_usd': 0.5}",
                "{'transcript': ROWS, 'plan': null, 'budget_spent_usd': 0.5, 'version': 3}"
            })
    void version_alone_isRecognized(String text) {
        RestoredCheckpoint checkpoint = read(text.replace("ROWS", ROWS));

        assertThat(checkpoint.format()).isEqualTo(CheckpointFormat.VERSIONS);
        assertThat(checkpoint.state().counters().versions()).isEqualTo(3);
        assertThat(nextModelCall(resumed(text.replace("ROWS", ROWS)))).containsExactly(Message.user("go"));
    }

    @Test
    void versions_inAnyOrder_areReadFromTheNewest() {
        String version = "{'version': %d, 'created_at': '2026-05-01T09:00:02+00:00', 'transcript': " + ROWS
                + ", 'plan': null, 'budget_spent_usd': %d}";

        Conversation state = read("[" + version.formatted(2, 2) + "," + version.formatted(9, 9) + ","
                        + version.formatted(1, 1) + "]")
                .state();

        assertThat(state.counters().versions()).isEqualTo(9);
        assertThat(state.cost().orElseThrow().dollars().intValue()).isEqualTo(9);
        assertCorrupt(
                "[" + version.formatted(2, 2) + "," + version.formatted(1, 1) + "," + version.formatted(2, 3) + "]",
                "two versions have this number: 2");
    }
}
