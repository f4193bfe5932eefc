package dev.waymark.checkpoint;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.waymark.conversation.call.Call;
import dev.waymark.conversation.message.Part;
import dev.waymark.conversation.value.Json;
import java.nio.charset.StandardCharsets;
import java.time.Instant;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * Files in which two calls of one reply have the same id. They are renamed, unless something in the file refers to one
 * of them: if the wrong one were taken, a call that has run would wait for an answer, or a person's words would become
 * the result of a payment.
 */
class RepeatedIdsTest {
    private static final Instant NOW = Instant.parse("2026-06-01T09:00:00Z");
    private static final String AMBIGUOUS = "several calls of";

    private static RestoredCheckpoint read(String text) {
        return CheckpointReader.read(text.replace('\'', '"').getBytes(StandardCharsets.UTF_8), NOW);
    }

    private static void assertCorrupt(String text, String why) {
        assertThatThrownBy(() -> read(text))
                .as(text)
                .isInstanceOf(CheckpointCorruption.class)
                .hasMessageContaining(why);
    }

    private static List<String> openCalls(String text) {
        return read(text).state().openCalls().stream().map(Call::id).toList();
    }

    private static List<Part.ToolResult> results(String text) {
        return read(text).state().transcript().messages().stream()
                .flatMap(message -> message.toolResults().stream())
                .toList();
    }

    // ---- runner

    private static String runner(String more, String... results) {
        String given = results.length == 0 ? "" : ",{'role':'user','content':[" + String.join(",", results) + "]}";
        return "{'messages':[{'role':'user','content':'go'},{'role':'assistant','content':["
                + "{'type':'tool_use','id':'a','name':'ask_user','input':{'question':'Q'}},"
                + "{'type':'tool_use','id':'a','name':'pay','input':{'cents':1}}]}" + given
                + "],'iterations':1,'usage':{'inputTokens':10,'outputTokens':5}" + more + "}";
    }

    private static String runnerResult(String id, String text) {
        return "{'type':'tool_result','toolUseId':'" + id + "','content':'" + text + "'}";
    }

    @Test
    void runner_unreferencedId_isRenamed() {
        assertThat(openCalls(runner(""))).containsExactly("a", "a~2");
    }

    @Test
    void runner_pendingCall_isCorrupt() {
        assertCorrupt(runner(",'pendingToolUseId':'a'"), AMBIGUOUS);
    }

    /** The file does not contain this id; the reader has made it up. */
    @Test
    void runner_idThatTheReaderMadeUp_isNotInTheFile() {
        assertCorrupt(runner(",'pendingToolUseId':'a~2'"), "is the id of no call: a~2");
        assertCorrupt(runner("", runnerResult("a~2", "ok")), "a result without a call: a~2");
    }

    @Test
    void runner_oneResultForTwoCalls_isCorrupt() {
        assertCorrupt(runner("", runnerResult("a", "ok")), AMBIGUOUS);
        assertCorrupt(runner(",'pendingToolUseId':'a'", runnerResult("a", "ok")), AMBIGUOUS);
    }

    @Test
    void runner_aResultForEachCall_isGivenInCallOrder() {
        assertThat(results(runner("", runnerResult("a", "Monday"), runnerResult("a", "paid"))))
                .containsExactly(new Part.ToolResult("a", "Monday", false), new Part.ToolResult("a~2", "paid", false));
    }

    @Test
    void runner_pendingCallWithAReusedId_isTheNewestOne() {
        String call = "{'role':'assistant','content':[{'type':'tool_use','id':'a','name':'ask_user',"
                + "'input':{'question':'Q'}}]}";
        String text = "{'messages':[{'role':'user','content':'go'}," + call
                + ",{'role':'user','content':[" + runnerResult("a", "Monday") + "]}," + call
                + "],'iterations':2,'usage':{'inputTokens':10,'outputTokens':5},'pendingToolUseId':'a'}";

        assertThat(openCalls(text)).containsExactly("a~2");
    }

    // ---- thread

    private static String thread(String parts, String more) {
        return "{'threadId':'trip','step':1,'messages':[{'role':'user','content':'go'},{'role':'assistant','content':["
                + "{'type':'tool-call','toolCallId':'a','toolName':'ask_user','input':{'question':'Q'}}" + parts
                + ",{'type':'tool-call','toolCallId':'a','toolName':'pay','input':{'cents':1}}]}" + more
                + ",'state':{'todos':[],'files':{}},'createdAt':'2026-05-01T09:00:00.000Z',"
                + "'updatedAt':'2026-05-01T09:00:01.000Z'}";
    }

    private static String interrupt(String tool, String args) {
        return "],'interrupt':{'toolCall':{'toolCallId':'a','toolName':'" + tool + "','args':" + args + "},'step':1}";
    }

    @Test
    void thread_interrupt_isCorrupt() {
        assertThat(openCalls(thread("", "]"))).containsExactly("a", "a~2");
        assertCorrupt(thread("", interrupt("pay", "{'cents':1}")), AMBIGUOUS);
        assertCorrupt(thread("", interrupt("ask_user", "{'question':'Q'}")), AMBIGUOUS);
    }

    /** The second call comes after the request for its approval, so the request could be read before it is known. */
    @Test
    void thread_approvalRequest_isCorrupt() {
        String request = ",{'type':'tool-approval-request','approvalId':'ap','toolCallId':'a'}";
        String decision =
                ",{'role':'tool','content':[{'type':'tool-approval-response','approvalId':'ap','approved':true}]}]";

        assertCorrupt(thread(request, "]"), AMBIGUOUS);
        assertCorrupt(thread(request, decision), AMBIGUOUS);
    }

    @Test
    void thread_approvalRequestOfCallsThatHaveResults_hasNoEffect() {
        String request = ",{'type':'tool-approval-request','approvalId':'ap','toolCallId':'a'}";
        String result = "{'type':'tool-result','toolCallId':'a','toolName':'%s','output':{'type':'text','value':'%s'}}";
        String both = ",{'role':'tool','content':[{'type':'tool-approval-response','approvalId':'ap','approved':true},"
                + result.formatted("ask_user", "Monday") + "," + result.formatted("pay", "paid") + "]}]";

        assertThat(results(thread(request, both)))
                .containsExactly(new Part.ToolResult("a", "Monday", false), new Part.ToolResult("a~2", "paid", false));
    }

    @Test
    void thread_oneResultForTwoCalls_isCorrupt() {
        assertCorrupt(
                thread(
                        "",
                        ",{'role':'tool','content':[{'type':'tool-result','toolCallId':'a','toolName':'ask_user',"
                                + "'output':{'type':'text','value':'Monday'}}]}]"),
                AMBIGUOUS);
    }

    // ---- messages

    private static String rows(String... results) {
        return "[{'role':'user','content':'go'},{'role':'assistant','content':'','toolCalls':["
                + "{'id':'a','name':'add','arguments':{'x':1}},{'id':'a','name':'pay','arguments':{'cents':1}}]}"
                + String.join("", results) + "]";
    }

    private static final String ROW = ",{'role':'tool','toolCallId':'a','content':'3'}";

    @Test
    void messages_oneResultForTwoCallsOfAnyReply_isCorrupt() {
        assertThat(openCalls(rows())).containsExactly("a", "a~2");
        assertThat(results(rows(ROW, ROW)))
                .extracting(Part.ToolResult::toolUseId)
                .containsExactly("a", "a~2");
        assertCorrupt(rows(ROW), AMBIGUOUS);
        assertCorrupt(rows(ROW, ",{'role':'user','content':'Well?'},{'role':'assistant','content':'So.'}"), AMBIGUOUS);
    }

    // ---- phases

    private static final String CALLS =
            "[{'id':'a','tool_name':'add','arguments':{'x':1}},{'id':'a','tool_name':'pay','arguments':{'cents':1}}]";

    private static String record(String phase, String payload, String more) {
        return "{'run_id':'r1','thread_id':'t1','step':2,'phase':'" + phase
                + "','timestamp_ms':1790000000123,'payload':" + payload + more + "}";
    }

    private static String snapshot(String before, String executions, String more) {
        String payload = "{'messages':[{'role':'user','content':'go'}" + before + "],'step':2,'state':'running',"
                + "'llm_calls':1,'tool_calls':0,'started_at_s':1790000000.5,'usage':{'input_tokens':10,'output_tokens':5},"
                + "'total_cost_usd':0.0,'tool_executions':[" + executions + "],'pending_llm_response':{'text':'',"
                + "'tool_calls':" + CALLS + "}}";
        return record("runtime_state", payload, more);
    }

    private static String effects(String id, String tool, Map<String, ?> args) {
        Map<String, Object> input = new LinkedHashMap<>();
        input.put("tool_name", tool);
        input.put("args", args);
        Map<String, Object> row = new LinkedHashMap<>();
        row.put("input_hash", PhasesSnapshot.inputHash(tool, Json.of(args)));
        row.put("output_hash", PhasesSnapshot.outputHash("done"));
        row.put("output", "done");
        row.put("success", true);
        return ",'effects':" + Json.of(Map.of(id, row)).canonical();
    }

    private static final String EARLIER = ",{'role':'assistant','content':'','tool_calls':[{'id':'a','tool_name':'add',"
            + "'arguments':{'x':0}}]},{'role':'tool','name':'add','tool_call_id':'a','content':'0'}";

    private static String execution(String id) {
        return "{'tool_name':'add','tool_call_id':'" + id + "','success':true,'output':'0','error':null}";
    }

    @Test
    void phases_unreferencedId_isRenamed() {
        assertThat(openCalls(snapshot("", "", ""))).containsExactly("a", "a~2");
        assertThat(openCalls(snapshot(EARLIER, "", ""))).containsExactly("a~2", "a~3");
    }

    @Test
    void phases_effectRowWithAnyHash_isCorrupt() {
        assertCorrupt(snapshot("", "", effects("a", "add", Map.of("x", 1))), AMBIGUOUS);
        assertCorrupt(snapshot("", "", effects("a", "pay", Map.of("cents", 1))), AMBIGUOUS);
        assertCorrupt(snapshot(EARLIER, "", effects("a", "pay", Map.of("cents", 1))), AMBIGUOUS);
        assertThat(openCalls(snapshot("", "", effects("a~2", "pay", Map.of("cents", 1)))))
                .containsExactly("a", "a~2");
    }

    @Test
    void phases_effectRowBesideAnotherRecord_isCorrupt() {
        String end = record("post_llm", "{}", effects("a", "pay", Map.of("cents", 1)));

        assertCorrupt(snapshot("", "", "") + "\n" + end, AMBIGUOUS);
    }

    /** In an earlier step, the id was that of another call. */
    @Test
    void phases_effectRowOfAnEarlierStep_namesTheEarlierCall() {
        String earlier = record("post_llm", "{}", effects("a", "add", Map.of("x", 0)))
                .replace("'step':2", "'step':1")
                .replace('\'', '"');

        assertThat(openCalls(earlier + "\n" + snapshot(EARLIER, "", ""))).containsExactly("a~2", "a~3");
    }

    @Test
    void phases_executionWithoutAnEarlierReply_isCorrupt() {
        assertCorrupt(snapshot("", execution("a"), ""), AMBIGUOUS);
        assertCorrupt(snapshot(EARLIER, execution("a") + "," + execution("a"), ""), AMBIGUOUS);
        assertThat(openCalls(snapshot(EARLIER, execution("a"), ""))).containsExactly("a~2", "a~3");
    }

    /** Rows and results of one id have the same order. */
    @Test
    void phases_executionsOfClosedCalls_belongToTheirResultsInOrder() {
        String reply = ",{'role':'assistant','content':'','tool_calls':" + CALLS + "}"
                + ",{'role':'tool','name':'add','tool_call_id':'a','content':'3'}"
                + ",{'role':'tool','name':'pay','tool_call_id':'a','content':'paid'}";
        String failed = execution("a").replace("'success':true", "'success':false");

        assertThat(results(snapshot(reply, failed + "," + execution("a"), "")))
                .extracting(Part.ToolResult::isError)
                .containsExactly(true, false);
        assertThat(results(snapshot(reply, execution("a") + "," + failed, "")))
                .extracting(Part.ToolResult::isError)
                .containsExactly(false, true);
        assertThat(results(snapshot(EARLIER + reply, execution("a") + "," + failed, "")))
                .extracting(Part.ToolResult::isError)
                .containsExactly(false, false, true);
        assertThat(results(snapshot(reply + EARLIER, failed + "," + execution("a") + "," + failed, "")))
                .extracting(Part.ToolResult::isError)
                .containsExactly(true, false, true);
    }

    @Test
    void phases_executionInTheEndRecord_isCorrupt() {
        String end = record(
                "run_terminal",
                "{'state':'failed','message':'no','terminal_result':{'run_id':'r1','state':'failed','tool_executions':["
                        + execution("a") + "]}}",
                "");

        assertCorrupt(snapshot("", "", "") + "\n" + end, AMBIGUOUS);
    }

    @Test
    void phases_effectOfACallWithoutAnId_isReplayedUnderTheUsualId() {
        String unnamed =
                snapshot("", "", effects("call_2", "pay", Map.of("cents", 1))).replace("'id':'a'", "'id':null");

        assertThat(openCalls(unnamed)).containsExactly("call_1");
    }

    /** A snapshot that was printed without its record has the step that its effects belong to. */
    @ParameterizedTest
    @ValueSource(strings = {"a", "b"})
    void phases_effectsOfASnapshotWithoutARecord_areReplayed(String id) {
        String reply = CALLS.replaceFirst(",\\{'id':'a'.*}]", "]").replace("'id':'a'", "'id':'" + id + "'");
        String bare = snapshot(EARLIER, "", "").replace(CALLS, reply);
        String payload = bare.substring(bare.indexOf("'payload':") + "'payload':".length(), bare.length() - 1);
        String text = payload.substring(0, payload.length() - 1) + effects(id, "add", Map.of("x", 1)) + "}";

        assertThat(read(text).state().openCalls()).isEmpty();
        assertThat(results(text)).extracting(Part.ToolResult::content).containsExactly("0", "done");
    }

    // ---- session

    private static String session(String log, String... results) {
        return "{'session':{'session_id':'s1','created_at':'2026-05-01T09:00:00+00:00',"
                + "'updated_at':'2026-05-01T09:00:00+00:00','status':'active'},'checkpoint':{'version':3,"
                + "'created_at':'2026-05-01T09:00:00+00:00','transcript':["
                + message("m1", "user", "{'kind':'text','text':'go'}")
                + ","
                + message(
                        "m2",
                        "assistant",
                        "{'kind':'tool_call','id':'a','name':'add','args':{'x':1}}",
                        "{'kind':'tool_call','id':'a','name':'pay','args':{'cents':1}}")
                + Stream.of(results)
                        .map(each -> "," + message("m3", "user", each))
                        .reduce("", String::concat)
                + "],'plan':null,'budget_spent_usd':0.25},'tool_calls':[" + log + "]}";
    }

    private static String message(String id, String role, String... blocks) {
        return "{'id':'" + id + "','role':'" + role + "','created_at':'2026-05-01T09:00:00+00:00','blocks':["
                + String.join(",", blocks) + "]}";
    }

    @ParameterizedTest
    @ValueSource(strings = {"issued", "completed"})
    void session_row_isCorrupt(String status) {
        String row = "{'session_id':'s1','call_id':'%s','tool_name':'pay','args_json':'{\\'cents\\':1}',"
                + "'idempotency_key':'k','status':'" + status + "','result_text':null,"
                + "'started_at':'2026-05-01T09:00:00+00:00','completed_at':null}";
        String quoted = row.replace("\\'", "\\\"");

        assertThat(openCalls(session(""))).containsExactly("a", "a~2");
        assertCorrupt(session(quoted.formatted("a")), "one row for several calls");
        // The file has a call with the name that the reader would give.
        assertThat(openCalls(session(quoted.formatted("a~2")))).containsExactly("a", "a~3");
    }

    @Test
    void session_oneResultForTwoCalls_isCorrupt() {
        assertCorrupt(session("", "{'kind':'tool_result','call_id':'a','content':'3','is_error':false}"), AMBIGUOUS);
    }
}
