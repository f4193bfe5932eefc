package dev.waymark.checkpoint;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.waymark.contract.PayloadJson;
import dev.waymark.contract.message.InboundDecoder;
import dev.waymark.conversation.Conversation;
import dev.waymark.conversation.Resumption;
import dev.waymark.conversation.Step;
import dev.waymark.conversation.call.Call;
import dev.waymark.conversation.call.SubagentProgress;
import dev.waymark.conversation.fact.Fact;
import dev.waymark.conversation.fact.ModelFact;
import dev.waymark.conversation.fact.PersonFact;
import dev.waymark.conversation.fact.SubagentFact;
import dev.waymark.conversation.fact.ThreadFact;
import dev.waymark.conversation.fact.ToolFact;
import dev.waymark.conversation.message.Message;
import dev.waymark.conversation.message.Pairing;
import dev.waymark.conversation.message.Part;
import dev.waymark.conversation.message.Reply;
import dev.waymark.conversation.policy.AgentPolicy;
import dev.waymark.conversation.rule.Rules;
import dev.waymark.conversation.state.Turn;
import dev.waymark.conversation.value.IdempotencyKey;
import dev.waymark.conversation.value.Json;
import dev.waymark.conversation.value.Problem;
import dev.waymark.conversation.value.Sha256;
import dev.waymark.conversation.value.Usage;
import dev.waymark.history.Moment;
import dev.waymark.history.Timeline;
import dev.waymark.saver.CheckpointSaver;
import dev.waymark.saver.FileSaver;
import dev.waymark.saver.SaverException;
import dev.waymark.testkit.GeneratedThread;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Mistakes of the systems from which the formats come, which must not be repeated here. Grouped by format. */
class TrapsTest {
    private static final Instant LATER = CheckpointFixture.START.plusSeconds(86_400);

    private static CheckpointFixture replied(Part... parts) {
        return new CheckpointFixture(said("Hello"), new ModelFact.ModelCalled(1), reply(1, parts));
    }

    private static Json runner(CheckpointFixture fixture) {
        return RunnerCheckpoint.of(fixture.state());
    }

    private static Fact said(String text) {
        return new PersonFact.UserSpoke(Optional.empty(), Optional.empty(), Optional.of(Message.user(text)), false);
    }

    private static Fact reply(int step, Part... parts) {
        return new ModelFact.ModelReplied(step, new Reply(List.of(parts), new Usage(10, 5), "end_turn"));
    }

    private static Part.ToolUse use(String id, String tool) {
        return new Part.ToolUse(id, tool, Json.EMPTY_OBJECT);
    }

    private static Part.ToolUse ask(String id, String question) {
        return new Part.ToolUse(id, "ask_user", Json.of(Map.of("question", question)));
    }

    private static Fact[] finished(String id, String text) {
        return new Fact[] {new ToolFact.ToolDispatched(id, 1), new ToolFact.ToolFinished(id, 1, text, false)};
    }

    private static Fact answered(String id, String text) {
        return new PersonFact.HumanAnswered(Optional.empty(), Optional.of(id), text, Optional.empty());
    }

    private static RestoredCheckpoint read(Json checkpoint) {
        return read(checkpoint.canonical());
    }

    private static RestoredCheckpoint read(String checkpoint) {
        return CheckpointReader.read(checkpoint.getBytes(StandardCharsets.UTF_8), LATER);
    }

    private static Resumption resumption(Optional<String> answer) {
        return new Resumption("r", Optional.empty(), answer, Optional.empty(), false, Optional.empty());
    }

    /** The state of a thread that continues from the checkpoint, as soon as its agent is resolved. */
    private static Conversation resumed(RestoredCheckpoint recovered, String... answer) {
        return Rules.apply(
                Rules.apply(
                        Rules.resume(
                                recovered.state(),
                                resumption(List.of(answer).stream().findFirst()),
                                LATER),
                        new ThreadFact.AgentRequested(),
                        LATER),
                new ThreadFact.AgentResolved(GeneratedThread.policy()),
                LATER);
    }

    private static Call call(Conversation state, String id) {
        return state.calls().get(id).orElseThrow();
    }

    private static List<Message> nextModelCall(Conversation state) {
        assertThat(Rules.nextSteps(state))
                .containsExactly(new Step.CallModel(state.counters().steps() + 1));
        List<Message> messages = Rules.apply(
                        state, new ModelFact.ModelCalled(state.counters().steps() + 1), LATER)
                .transcript()
                .messages();
        assertThat(Pairing.violation(messages)).isEmpty();
        return messages;
    }

    // ---- runner

    @Test
    void runner_siblingsOfAnInterruptingCall_keepTheirResults() {
        CheckpointFixture fixture =
                replied(ask("tu_1", "Day?"), use("tu_2", "add")).with(finished("tu_2", "3"));

        Conversation resumed = resumed(read(runner(fixture)), "Friday");

        assertThat(runner(fixture).field("pendingToolUseId")).isEqualTo("tu_1");
        assertThat(nextModelCall(resumed).get(2).toolResults())
                .containsExactly(new Part.ToolResult("tu_1", "Friday", false), new Part.ToolResult("tu_2", "3", false));
    }

    @Test
    void runner_subagentsInterrupt_keepsWhatTheSubagentHasDone() {
        CheckpointFixture below = replied(use("tu_1", "add"))
                .with(finished("tu_1", "3"))
                .with(new ModelFact.ModelCalled(2), reply(2, ask("tu_2", "Day?")));
        Part.ToolUse task = new Part.ToolUse("tu_9", "scout", Json.of(Map.of("task", "look")));
        CheckpointFixture above = replied(task)
                .with(
                        new SubagentFact.SubagentStarted("tu_9", Optional.empty()),
                        new SubagentFact.SubagentReported(
                                "tu_9",
                                new SubagentProgress(
                                        true,
                                        below.state().asks(),
                                        below.state().spent())));
        assertThat(above.state().isInterrupted()).isTrue();

        above.with(answered("tu_9/tu_2", "Friday"));
        Step.PassOn decision = (Step.PassOn) Rules.nextSteps(above.state()).get(0);
        below.with(InboundDecoder.read(
                decision.decision().signal(),
                PayloadJson.MAPPER.valueToTree(decision.decision().body())));

        assertThat(nextModelCall(below.state()))
                .contains(
                        Message.results(List.of(new Part.ToolResult("tu_1", "3", false))),
                        Message.results(List.of(new Part.ToolResult("tu_2", "Friday", false))));
    }

    @Test
    void runner_twoInterruptsInABatch_bothStayOpen() {
        CheckpointFixture fixture = replied(ask("tu_1", "Day?"), ask("tu_2", "Time?"));

        Conversation resumed = resumed(read(runner(fixture)), "Friday");

        assertThat(resumed.questions().stream().map(Call::id)).containsExactly("tu_2");
        assertThat(resumed.questions().get(0).question()).contains("Time?");
    }

    @Test
    void runner_resultsInCompletionOrder_areShownInCallOrder() {
        CheckpointFixture fixture = replied(use("tu_1", "add"), use("tu_2", "add"))
                .with(finished("tu_2", "second"))
                .with(finished("tu_1", "first"));

        assertThat(nextModelCall(fixture.state()).get(2).toolResults().stream().map(Part.ToolResult::content))
                .containsExactly("first", "second");
    }

    @Test
    void runner_oneAnswerForSeveralCalls_isNeverSent() {
        CheckpointFixture fixture = replied(ask("tu_1", "Day?"), ask("tu_2", "Time?"), use("tu_3", "add"))
                .with(finished("tu_3", "3"));

        Conversation resumed = Rules.apply(resumed(read(runner(fixture)), "Friday"), answered("tu_2", "Noon"), LATER);

        assertThat(nextModelCall(resumed).get(2).toolResults()).hasSize(3);
    }

    @Test
    void runner_answerAtTheIterationLimit_isNotLost() {
        CheckpointFixture fixture = replied(ask("tu_1", "Day?"));
        Resumption limited =
                new Resumption("r", Optional.empty(), Optional.of("Friday"), Optional.of(1), false, Optional.empty());

        Conversation resumed = Rules.apply(
                Rules.apply(
                        Rules.resume(read(runner(fixture)).state(), limited, LATER),
                        new ThreadFact.AgentRequested(),
                        LATER),
                new ThreadFact.AgentResolved(GeneratedThread.policy()),
                LATER);

        assertThat(resumed.turn().status()).isEqualTo(Turn.Status.MAX_ITERATIONS);
        assertThat(RunnerCheckpoint.of(resumed).canonical()).contains("\"content\": \"Friday\"");
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "{}",
                "null",
                "{\"messages\":[{\"role\":\"user\",\"content\":\"Hi\"}],\"iterations\":0}",
                "{\"messages\":[{\"role\":\"user\",\"content\":\"Hi\"}],\"iterations\":0,\"usage\":{}}",
                "{\"messages\":[{\"role\":\"user\",\"content\":\"Hi\"}],\"iterations\":0,"
                        + "\"usage\":{\"inputTokens\":1,\"outputTokens\":1},\"pendingToolUseId\":\"tu_1\"}"
            })
    void runner_arbitraryJson_isNotACheckpoint(String json) {
        assertThatThrownBy(() -> read(json)).isInstanceOf(CheckpointCorruption.class);
    }

    @Test
    void runner_answeredCall_isNoLongerPending() {
        String answered = runner(
                        replied(ask("tu_1", "Day?"), ask("tu_2", "Time?")).with(answered("tu_2", "Noon")))
                .canonical();

        assertThatThrownBy(() ->
                        read(answered.replace("\"pendingToolUseId\": \"tu_1\"", "\"pendingToolUseId\": \"tu_2\"")))
                .isInstanceOf(CheckpointCorruption.class);
    }

    @Test
    void runner_completedCheckpoint_isCompletionOrANewTurn() {
        RestoredCheckpoint complete = read(runner(replied(new Part.Text("Done."))));

        assertThat(complete.state().turn().status()).isEqualTo(Turn.Status.COMPLETE);
        assertThat(complete.state().turn().text()).isEqualTo("Done.");
        assertThat(Rules.nextSteps(resumed(complete))).isEmpty();
        assertThat(nextModelCall(resumed(complete, "And?")).get(2)).isEqualTo(Message.user("And?"));
    }

    @Test
    void runner_providerError_losesNothing() {
        CheckpointFixture fixture = replied(use("tu_1", "add"))
                .with(finished("tu_1", "3"))
                .with(
                        new ModelFact.ModelCalled(2),
                        new ModelFact.ModelFailed(2, new Problem("Provider", "overloaded")));

        assertThat(nextModelCall(resumed(read(runner(fixture))))).hasSize(3);
    }

    @Test
    void runner_emptyAnswer_isTheResultVerbatim() {
        Conversation resumed = resumed(read(runner(replied(ask("tu_1", "Day?")))), "");

        assertThat(nextModelCall(resumed).get(2).toolResults()).containsExactly(new Part.ToolResult("tu_1", "", false));
    }

    /** No format distinguishes a call that may have run from one that waits for approval; if approved, it would run. */
    @ParameterizedTest
    @EnumSource(CheckpointFormat.class)
    void anyFormat_callThatMayHaveRun_isNeverApprovedAgain(CheckpointFormat format) {
        CheckpointFixture fixture = replied(use("tu_1", "refund"), ask("tu_2", "Day?"))
                .with(
                        decided(true),
                        new ToolFact.ToolDispatched("tu_1", 1),
                        new ToolFact.ToolClaimed(
                                "tu_1", 1, "refund", Sha256.hex(Json.EMPTY_OBJECT.canonical()), 0, "run-1/1/x", false),
                        new ToolFact.ToolLost("tu_1", 1, new Problem("Timeout", "the worker was lost")),
                        new ThreadFact.TimePassed());
        if (call(fixture.state(), "tu_1").status() == Call.Status.DOUBTED) {
            fixture.with(
                    new ToolFact.VerifyDispatched("tu_1", 1),
                    new ToolFact.ToolVerified("tu_1", 1, Optional.empty(), Optional.empty()));
        }
        assertThat(call(fixture.state(), "tu_1").status()).isEqualTo(Call.Status.UNSETTLED);

        Timeline timeline = fixture.timeline();
        Json checkpoint = format == CheckpointFormat.PHASES ? PhasesCheckpoint.latest(timeline) : format.view(timeline);

        assertThat(call(resumed(read(checkpoint)), "tu_1").status())
                .isIn(Call.Status.DOUBTED, Call.Status.UNKNOWN, Call.Status.UNSETTLED, Call.Status.LOST);
    }

    // ---- thread

    @Test
    void thread_toolCallsAndResults_areStored() {
        CheckpointFixture fixture = replied(use("tu_1", "add")).with(finished("tu_1", "3"));

        assertThat(ThreadCheckpoint.of(fixture.timeline()).canonical())
                .contains("\"type\": \"tool-call\"", "\"type\": \"tool-result\"", "\"value\": \"3\"");
    }

    @Test
    void thread_interrupt_distinguishesApproveFromDeny() {
        CheckpointFixture fixture = replied(use("tu_1", "refund"));
        Json checkpoint = ThreadCheckpoint.of(fixture.timeline());

        Conversation resumed = resumed(read(checkpoint));

        assertThat(checkpoint.canonical()).contains("\"interrupt\": {", "\"toolCallId\": \"tu_1\"");
        assertThat(call(resumed, "tu_1").status()).isEqualTo(Call.Status.AWAITING);
        assertThat(Rules.nextSteps(Rules.apply(resumed, decided(true), LATER)))
                .hasSize(1)
                .first()
                .isInstanceOf(Step.RunTool.class);
        assertThat(nextModelCall(Rules.apply(resumed, decided(false), LATER))
                        .get(2)
                        .toolResults()
                        .get(0)
                        .content())
                .isEqualTo("Tool execution denied by user. The refund tool was not executed.");
    }

    private static Fact decided(boolean approved) {
        return new PersonFact.ApprovalDecided(
                approved,
                Optional.empty(),
                Optional.of("tu_1"),
                Optional.empty(),
                Optional.empty(),
                Optional.empty(),
                Optional.empty());
    }

    @Test
    void thread_emptyListOfMessages_clears() {
        CheckpointFixture fixture = replied(new Part.Text("Done."))
                .with(new PersonFact.UserSpoke(Optional.empty(), Optional.of(List.of()), Optional.empty(), false));

        assertThat(ThreadCheckpoint.of(fixture.timeline()).field("messages")).isEqualTo(List.of());
    }

    @Test
    void thread_modelFailure_isNotACompletion() {
        CheckpointFixture fixture = new CheckpointFixture(said("Hello"), new ModelFact.ModelCalled(1))
                .with(new ModelFact.ModelFailed(1, new Problem("Provider", "overloaded")));

        RestoredCheckpoint recovered = read(ThreadCheckpoint.of(fixture.timeline()));

        assertThat(recovered.state().turn().status()).isEqualTo(Turn.Status.RUNNING);
        assertThat(nextModelCall(resumed(recovered))).containsExactly(Message.user("Hello"));
    }

    @Test
    void thread_autoDeny_hasItsText() {
        AgentPolicy nobody = new AgentPolicy(
                "helper",
                12,
                GeneratedThread.policy().tools(),
                GeneratedThread.policy().policies(),
                Optional.of(new AgentPolicy.Approvals(true, Optional.empty())));
        Conversation denied = Rules.apply(
                Rules.apply(
                        Rules.resume(
                                read(ThreadCheckpoint.of(
                                                replied(use("tu_1", "refund")).timeline()))
                                        .state(),
                                resumption(Optional.empty()),
                                LATER),
                        new ThreadFact.AgentRequested(),
                        LATER),
                new ThreadFact.AgentResolved(nobody),
                LATER);

        assertThat(nextModelCall(denied).get(2).toolResults().get(0).content())
                .isEqualTo("Tool execution denied. No approval callback provided. The refund tool was not executed.");
    }

    @Test
    void thread_similarIds_haveSeparateFiles(@TempDir Path directory) {
        CheckpointSaver saver = new FileSaver(directory);
        List<String> ids = List.of("a/b", "a:b", "A/B", "..", "x".repeat(300), "caf\u00e9", "cafe\u0301", "CON");
        ids.forEach(id -> saver.save(Json.of(Map.of("threadId", id))));

        assertThat(saver.list()).containsExactlyInAnyOrderElementsOf(ids);
        for (String id : ids) {
            assertThat(saver.load(id)).contains(Json.of(Map.of("threadId", id)));
        }
    }

    @Test
    void thread_corruptFile_isReportedAndNeverOverwritten(@TempDir Path directory) throws IOException {
        CheckpointSaver saver = new FileSaver(directory);
        Path file = Files.writeString(directory.resolve("trip.json"), "{\"threadId\":\"trip\",");

        assertThatThrownBy(() -> saver.load("trip")).isInstanceOf(SaverException.class);
        assertThatThrownBy(() -> saver.save(Json.of(Map.of("threadId", "trip"))))
                .isInstanceOf(SaverException.class);
        assertThat(saver.list()).containsExactly("trip");
        assertThat(file).content().isEqualTo("{\"threadId\":\"trip\",");
    }

    /** Until the agent is resolved, a call that waits for approval looks like a question without text. */
    @ParameterizedTest
    @EnumSource(
            value = CheckpointFormat.class,
            names = {"RUNNER", "THREAD", "PHASES"})
    void anyFormat_answerToACallThatWaitsForApproval_isNotItsResult(CheckpointFormat format) {
        Timeline timeline = replied(use("tu_1", "refund")).timeline();
        RestoredCheckpoint recovered =
                read(format == CheckpointFormat.PHASES ? PhasesCheckpoint.latest(timeline) : format.view(timeline));
        Conversation begun = Rules.resume(recovered.state(), resumption(Optional.of("yes")), LATER);

        Conversation resumed = resumed(recovered, "yes");

        assertThat(begun.isSettled()).isFalse();
        assertThat(call(resumed, "tu_1").status()).isEqualTo(Call.Status.AWAITING);
        assertThat(call(resumed, "tu_1").result()).isEmpty();
        assertThat(resumed.ignored().last())
                .singleElement()
                .satisfies(ignored -> assertThat(ignored.signal()).isEqualTo("answer"));
    }

    @Test
    void thread_orphan_isSettledInItsPlaceBesideRealResults() {
        CheckpointFixture fixture =
                replied(use("tu_1", "charge"), use("tu_2", "add")).with(finished("tu_2", "3"));

        Conversation resumed = resumed(read(ThreadCheckpoint.of(fixture.timeline())));

        assertThat(nextModelCall(resumed).get(2).toolResults().stream().map(Part.ToolResult::toolUseId))
                .containsExactly("tu_1", "tu_2");
    }

    // ---- phases

    @Test
    void phases_everyCrashPoint_leavesAChainToContinue() {
        CheckpointFixture fixture = replied(use("tu_1", "add"), ask("tu_2", "Day?"))
                .with(finished("tu_1", "3"))
                .with(answered("tu_2", "Friday"), new ModelFact.ModelCalled(2), reply(2, new Part.Text("Done.")));
        Timeline whole = fixture.timeline();
        for (Moment moment : whole.moments()) {
            List<Json> chain = PhasesCheckpoint.chain(whole.upTo(moment));
            if (moment.state().counters().steps() > 0) {
                Conversation resumed = resumed(read(Json.of(chain)));
                assertThat(resumed.isSettled() || !Rules.nextSteps(resumed).isEmpty())
                        .as("event %d", moment.eventId())
                        .isTrue();
            }
        }
    }

    @Test
    void phases_crashJustAfterAResume_isResumable() {
        Conversation first = resumed(read(PhasesCheckpoint.latest(
                replied(use("tu_1", "add")).with(finished("tu_1", "3")).timeline())));

        RestoredCheckpoint again = read(Json.of(PhasesCheckpoint.chain(GeneratedThread.begunWith(first, "trip"))));

        assertThat(nextModelCall(resumed(again))).hasSize(3);
    }

    @Test
    void phases_failedRun_canBeContinued() {
        CheckpointFixture fixture = new CheckpointFixture(said("Hello"), new ModelFact.ModelCalled(1))
                .with(new ModelFact.ModelFailed(1, new Problem("Provider", "overloaded")));
        RestoredCheckpoint failed = read(Json.of(PhasesCheckpoint.chain(fixture.timeline())));

        assertThat(failed.state().turn().status()).isEqualTo(Turn.Status.FAILED);
        assertThat(nextModelCall(resumed(failed))).containsExactly(Message.user("Hello"));
    }

    @Test
    void phases_resumedLongAfterTheStart_continues() {
        RestoredCheckpoint old = read(
                PhasesCheckpoint.latest(new CheckpointFixture(said("Hello"), new ModelFact.ModelCalled(1)).timeline()));

        assertThat(nextModelCall(Rules.apply(
                        Rules.apply(
                                Rules.resume(
                                        old.state(),
                                        resumption(Optional.empty()),
                                        CheckpointFixture.START.plusSeconds(400L * 86_400)),
                                new ThreadFact.AgentRequested(),
                                LATER),
                        new ThreadFact.AgentResolved(GeneratedThread.policy()),
                        LATER)))
                .hasSize(1);
    }

    @Test
    void phases_corruptPendingReply_isCorruptWithoutASecondModelCall() {
        String checkpoint =
                PhasesCheckpoint.latest(replied(use("tu_1", "add")).timeline()).canonical();

        assertThat(checkpoint).contains("\"pending_llm_response\": {");
        for (String broken : List.of("[]", "\"x\"", "{}", "{\"text\": \"\"}", "3")) {
            String corrupt = checkpoint.replaceFirst(
                    "\"pending_llm_response\": \\{.*?\\}\\}, ", "\"pending_llm_response\": " + broken + ", ");
            assertThatThrownBy(() -> read(corrupt)).as(broken).isInstanceOf(CheckpointCorruption.class);
        }
    }

    @Test
    void phases_pendingReply_runsItsCallsWithoutAModelCall() {
        Conversation resumed = resumed(
                read(PhasesCheckpoint.latest(replied(use("tu_1", "charge")).timeline())));

        assertThat(Rules.nextSteps(resumed)).containsExactly(new Step.RunTool(call(resumed, "tu_1"), 1));
    }

    @Test
    void phases_sideEffectUnderWay_isUnknownAndNotRunAgain() {
        CheckpointFixture fixture = replied(use("tu_1", "charge")).with(new ToolFact.ToolDispatched("tu_1", 1));

        Conversation resumed = resumed(read(PhasesCheckpoint.latest(fixture.timeline())));

        assertThat(call(resumed, "tu_1").status()).isEqualTo(Call.Status.LOST);
    }

    @Test
    void phases_resultsOfABatchThatIsNotDone_areReplayedAndCounted() {
        CheckpointFixture fixture =
                replied(use("tu_1", "add"), use("tu_2", "add")).with(finished("tu_1", "3"));
        Json before = PhasesCheckpoint.latest(fixture.timeline());

        Conversation resumed = resumed(read(before));
        Json after = PhasesCheckpoint.latest(GeneratedThread.begunWith(resumed, "trip"));

        assertThat(Rules.nextSteps(resumed)).containsExactly(new Step.RunTool(call(resumed, "tu_2"), 1));
        assertThat(payload(before).get("replayed_effect_count")).isEqualTo(0L);
        assertThat(payload(after).get("replayed_effect_count")).isEqualTo(1L);
        assertThat(payload(after).get("pending_llm_response"))
                .isEqualTo(payload(before).get("pending_llm_response"));
    }

    private static Map<?, ?> payload(Json record) {
        return (Map<?, ?>) record.field("payload");
    }

    /**
     * A chain must contain everything that was done until it was requested, and not only what was done until its last
     * phase.
     */
    @Test
    void phases_chain_repeatsNothingThatWasDoneSinceItsLastPhase() {
        for (long seed = 0; seed < 300; seed++) {
            Timeline whole = GeneratedThread.of(seed);
            for (Moment moment : whole.moments()) {
                Timeline timeline = whole.upTo(moment);
                if (timeline.now().turn().isRunning() && timeline.now().turn().number() > 0) {
                    Conversation fromChain = resumed(read(Json.of(PhasesCheckpoint.chain(timeline))));
                    Conversation fromLatest = resumed(read(PhasesCheckpoint.latest(timeline)));
                    assertThat(standings(fromChain))
                            .as("seed %d, event %s/%d", seed, moment.runId(), moment.eventId())
                            .isEqualTo(standings(fromLatest));
                }
            }
        }
    }

    private static Map<String, Call.Status> standings(Conversation state) {
        Map<String, Call.Status> standings = new TreeMap<>();
        state.calls().forEach((id, call) -> standings.put(id, call.status()));
        return standings;
    }

    @Test
    void phases_corruptPayload_isCorruptAtOnce() {
        String checkpoint = PhasesCheckpoint.latest(
                        new CheckpointFixture(said("Hello"), new ModelFact.ModelCalled(1)).timeline())
                .canonical();
        for (String field : List.of("messages", "step", "state", "llm_calls", "tool_calls", "started_at_s", "usage")) {
            for (String broken : List.of("null", "\"x\"", "[3]", "{\"a\": 1}", "-1")) {
                String corrupt = checkpoint.replaceFirst(
                        "\"" + field + "\": (\\[.*?\\]|\\{.*?\\}|\"[^\"]*\"|[0-9.e+]+)(?=[,}])",
                        "\"" + field + "\": " + broken);
                assertThat(corrupt).isNotEqualTo(checkpoint);
                assertThatThrownBy(() -> read(corrupt)).as(corrupt).isInstanceOf(CheckpointCorruption.class);
            }
        }
    }

    @Test
    void phases_outputHash_isChecked() {
        String checkpoint = PhasesCheckpoint.latest(replied(use("tu_1", "add"), use("tu_2", "add"))
                        .with(finished("tu_1", "3"))
                        .timeline())
                .canonical();

        assertThatThrownBy(() -> read(
                        checkpoint.replace("\"output\": \"3\", \"output_hash\"", "\"output\": \"4\", \"output_hash\"")))
                .isInstanceOf(CheckpointCorruption.class)
                .hasMessageContaining("output_hash");
    }

    @Test
    void phases_replayedEffectCount_survivesResumes() {
        Json first = PhasesCheckpoint.latest(replied(use("tu_1", "add"), use("tu_2", "add"), ask("tu_3", "Day?"))
                .with(finished("tu_1", "3"))
                .timeline());
        Json second = PhasesCheckpoint.latest(GeneratedThread.begunWith(resumed(read(first)), "trip"));
        Conversation third = resumed(read(second));

        assertThat(payload(second).get("replayed_effect_count")).isEqualTo(1L);
        assertThat(payload(PhasesCheckpoint.latest(GeneratedThread.begunWith(third, "trip")))
                        .get("replayed_effect_count"))
                .isEqualTo(2L);
    }

    @Test
    void phases_pendingReply_keepsItsUsageAndTheCostSoFar() {
        Json latest = PhasesCheckpoint.latest(replied(use("tu_1", "add")).timeline());
        String paid = latest.canonical()
                .replace("\"total_cost_usd\": 0.0", "\"total_cost_usd\": 0.25")
                .replace("\"request_id\": null", "\"request_id\": \"req_1\"");
        Conversation resumed = resumed(read(paid));
        Json after = PhasesCheckpoint.latest(GeneratedThread.begunWith(resumed, "trip"));

        assertThat(latest.canonical())
                .contains("\"usage\": {\"input_tokens\": 10, \"output_tokens\": 5, \"total_tokens\": 15}}");
        assertThat(payload(after).get("pending_llm_response"))
                .isEqualTo(payload(read(paid).document()).get("pending_llm_response"));
        assertThat(payload(after).get("total_cost_usd")).isEqualTo(0.25);
    }

    @Test
    void phases_legacySpellings_areReadIfTheNewKeyIsMissing() {
        String checkpoint = PhasesCheckpoint.latest(
                        new CheckpointFixture(said("Hello"), new ModelFact.ModelCalled(1)).timeline())
                .canonical();
        String legacy = checkpoint
                .replace("\"run_id\"", "\"runId\"")
                .replace("\"thread_id\"", "\"threadId\"")
                .replace("\"payload\"", "\"data\"")
                .replace("\"schema_version\"", "\"version\"");
        String both = checkpoint.replace("\"thread_id\"", "\"threadId\": \"old\", \"thread_id\"");

        assertThat(read(legacy).state()).isEqualTo(read(checkpoint).state());
        assertThat(read(legacy).thread()).contains("trip");
        assertThat(read(both).thread()).contains("trip");
    }

    @Test
    void phases_toolRowsWithoutIds_becomeUserText() {
        String checkpoint = PhasesCheckpoint.latest(
                        new CheckpointFixture(said("Hello"), new ModelFact.ModelCalled(1)).timeline())
                .canonical()
                .replace(
                        "{\"content\": \"Hello\", \"role\": \"user\"}",
                        "{\"content\": \"Hello\", \"role\": \"user\"}, {\"content\": \"3\", \"name\": \"add\", \"role\": \"tool\"}");

        assertThat(nextModelCall(resumed(read(checkpoint)))).contains(Message.user("[result of add] 3"));
    }

    @Test
    void phases_hashes_equalThoseOfPython() {
        assertThat(PhasesSnapshot.inputHash("add", Json.of(Map.of("a", 1, "b", 2))))
                .isEqualTo("7f509013eadd9e0d8c1901017250fd78228dbb07182a916948799ad1f2c11080");
        assertThat(PhasesSnapshot.outputHash(Map.of("result", 3)))
                .isEqualTo("60e4b1a076f8d6e005b4627e5023bfa54ddee9ec4bca96cdd69cf873153f0bb8");
    }

    // ---- messages

    @Test
    void messages_finalAnswerAfterAToolStep_isStored() {
        CheckpointFixture fixture = replied(use("tu_1", "add"))
                .with(finished("tu_1", "3"))
                .with(new ModelFact.ModelCalled(2), reply(2, new Part.Text("It is 3.")));

        assertThat(MessagesCheckpoint.of(fixture.state()).canonical())
                .endsWith("{\"content\": \"It is 3.\", \"role\": \"assistant\"}]");
    }

    @Test
    void messages_orphanBehindALaterUserMessage_isRepaired() {
        String orphan = "{\"role\":\"assistant\",\"content\":\"\","
                + "\"toolCalls\":[{\"id\":\"tu_1\",\"name\":\"charge\",\"arguments\":{}}]}";
        String user = "{\"role\":\"user\",\"content\":\"Hello?\"}";

        Conversation resumed = resumed(read("[" + user + "," + orphan + "," + user + "]"));
        Conversation later = resumed(
                read("[" + user + "," + orphan + "," + user + ",{\"role\":\"assistant\",\"content\":\"Yes.\"}]"), "Go");

        List<Message> messages = nextModelCall(resumed);
        assertThat(messages.get(2).toolResults().get(0).content()).contains("tool-durability-error");
        assertThat(messages.get(3)).isEqualTo(Message.user("Hello?"));
        assertThat(nextModelCall(later).get(2).toolResults().get(0).content()).contains("tool-durability-error");
    }

    @Test
    void messages_orphanWithoutAnId_isRepaired() {
        String calls = "{\"role\":\"assistant\",\"content\":\"\",\"toolCalls\":["
                + "{\"name\":\"add\",\"arguments\":{}},{\"name\":\"charge\",\"arguments\":{}},"
                + "{\"name\":\"add\",\"arguments\":{}},{\"id\":\"call_2\",\"name\":\"add\",\"arguments\":{}}]}";
        String first = "{\"role\":\"tool\",\"toolName\":\"add\",\"content\":\"3\"}";
        String second = "{\"role\":\"tool\",\"toolName\":\"add\",\"content\":\"4\"}";
        String user = "{\"role\":\"user\",\"content\":\"Hello?\"}";
        String known = "{\"role\":\"tool\",\"toolCallId\":\"call_2\",\"content\":\"5\"}";

        List<Part.ToolResult> results = nextModelCall(
                        resumed(read("[" + String.join(",", user, calls, first, second, known, user) + "]")))
                .get(2)
                .toolResults();

        assertThat(results.stream().map(Part.ToolResult::toolUseId))
                .containsExactly("call_1", "call_3", "call_4", "call_2");
        assertThat(results.stream().map(Part.ToolResult::content))
                .satisfiesExactly(
                        three -> assertThat(three).isEqualTo("3"),
                        lost -> assertThat(lost).contains("tool-durability-error"),
                        four -> assertThat(four).isEqualTo("4"),
                        five -> assertThat(five).isEqualTo("5"));
        assertThatThrownBy(() -> read("[" + String.join(",", user, calls, first, second, first) + "]"))
                .isInstanceOf(CheckpointCorruption.class);
    }

    @Test
    void messages_storedRows_areReadBackUnchanged() {
        for (String text : List.of("{\"state\":{\"a\":1}}", "[1]", "\"x\"", "3", "", "{\"error\":1}", "{\"a\": 1.0}")) {
            CheckpointFixture fixture = replied(use("tu_1", "add")).with(finished("tu_1", text));
            Json stored = MessagesCheckpoint.of(fixture.state());

            assertThat(MessagesCheckpoint.of(resumed(read(stored)))).isEqualTo(stored);
            assertThat(nextModelCall(resumed(read(stored))).get(2).toolResults())
                    .containsExactly(new Part.ToolResult("tu_1", text, false));
        }
    }

    @Test
    void messages_oneCrash_losesNoSiblingsResult() {
        CheckpointFixture fixture =
                replied(use("tu_1", "add"), use("tu_2", "charge")).with(finished("tu_1", "3"));

        Conversation resumed = resumed(read(MessagesCheckpoint.of(fixture.state())));

        assertThat(nextModelCall(resumed).get(2).toolResults().get(0))
                .isEqualTo(new Part.ToolResult("tu_1", "3", false));
    }

    @Test
    void messages_failure_isWrappedOnWriteAndUnwrappedOnRead() {
        CheckpointFixture fixture = replied(use("tu_1", "add"))
                .with(
                        new ToolFact.ToolDispatched("tu_1", 1),
                        new ToolFact.ToolFinished("tu_1", 1, "Tool error: \"no\"", true));
        Json checkpoint = MessagesCheckpoint.of(fixture.state());

        assertThat(checkpoint.canonical()).contains("{\\\"error\\\":\\\"Tool error: \\\\\\\"no\\\\\\\"\\\"}");
        assertThat(nextModelCall(resumed(read(checkpoint))).get(2).toolResults())
                .containsExactly(new Part.ToolResult("tu_1", "Tool error: \"no\"", true));
    }

    // ---- session

    @Test
    void session_issuedCall_requestedAgain_isNotRun() {
        CheckpointFixture fixture = replied(use("tu_1", "charge")).with(new ToolFact.ToolDispatched("tu_1", 1));

        Conversation resumed = resumed(read(SessionCheckpoint.of(fixture.timeline())));

        assertThat(call(resumed, "tu_1").status()).isEqualTo(Call.Status.LOST);
    }

    @Test
    void session_issuedCallMissingInTheTranscript_requestedAgain_isUnknown() {
        Json session = SessionCheckpoint.of(replied(new Part.Text("Done.")).timeline());
        String row = "{\"session_id\": \"trip\", \"call_id\": \"tu_0\", \"tool_name\": \"charge\","
                + " \"args_json\": \"{}\", \"idempotency_key\": \""
                + IdempotencyKey.of("trip", "charge", Json.EMPTY_OBJECT, 0)
                + "\", \"status\": \"issued\", \"result_text\": null,"
                + " \"started_at\": \"2026-05-01T09:00:00+00:00\", \"completed_at\": null}";
        RestoredCheckpoint recovered =
                read(session.canonical().replace("\"tool_calls\": []", "\"tool_calls\": [" + row + "]"));

        Conversation again = Rules.apply(
                Rules.apply(resumed(recovered, "Again"), new ModelFact.ModelCalled(1), LATER),
                reply(1, use("tu_9", "charge")),
                LATER);

        assertThat(call(again, "tu_9").status()).isEqualTo(Call.Status.LOST);
    }

    @Test
    void session_reusedCallId_isRenamed() {
        CheckpointFixture fixture = replied(use("tu_1", "add"))
                .with(finished("tu_1", "3"))
                .with(
                        new ModelFact.ModelCalled(2),
                        reply(2, use("tu_1", "add")),
                        new ToolFact.ToolDispatched("tu_1~2", 1));

        assertThat(SessionCheckpoint.of(fixture.timeline()).canonical())
                .contains("\"call_id\": \"tu_1\"", "\"call_id\": \"tu_1~2\"");
    }

    @Test
    void session_spentBudget_isRestored() {
        String spent = SessionCheckpoint.of(replied(new Part.Text("Done.")).timeline())
                .canonical()
                .replace("\"budget_spent_usd\": 0.0", "\"budget_spent_usd\": 1.25");

        Json after = SessionCheckpoint.of(GeneratedThread.begunWith(resumed(read(spent)), "trip"));

        assertThat(after.canonical()).contains("\"budget_spent_usd\": 1.25");
    }

    @Test
    void session_emptyPlan_isAPlan() {
        String empty = SessionCheckpoint.of(replied(new Part.Text("Done.")).timeline())
                .canonical()
                .replace("\"plan\": null", "\"plan\": {}");

        assertThat(SessionCheckpoint.of(GeneratedThread.begunWith(resumed(read(empty)), "trip"))
                        .canonical())
                .contains("\"plan\": {\"goal\": \"\", \"steps\": []}");
    }

    @Test
    void session_key_equalsThatOfPython() {
        Json args = Json.of(Map.of("path", "/tmp/plan.txt", "content", "v1"));

        assertThat(IdempotencyKey.of("session-alpha", "write_file", args, 0))
                .isEqualTo("ee472b0c548a3e3b56b01f82e124b819ceb69a0df64a440190587628a6a9f37c");
    }

    @Test
    void session_unknownBlockKind_isCorrupt() {
        String session = SessionCheckpoint.of(replied(new Part.Text("Done.")).timeline())
                .canonical()
                .replaceFirst("\"kind\": \"text\"", "\"kind\": \"x\"");

        assertThatThrownBy(() -> read(session)).hasMessageContaining("unknown block kind: 'x'");
    }

    @Test
    void versions_withoutAMiddleOne_resumeFromTheNewest() {
        CheckpointFixture fixture = replied(use("tu_1", "add"))
                .with(finished("tu_1", "3"))
                .with(new ModelFact.ModelCalled(2), reply(2, use("tu_2", "add")))
                .with(finished("tu_2", "4"))
                .with(new ModelFact.ModelCalled(3), reply(3, new Part.Text("Done.")));
        List<Json> versions =
                new ArrayList<>(SessionCheckpoint.versions(fixture.timeline()).toList());
        versions.remove(1);

        assertThat(read(Json.of(versions)).state().turn().text()).isEqualTo("Done.");
    }
}
