package dev.waymark.worker.workflow;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import dev.waymark.agent.AgentSpec;
import dev.waymark.agent.ToolSpec;
import dev.waymark.connect.Connection;
import dev.waymark.contract.RunLimits;
import dev.waymark.contract.WireNames;
import dev.waymark.contract.message.LateOutcome;
import dev.waymark.contract.thread.StartInput;
import dev.waymark.contract.work.ToolOutcome;
import dev.waymark.conversation.Conversation;
import dev.waymark.conversation.call.Call;
import dev.waymark.conversation.decision.PendingItem;
import dev.waymark.conversation.fact.PersonFact;
import dev.waymark.conversation.fact.SignalNames;
import dev.waymark.conversation.message.Message;
import dev.waymark.conversation.message.Part;
import dev.waymark.conversation.message.Reply;
import dev.waymark.conversation.policy.AnnounceRule;
import dev.waymark.conversation.policy.AnnouncedEvent;
import dev.waymark.conversation.policy.ResultRule;
import dev.waymark.conversation.policy.SummaryRule;
import dev.waymark.conversation.state.Turn;
import dev.waymark.conversation.value.Budget;
import dev.waymark.conversation.value.Json;
import dev.waymark.conversation.value.ProblemType;
import dev.waymark.conversation.value.Usage;
import dev.waymark.model.ModelFailure;
import dev.waymark.model.ModelProvider;
import dev.waymark.tool.EffectUnknownException;
import dev.waymark.tool.JavaTool;
import dev.waymark.worker.server.DevServer;
import dev.waymark.worker.tool.http.RecordingServer;
import dev.waymark.worker.tool.mcp.TaskToolServer;
import io.temporal.api.enums.v1.EventType;
import io.temporal.common.WorkflowExecutionHistory;
import io.temporal.failure.ApplicationFailure;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledIfSystemProperty;
import org.junit.jupiter.api.io.TempDir;

/**
 * Records the histories that {@link RecordedHistoriesTest} reads, in place of the current ones. First, it projects the
 * current ones with the current rules, and writes which states have changed to {@code changes.txt}:
 *
 * <pre>{@code
 * mvn -Pfull -pl worker -am test -Dtest=HistoryRecorderServerTest -Dsurefire.failIfNoSpecifiedTests=false
 *     -Dtest.reruns=0 -Dwaymark.record=true
 * }</pre>
 */
@Tag("server")
@Tag("full")
@EnabledIfSystemProperty(named = "waymark.record", matches = "true")
class HistoryRecorderServerTest {
    private static final Path DIRECTORY = Path.of("src/test/resources/histories");

    @BeforeAll
    static void writeWhatHasChanged() throws Exception {
        Map<String, List<String>> histories = new LinkedHashMap<>();
        for (Path file : RecordedHistoriesTest.histories().toList()) {
            for (String difference : RecordedStates.differences(file)) {
                histories
                        .computeIfAbsent(difference, key -> new ArrayList<>())
                        .add(file.getFileName().toString().replace(".json", ""));
            }
        }
        Files.write(
                DIRECTORY.resolve("changes.txt"),
                histories.entrySet().stream()
                        .map(each -> each.getKey() + "\n    in " + String.join(", ", each.getValue()))
                        .toList());
    }

    private static void record(WorkflowRig rig, String thread, String run, String name) throws IOException {
        WorkflowExecutionHistory history = rig.client().fetchHistory(thread, run);
        Path file = DIRECTORY.resolve(name + ".json");
        Files.writeString(file, history.toJson(false) + "\n");
        JsonNode states = RecordedStates.of(history);
        assertThat(states.has("problems")).isFalse();
        Files.writeString(RecordedHistoriesTest.expectedBeside(file), RecordedStates.text(states));
    }

    private static void recordNewest(WorkflowRig rig, String thread, String name) throws IOException {
        record(rig, thread, rig.timeline(thread).runId(), name);
    }

    private static WorkflowRig rig() {
        return new WorkflowRig(TestServers.real(), AgreementServerTest::obedient, AgreementServerTest.weather());
    }

    @Test
    void plainTurn() throws Exception {
        try (WorkflowRig rig = rig()) {
            String thread = rig.start(
                    StartInput.of("a").closingAfterOneTurn().saying(PersonFact.UserSpoke.message("m-1", "Hello")));
            rig.awaitTimeline(thread, timeline -> timeline.ending().isPresent());
            recordNewest(rig, thread, "plain-turn");
        }
    }

    @Test
    void parallelTools() throws Exception {
        try (WorkflowRig rig = rig()) {
            String thread = rig.start(StartInput.of("a").saying(PersonFact.UserSpoke.message("m-1", "batch")));
            rig.awaitTurn(thread, 1);
            recordNewest(rig, thread, "parallel-tools");
        }
    }

    @Test
    void parallelTools_withAnActivityEach() throws Exception {
        try (WorkflowRig rig = rig().with(agent -> agent.fuse(Duration.ZERO))) {
            String thread = rig.start(StartInput.of("a").saying(PersonFact.UserSpoke.message("m-1", "batch")));
            rig.awaitTurn(thread, 1);
            recordNewest(rig, thread, "parallel-tools-with-an-activity-each");
        }
    }

    @Test
    void taskThatNeedsInput_andOneThatIsStopped() throws Exception {
        try (TaskToolServer server = TaskToolServer.start();
                WorkflowRig rig = McpTasksTest.rig(TestServers.real(), server, "charge_task", false)) {
            String thread = rig.start(StartInput.of("a").saying(PersonFact.UserSpoke.message("m-1", "Go")));
            server.await("tasks/get", 1);
            server.require("k1", "Which account?");
            McpTasksTest.awaitQuestion(rig, thread);
            McpTasksTest.answer(rig, thread, "savings");
            server.await("tasks/update", 1);
            server.finish("paid 5");
            rig.awaitTurn(thread, 1);
            recordNewest(rig, thread, "task-that-needs-input");
        }
        try (TaskToolServer server = TaskToolServer.start();
                WorkflowRig rig = McpTasksTest.rig(TestServers.real(), server, "charge_task", false)) {
            String thread = rig.start(StartInput.of("a").saying(PersonFact.UserSpoke.message("m-1", "Go")));
            server.await("tasks/get", 1);
            rig.update(thread, SignalNames.STOP, Map.of());
            server.await("tasks/cancel", 1);
            rig.await(thread, now -> now.turn().status() == Turn.Status.STOPPED);
            recordNewest(rig, thread, "task-that-was-stopped");
        }
    }

    @Test
    void callThatNeedsInput() throws Exception {
        try (TaskToolServer server = TaskToolServer.start();
                WorkflowRig rig = McpTasksTest.rig(TestServers.real(), server, "confirm", false)) {
            String thread = rig.start(StartInput.of("a").saying(PersonFact.UserSpoke.message("m-1", "Go")));
            McpTasksTest.awaitQuestion(rig, thread);
            McpTasksTest.answer(rig, thread, "savings");
            rig.awaitTurn(thread, 1);
            recordNewest(rig, thread, "call-that-needs-input");
        }
    }

    @Test
    void everythingAPersonDoes_andAReset() throws Exception {
        try (WorkflowRig rig = rig()) {
            String thread = AgreementServerTest.converse(rig, StartInput.of("a"));
            String run = rig.timeline(thread).runId();
            record(rig, thread, run, "question-stop-duplicates-ignored");
            long second = rig.client().fetchHistory(thread, run).getEvents().stream()
                    .filter(event -> event.getEventType() == EventType.EVENT_TYPE_WORKFLOW_TASK_COMPLETED)
                    .skip(1)
                    .findFirst()
                    .orElseThrow()
                    .getEventId();
            String reset = AgreementServerTest.reset(rig, thread, run, second);
            rig.await(thread, now -> now.isSettled() && now.seen().contains("m-5"));
            assertThat(rig.client().fetchHistory(thread, reset).getEvents())
                    .anyMatch(event -> event.getEventType() == EventType.EVENT_TYPE_WORKFLOW_EXECUTION_UPDATE_ADMITTED);
            record(rig, thread, reset, "reset-with-admitted-updates");
        }
    }

    @Test
    void summarised_andHeldAgainstASchema() throws Exception {
        ModelProvider model = request ->
                request.messages().stream().anyMatch(message -> message.text().contains("\"object\""))
                                && request.messages().size() < 4
                        ? Reply.of(new Part.Text("Three"))
                        : AgentWorkflowCases.forgetful(request);
        Json schema = Json.of(Map.of("type", "object"));
        try (WorkflowRig rig =
                new WorkflowRig(TestServers.real(), model).with(agent -> agent.summaries(new SummaryRule(60, 1)))) {
            String thread = rig.start(StartInput.of("a").saying(PersonFact.UserSpoke.message("m-1", "One")));
            rig.awaitTurn(thread, 1);
            rig.update(thread, SignalNames.SAY, Map.of("id", "m-2", "content", "Two", "schema", schema));
            rig.await(thread, now -> now.turn().status() == Turn.Status.FAILED);
            recordNewest(rig, thread, "summarised-and-misfit-twice");
        }
    }

    @Test
    void summaryThatDropsCalls_andAnIdThatIsRepeated() throws Exception {
        ModelProvider model = request -> {
            List<Message> messages = request.messages();
            Part part = request.tools().isEmpty()
                    ? new Part.Text("They asked for the weather.")
                    : messages.get(messages.size() - 1).toolResults().isEmpty()
                            ? new Part.ToolUse("tu_1", "weather", Json.of(Map.of("name", "Bern")))
                            : new Part.Text("Sunny");
            return new Reply(List.of(part), new Usage(messages.size() > 2 ? 70 : 20, 5), "");
        };
        try (WorkflowRig rig = new WorkflowRig(TestServers.real(), model, AgreementServerTest.weather())
                .with(agent -> agent.summaries(new SummaryRule(60, 1)))) {
            String thread = rig.start(StartInput.of("a").saying(PersonFact.UserSpoke.message("m-1", "One")));
            rig.awaitTurn(thread, 1);
            rig.update(thread, SignalNames.SAY, Map.of("id", "m-2", "content", "Two"));
            rig.awaitTurn(thread, 2);
            assertThat(rig.timeline(thread).now().calls().toMap()).containsOnlyKeys("tu_1~2");
            recordNewest(rig, thread, "summary-that-dropped-a-call");
        }
    }

    /** The third page takes the thread to its next run, which has the whole results of the first two in its input. */
    @Test
    void longResults_readInTheNextRun() throws Exception {
        try (WorkflowRig rig = new WorkflowRig(
                        TestServers.real(),
                        LongResultsTest.reading(3, 2_000, new ArrayList<>()),
                        LongResultsTest.shortPages())
                .with(agent -> agent.results(new ResultRule(LongResultsTest.SHOW)))) {
            String thread =
                    rig.start(ContinueAsNewCases.movingOnAt(15).saying(PersonFact.UserSpoke.message("m-1", "Go")));
            rig.awaitTurn(thread, 1);
            List<String> runs = ContinueAsNewCases.runs(rig.timeline(thread));
            assertThat(runs).hasSizeGreaterThan(1);
            record(rig, thread, runs.get(0), "long-results-first-run");
            record(rig, thread, runs.get(runs.size() - 1), "long-results-last-run");
        }
    }

    @Test
    void deferredToolUsed() throws Exception {
        try (WorkflowRig rig = DeferredToolsThreadTest.rig(
                TestServers.real(),
                DeferredToolsThreadTest.using(new ArrayList<>()),
                ToolProtocolCases.charging(new ArrayList<>()).approval())) {
            String thread = rig.start(StartInput.of("a").saying(PersonFact.UserSpoke.message("m-1", "Charge")));
            for (String call : List.of("tu_2", "tu_4")) {
                rig.await(
                        thread,
                        now -> now.asks().stream().anyMatch(ask -> ask.callId().equals(call)));
                rig.update(thread, SignalNames.APPROVE, Map.of("callId", call, "by", "ann"));
            }
            rig.awaitTurn(thread, 1);
            recordNewest(rig, thread, "deferred-tool-used");
        }
    }

    @Test
    void continuedAfterASummary(@TempDir Path directory) throws Exception {
        try (DevServer server = NextRunAfterSummaryServerTest.suggestingEarly(directory);
                Connection connection = Connection.to(server.address());
                WorkflowRig rig = NextRunAfterSummaryServerTest.looking(connection, 500)) {
            String thread =
                    rig.start(StartInput.of("a").saying(PersonFact.UserSpoke.message("m-1", "Look at everything")));
            rig.awaitTurn(thread, 1);
            List<String> runs = ContinueAsNewCases.runs(rig.timeline(thread));
            assertThat(runs).hasSizeGreaterThan(1);
            record(rig, thread, runs.get(0), "continued-after-a-summary");
        }
    }

    @Test
    void callsThatRulesAllowDenyAndLeaveToAPerson() throws Exception {
        try (WorkflowRig rig =
                new WorkflowRig(TestServers.real(), ApprovalByRuleTest.refunding(), ApprovalByRuleTest.refund())) {
            String thread = ApprovalByRuleTest.start(rig, "7 100 200 8");
            rig.await(thread, now -> now.asks().size() == 2);
            recordNewest(rig, thread, "allowed-denied-and-asked-by-rules");
            rig.update(thread, SignalNames.APPROVE, Map.of("callId", "tu_2", "args", Map.of("usd", 2000), "by", "ann"));
            rig.update(thread, SignalNames.APPROVE, Map.of("callId", "tu_3", "args", Map.of("usd", 300), "by", "ann"));
            rig.awaitTurn(thread, 1);
            recordNewest(rig, thread, "edited-and-judged-again");
        }
    }

    @Test
    void approvalThatCoversLaterCalls_andIsRevoked() throws Exception {
        try (WorkflowRig rig =
                new WorkflowRig(TestServers.real(), ApprovalByRuleTest.refunding(), GrantThreadTest.refund())) {
            String thread = GrantThreadTest.start(rig, "100");
            Map<String, Object> terms = Map.of("times", 2, "seconds", 3_600, "like", GrantThreadTest.UP_TO_500);
            GrantThreadTest.granted(rig, thread, terms, "7 900 8 9", 2);
            rig.update(thread, SignalNames.REVOKE, Map.of("grant", 1, "by", "ben"));
            rig.update(thread, SignalNames.DENY, Map.of("callId", "tu_2"));
            rig.update(thread, SignalNames.APPROVE, Map.of("callId", "tu_4", "grant", Map.of()));
            rig.awaitTurn(thread, 2);
            rig.update(thread, SignalNames.SAY, Map.of("id", "m-3", "content", "9 10"));
            rig.await(thread, now -> now.turn().number() == 3 && now.asks().size() == 1);
            recordNewest(rig, thread, "approved-for-later-calls-and-revoked");
        }
    }

    @Test
    void toolThatChangesAfterItsApproval(@TempDir Path directory) throws Exception {
        Path program = GrantThreadTest.script(directory.resolve("refund.sh"), "#!/bin/sh\necho old\n");
        ToolSpec spec =
                ToolSpec.command("refund", program.toString()).approval().build();
        try (WorkflowRig rig = new WorkflowRig(TestServers.real(), ApprovalByRuleTest.refunding())
                .with(agent -> agent.tools(List.of(spec)))) {
            String thread = GrantThreadTest.start(rig, "100");
            rig.await(thread, now -> now.asks().size() == 1);
            GrantThreadTest.script(program, "#!/bin/sh\necho new\n");
            rig.update(thread, SignalNames.APPROVE, Map.of("callId", "tu_1", "grant", Map.of()));
            rig.await(thread, now -> now.asks().stream().anyMatch(PendingItem::toolChanged));
            rig.update(thread, SignalNames.APPROVE, Map.of("callId", "tu_1", "by", "ann"));
            rig.awaitTurn(thread, 1);
            recordNewest(rig, thread, "tool-changed-after-its-approval");
        }
    }

    @Test
    void cancelled() throws Exception {
        try (WorkflowRig rig = rig()) {
            String thread = rig.start(StartInput.of("a").saying(PersonFact.UserSpoke.message("m-1", "ask")));
            rig.awaitSettled(thread);
            rig.stub(thread).signal(SignalNames.SAY, "Too late");
            rig.stub(thread).cancel();
            rig.awaitTimeline(thread, timeline -> timeline.ending().isPresent());
            recordNewest(rig, thread, "cancelled");
        }
    }

    @Test
    void movedOn() throws Exception {
        try (WorkflowRig rig = rig()) {
            String thread = rig.start(StartInput.of("a")
                    .withMaxIterations(Optional.of(20))
                    .withLimits(RunLimits.DEFAULT.withSoftEvents(24))
                    .saying(PersonFact.UserSpoke.message("m-1", "batch")));
            for (int turn = 1; turn < 4; turn++) {
                rig.awaitTurn(thread, turn);
                rig.update(thread, SignalNames.SAY, Map.of("id", "m-" + (turn + 1), "content", "batch " + turn));
            }
            rig.awaitTurn(thread, 4);
            List<String> runs = ContinueAsNewCases.runs(rig.timeline(thread));
            assertThat(runs).hasSizeGreaterThan(2);
            record(rig, thread, runs.get(0), "moved-on-first-run");
            record(rig, thread, runs.get(1), "moved-on-second-run");
        }
    }

    @Test
    void movedOn_withAStateInChunks() throws Exception {
        try (WorkflowRig rig = rig()) {
            String thread = rig.start(StartInput.of("a")
                    .withLimits(ChunkedStateCases.NOTHING_INLINE.withSoftEvents(12))
                    .saying(PersonFact.UserSpoke.message("m-1", "Hello")));
            rig.awaitTurn(thread, 1);
            rig.update(thread, SignalNames.SAY, Map.of("id", "m-2", "content", "Hello again"));
            rig.awaitTurn(thread, 2);
            List<String> runs = ContinueAsNewCases.runs(rig.timeline(thread));
            assertThat(runs).hasSizeGreaterThan(1);
            record(rig, thread, runs.get(1), "moved-on-with-a-state-in-chunks");
        }
    }

    @Test
    void approvals_andWhatThreadsKeepForThemselves() throws Exception {
        Part.ToolUse write =
                new Part.ToolUse("tu_3", "write_file", Json.of(Map.of("path", "notes.md", "content", "Charged")));
        ModelProvider model = ToolProtocolCases.calling(
                ToolProtocolCases.charge("tu_1", 5), ToolProtocolCases.charge("tu_2", 7), write);
        AgentSpec.Approvals hasty = new AgentSpec.Approvals(false, Optional.of(Duration.ofSeconds(3)));
        List<Integer> ledger = new CopyOnWriteArrayList<>();
        try (WorkflowRig rig = new WorkflowRig(
                        TestServers.real(),
                        model,
                        ToolProtocolCases.charging(ledger).approval())
                .with(agent -> agent.approvals(hasty))) {
            String thread = rig.start(StartInput.of("a").saying(PersonFact.UserSpoke.message("m-1", "Charge")));
            rig.awaitSettled(thread);
            rig.update(thread, SignalNames.APPROVE, Map.of("callId", "tu_1", "args", Map.of("cents", 4), "by", "ann"));
            rig.awaitTurn(thread, 1);
            assertThat(ledger).containsExactly(4);
            recordNewest(rig, thread, "approved-claimed-and-denied-by-time");
        }
    }

    /** The second payment comes after a message, in the next run, and asks because of what the first run has read. */
    @Test
    void untrustedWords_askInTheNextRun() throws Exception {
        try (WorkflowRig rig = UntrustedWordsTest.rig(TestServers.real())) {
            String thread =
                    rig.start(ContinueAsNewCases.movingOnAt(15).saying(PersonFact.UserSpoke.message("m-1", "Go")));
            UntrustedWordsTest.approve(rig, thread, 1);
            rig.update(thread, SignalNames.SAY, Map.of("id", "m-2", "content", "Again"));
            UntrustedWordsTest.approve(rig, thread, 2);
            List<String> runs = ContinueAsNewCases.runs(rig.timeline(thread));
            assertThat(runs).hasSizeGreaterThan(1);
            record(rig, thread, runs.get(0), "untrusted-words-first-run");
            record(rig, thread, runs.get(runs.size() - 1), "untrusted-words-last-run");
        }
    }

    @Test
    void announced_decided_andEndedAtOnce() throws Exception {
        try (RecordingServer server =
                        RecordingServer.with((exchange, request) -> RecordingServer.send(exchange, 200, "ok"));
                WorkflowRig rig = AnnouncementThreadTest.rig(
                        TestServers.real(),
                        server,
                        agent -> agent.announce(AnnounceRule.to("ops").only(AnnouncedEvent.values())))) {
            String thread = rig.start(
                    StartInput.of("a").closingAfterOneTurn().saying(PersonFact.UserSpoke.message("m-1", "100 200")));
            rig.await(thread, now -> now.asks().size() == 2);
            rig.update(thread, SignalNames.APPROVE, Map.of("callId", "tu_1", "by", "ann"));
            rig.update(thread, SignalNames.DENY, Map.of("callId", "tu_2"));
            rig.awaitTimeline(thread, timeline -> timeline.ending().isPresent());
            recordNewest(rig, thread, "announced-and-closed");
        }
    }

    @Test
    void announcedToNobody_expired_andMovedOn() throws Exception {
        AgentSpec.Approvals hasty = new AgentSpec.Approvals(false, Optional.of(Duration.ofSeconds(5)));
        try (RecordingServer server =
                        RecordingServer.with((exchange, request) -> RecordingServer.send(exchange, 503, ""));
                WorkflowRig rig = AnnouncementThreadTest.rig(
                        TestServers.real(),
                        server,
                        agent -> agent.announce(AnnounceRule.to("ops")).approvals(hasty))) {
            String thread = rig.start(StartInput.of("a")
                    .withLimits(RunLimits.DEFAULT.withSoftEvents(26))
                    .saying(PersonFact.UserSpoke.message("m-1", "100")));
            rig.awaitTurn(thread, 1);
            rig.update(thread, SignalNames.SAY, Map.of("id", "m-2", "content", "200"));
            rig.awaitTurn(thread, 2);
            String first = ContinueAsNewCases.runs(rig.timeline(thread)).get(0);
            record(rig, thread, first, "announcement-that-waits-for-the-next-run");
        }
    }

    @Test
    void lostAfterItsClaim_thenVerifiedAndRunAgain() throws Exception {
        List<Integer> ledger = new CopyOnWriteArrayList<>();
        CountDownLatch hangs = new CountDownLatch(1);
        ModelProvider model = ToolProtocolCases.calling(ToolProtocolCases.charge("tu_1", 5));
        try (WorkflowRig rig =
                new WorkflowRig(TestServers.real(), model, ToolProtocolCases.hangingOnce(ledger, hangs))) {
            String thread = rig.start(StartInput.of("a").saying(PersonFact.UserSpoke.message("m-1", "Charge")));
            hangs.await();
            rig.replaceWorker();
            rig.awaitTurn(thread, 1);
            recordNewest(rig, thread, "lost-verified-run-again");
        }
    }

    /** The tool's time limit has passed when the server treats the worker as lost. */
    @Test
    void lostAfterItsTimeLimit() throws Exception {
        CountDownLatch hangs = new CountDownLatch(1);
        ModelProvider model = ToolProtocolCases.calling(ToolProtocolCases.charge("tu_1", 5));
        try (WorkflowRig rig =
                new WorkflowRig(TestServers.real(), model, hanging(hangs).timeout(Duration.ofSeconds(1)))) {
            String thread = rig.start(StartInput.of("a").saying(PersonFact.UserSpoke.message("m-1", "Charge")));
            hangs.await();
            rig.replaceWorker();
            Conversation state = rig.awaitTurn(thread, 1);
            assertThat(state.turn().text()).contains("tool-durability-error");
            recordNewest(rig, thread, "lost-after-its-time-limit");
        }
    }

    /** The person decides before the call's fence, so a timer fires before the model is told. */
    @Test
    void settledAsNotDone() throws Exception {
        JavaTool<ToolProtocolCases.Charge> unsure = JavaTool.of(
                        "charge_card", "Charges the card", ToolProtocolCases.Charge.class, (args, context) -> {
                            throw new EffectUnknownException("no answer");
                        })
                .timeout(Duration.ofSeconds(1))
                .askOnUnknown();
        ModelProvider model = ToolProtocolCases.calling(ToolProtocolCases.charge("tu_1", 5));
        try (WorkflowRig rig = new WorkflowRig(TestServers.real(), model, unsure)) {
            String thread = rig.start(StartInput.of("a").saying(PersonFact.UserSpoke.message("m-1", "Charge")));
            rig.awaitSettled(thread);
            rig.update(
                    thread,
                    SignalNames.SETTLE,
                    Map.of("callId", "tu_1", "outcome", "not-done", "by", "ann", "note", "not on the statement"));
            assertThat(rig.awaitTurn(thread, 1).turn().text()).contains("did not take effect, as settled by ann");
            recordNewest(rig, thread, "settled-as-not-done");
        }
    }

    @Test
    void workerReportedAsEnded() throws Exception {
        CountDownLatch hangs = new CountDownLatch(1);
        ModelProvider model = ToolProtocolCases.calling(ToolProtocolCases.charge("tu_1", 5));
        try (WorkflowRig rig = new WorkflowRig(TestServers.real(), model, hanging(hangs))) {
            String thread = rig.start(StartInput.of("a").saying(PersonFact.UserSpoke.message("m-1", "Charge")));
            hangs.await();
            rig.replaceWorker();
            reportAsEnded(rig, thread);
            assertThat(rig.awaitTurn(thread, 1).turn().text()).contains("its worker has ended");
            recordNewest(rig, thread, "worker-reported-as-ended");
        }
    }

    @Test
    void workerReportedAsEnded_checkedBeforeAndAfterTheFence() throws Exception {
        List<Integer> ledger = new CopyOnWriteArrayList<>();
        CountDownLatch hangs = new CountDownLatch(1);
        ModelProvider model = ToolProtocolCases.calling(ToolProtocolCases.charge("tu_1", 5));
        try (WorkflowRig rig = new WorkflowRig(
                TestServers.real(),
                model,
                ToolProtocolCases.hangingOnce(ledger, hangs).timeout(Duration.ofSeconds(20)))) {
            String thread = rig.start(StartInput.of("a").saying(PersonFact.UserSpoke.message("m-1", "Charge")));
            hangs.await();
            rig.replaceWorker();
            reportAsEnded(rig, thread);
            rig.awaitTurn(thread, 1);
            assertThat(ledger).hasSize(1);
            assertThat(rig.client().fetchHistory(thread).getEvents().stream()
                            .filter(event -> event.getActivityTaskScheduledEventAttributes()
                                    .getActivityType()
                                    .getName()
                                    .equals(WireNames.VERIFY_ACTIVITY)))
                    .hasSize(2);
            recordNewest(rig, thread, "worker-reported-as-ended-checked-twice");
        }
    }

    /** Ends the running call as the next worker of its host does. */
    private static void reportAsEnded(WorkflowRig rig, String thread) {
        String activity = rig.stub(thread)
                .describe()
                .getRawDescription()
                .getPendingActivities(0)
                .getActivityId();
        rig.client()
                .newActivityCompletionClient()
                .completeExceptionally(
                        thread,
                        Optional.empty(),
                        activity,
                        ApplicationFailure.newNonRetryableFailure("its worker has ended", ProblemType.WORKER_ENDED));
    }

    /** A test cannot disconnect a single execution, so it reports on behalf of the execution whose worker is lost. */
    @Test
    void reportedAfterItsWorkerWasLost() throws Exception {
        CountDownLatch hangs = new CountDownLatch(1);
        ModelProvider model = ToolProtocolCases.calling(ToolProtocolCases.charge("tu_1", 5));
        try (WorkflowRig rig = new WorkflowRig(TestServers.real(), model, hanging(hangs))) {
            String thread = rig.start(StartInput.of("a").saying(PersonFact.UserSpoke.message("m-1", "Charge")));
            hangs.await();
            rig.replaceWorker();
            Call call = rig.await(
                            thread,
                            now -> now.calls()
                                    .get("tu_1")
                                    .filter(each -> each.status() == Call.Status.UNKNOWN)
                                    .isPresent())
                    .calls()
                    .get("tu_1")
                    .orElseThrow();
            String execution = call.claim().orElseThrow().execution();
            rig.stub(thread)
                    .signal(
                            SignalNames.LATE_OUTCOME,
                            new LateOutcome("tu_1", call.dispatches(), execution, ToolOutcome.result("charged 5")));
            assertThat(rig.awaitTurn(thread, 1).turn().text()).isEqualTo("charged 5;");
            recordNewest(rig, thread, "reported-after-its-worker-was-lost");
        }
    }

    private static JavaTool<ToolProtocolCases.Charge> hanging(CountDownLatch hangs) {
        return JavaTool.of("charge_card", "Charges the card", ToolProtocolCases.Charge.class, (args, context) -> {
            hangs.countDown();
            new CountDownLatch(1).await();
            return "never";
        });
    }

    @Test
    void resetToBeforeAClaim() throws Exception {
        List<Integer> ledger = new CopyOnWriteArrayList<>();
        ModelProvider model = ToolProtocolCases.calling(ToolProtocolCases.charge("tu_1", 5));
        try (WorkflowRig rig = new WorkflowRig(TestServers.real(), model, ToolProtocolCases.charging(ledger))) {
            String thread = rig.start(StartInput.of("a").saying(PersonFact.UserSpoke.message("m-1", "Charge")));
            rig.awaitTurn(thread, 1);
            String run = rig.timeline(thread).runId();
            long second = rig.client().fetchHistory(thread, run).getEvents().stream()
                    .filter(event -> event.getEventType() == EventType.EVENT_TYPE_WORKFLOW_TASK_COMPLETED)
                    .skip(1)
                    .findFirst()
                    .orElseThrow()
                    .getEventId();
            String reset = AgreementServerTest.reset(rig, thread, run, second);
            Conversation state = rig.awaitTurn(thread, 1);
            assertThat(ledger).containsExactly(5);
            assertThat(state.turn().text()).contains("tool-durability-error");
            record(rig, thread, reset, "reset-to-before-a-claim");
        }
    }

    @Test
    void subagents_answeredAndStopped() throws Exception {
        ModelProvider model = SubagentCases.boss(
                SubagentCases.task("tu_7", "scout", "ask Which day?"),
                SubagentCases.task("tu_8", "scout", "ask Where?"),
                SubagentCases.task("a/b", "scout", "look"),
                SubagentCases.task("x".repeat(900), "scout", "look"));
        try (WorkflowRig rig = new WorkflowRig(TestServers.real(), model).withSubagents("boss", "scout")) {
            String thread = rig.start(SubagentCases.go());
            rig.adopt(thread + "/tu_7");
            rig.adopt(thread + "/tu_8");
            rig.await(thread, now -> now.isInterrupted() && now.asks().size() == 2);
            rig.update(thread, SignalNames.ANSWER, Map.of("callId", "tu_7/tu_1", "answer", "Friday"));
            rig.await(thread, now -> now.calls().get("tu_7").orElseThrow().status() == Call.Status.COMPLETED);
            rig.update(thread, SignalNames.STOP, Map.of("by", "ann"));
            rig.await(
                    thread,
                    now -> now.calls()
                            .get("tu_8")
                            .orElseThrow()
                            .subagent()
                            .orElseThrow()
                            .over());
            recordNewest(rig, thread, "subagents-answered-and-stopped");
            recordNewest(rig, thread + "/tu_7", "subagent-that-was-answered");
            recordNewest(rig, thread + "/tu_8", "subagent-that-was-stopped");
        }
    }

    @Test
    void subagents_cutOffAtAHardLimit() throws Exception {
        ModelProvider model = SubagentCases.boss(SubagentCases.task("tu_7", "scout", "ask Which day?"));
        Budget budget = new Budget(Optional.empty(), Optional.of(5_000L));
        Json context = Json.of(Map.of("tenant", "acme"));
        try (WorkflowRig rig = new WorkflowRig(TestServers.real(), model)
                .withSubagents("boss", "scout")
                .with(agent -> agent.budget(budget).context(context))) {
            String thread = rig.start(SubagentCases.go(RunLimits.DEFAULT.withHardEvents(26)));
            rig.adopt(thread + "/tu_7");
            rig.await(thread, Conversation::isInterrupted);
            rig.stub(thread).signal(SignalNames.ANSWER, Map.of("callId", "tu_9", "answer", "One more event"));
            rig.awaitTurn(thread, 1);
            List<String> runs = ContinueAsNewCases.runs(rig.timeline(thread));
            record(rig, thread, runs.get(0), "subagent-cut-off-at-a-hard-limit");
            record(rig, thread, runs.get(1), "after-a-subagent-was-cut-off");
        }
    }

    @Test
    void subagents_resetToBeforeOne() throws Exception {
        ModelProvider model = SubagentCases.boss(SubagentCases.task("tu_7", "scout", "look"));
        try (WorkflowRig rig = new WorkflowRig(TestServers.real(), model).withSubagents("boss", "scout")) {
            String thread = rig.start(SubagentCases.go());
            rig.awaitTurn(thread, 1);
            String run = rig.timeline(thread).runId();
            EventType begun = EventType.EVENT_TYPE_START_CHILD_WORKFLOW_EXECUTION_INITIATED;
            String reset =
                    AgreementServerTest.reset(rig, thread, run, SubagentServerTest.task(rig, thread, begun, false));
            Conversation state = rig.awaitTurn(thread, 1);
            assertThat(state.calls().get("tu_7").orElseThrow().status()).isEqualTo(Call.Status.LOST);
            record(rig, thread, reset, "reset-to-before-a-subagent");
        }
    }

    @Test
    void failedModel() throws Exception {
        ModelProvider model = request -> {
            throw ModelFailure.permanent("InsufficientQuota", "You have no credit left.");
        };
        try (WorkflowRig rig = new WorkflowRig(TestServers.real(), model)) {
            String thread = rig.start(StartInput.of("a").saying(PersonFact.UserSpoke.message("m-1", "Hello")));
            rig.await(thread, now -> now.turn().status() == Turn.Status.FAILED);
            recordNewest(rig, thread, "failed-model");
        }
    }

    @Test
    void hostileSignals() throws Exception {
        try (WorkflowRig rig = rig()) {
            String thread = rig.start(StartInput.of("a").saying(PersonFact.UserSpoke.message("m-1", "ask")));
            rig.awaitSettled(thread);
            HostileSignalCases.hostileSignals().stream()
                    .filter(hostile -> hostile.payloads().stream()
                                    .mapToInt(payload -> payload.getData().size())
                                    .sum()
                            < 1_000)
                    .forEach(hostile -> rig.signalRaw(thread, hostile.signal(), hostile.payloads()));
            rig.stub(thread).signal("__temporal_nope");
            rig.update(thread, SignalNames.ANSWER, "Friday");
            rig.awaitTurn(thread, 1);
            recordNewest(rig, thread, "ignored-signals");
        }
    }
}
