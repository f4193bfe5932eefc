package dev.waymark.worker.workflow;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowable;

import dev.waymark.connect.Connection;
import dev.waymark.contract.PayloadJson;
import dev.waymark.contract.RunLimits;
import dev.waymark.contract.thread.StartInput;
import dev.waymark.conversation.Conversation;
import dev.waymark.conversation.call.Call;
import dev.waymark.conversation.call.Parent;
import dev.waymark.conversation.decision.PendingItem;
import dev.waymark.conversation.fact.PersonFact;
import dev.waymark.conversation.fact.SignalNames;
import dev.waymark.conversation.message.Message;
import dev.waymark.conversation.message.Part;
import dev.waymark.conversation.message.Reply;
import dev.waymark.conversation.state.ThreadIdentity;
import dev.waymark.conversation.state.Turn;
import dev.waymark.conversation.value.Budget;
import dev.waymark.conversation.value.Json;
import dev.waymark.conversation.value.Usage;
import dev.waymark.model.ModelProvider;
import dev.waymark.model.ModelRequest;
import dev.waymark.tool.JavaTool;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** Tests of a thread and its subagents' threads that apply to every server. */
abstract class SubagentCases {
    abstract Connection connection();

    /**
     * A model for a boss and its subagents. The boss gives its tasks in one reply, and each subagent does what its task
     * says.
     */
    static ModelProvider boss(Part... firstReply) {
        return request -> {
            List<Message> messages = request.messages();
            Message last = messages.get(messages.size() - 1);
            String first = messages.get(0).text();
            if (first.equals("Go")) {
                return last.toolResults().isEmpty()
                        ? used(10, firstReply)
                        : used(10, new Part.Text("All told: " + results(last)));
            }
            return task(first, last, request);
        };
    }

    private static Reply task(String task, Message last, ModelRequest request) {
        if (task.startsWith("loop")) {
            return used(100, new Part.Text("round"), new Part.ToolUse("tu_l", "ls", Json.EMPTY_OBJECT));
        }
        if (!last.toolResults().isEmpty()) {
            return used(100, new Part.Text(task + " gave " + results(last)));
        }
        if (task.startsWith("ask ")) {
            return used(100, AgentWorkflowCases.ask("tu_1", task.substring(4)));
        }
        if (task.startsWith("charge ")) {
            return used(100, ToolProtocolCases.charge("tu_1", Integer.parseInt(task.substring(7))));
        }
        if (task.startsWith("delegate ")) {
            return used(
                    100,
                    task("tu_d", request.tools().get(request.tools().size() - 1).name(), task.substring(9)));
        }
        return used(100, new Part.Text("found " + task));
    }

    static Part.ToolUse task(String id, String agent, String task) {
        return new Part.ToolUse(id, agent, Json.of(Map.of("task", task)));
    }

    private static Reply used(int tokens, Part... parts) {
        return new Reply(List.of(parts), new Usage(tokens, 1), "end_turn");
    }

    private static String results(Message message) {
        return message.toolResults().stream()
                .map(Part.ToolResult::content)
                .toList()
                .toString();
    }

    static StartInput go(RunLimits limits) {
        return StartInput.of("boss").withLimits(limits).saying(PersonFact.UserSpoke.message("m-1", "Go"));
    }

    static StartInput go() {
        return go(RunLimits.DEFAULT);
    }

    private static Call call(Conversation state, String id) {
        return state.calls().get(id).orElseThrow();
    }

    @Test
    void twoSubagents_atOnce_answerInCallOrderAndCount() {
        ModelProvider model = boss(task("tu_7", "scout", "a"), task("tu_8", "scout", "b"));
        try (WorkflowRig rig = new WorkflowRig(connection(), model).withSubagents("boss", "scout")) {
            String thread = rig.start(go());

            Conversation state = rig.awaitTurn(thread, 1);

            assertThat(state.turn().text()).isEqualTo("All told: [found a, found b]");
            assertThat(state.usage()).isEqualTo(new Usage(220, 4));
            assertThat(state.turn().usage()).isEqualTo(new Usage(220, 4));
            assertThat(state.turn().iterations()).isEqualTo(2);
            Conversation child = rig.timeline(rig.adopt(thread + "/tu_7")).now();
            assertThat(child.turn().text()).isEqualTo("found a");
            rig.adopt(thread + "/tu_8");
        }
    }

    @Test
    void questionOfASubagent_isAnsweredThroughTheParent() {
        ModelProvider model = boss(task("tu_7", "scout", "ask Which day?"));
        try (WorkflowRig rig = new WorkflowRig(connection(), model).withSubagents("boss", "scout")) {
            String thread = rig.start(go());
            rig.adopt(thread + "/tu_7");
            Conversation waiting = rig.await(thread, Conversation::isInterrupted);
            List<PendingItem> pending = waiting.pending(thread);
            assertThat(pending).extracting(PendingItem::callId).containsExactly("tu_7/tu_1");
            assertThat(pending).extracting(PendingItem::words).containsExactly("Which day?");
            assertThat(waiting.usage()).isEqualTo(new Usage(110, 2));

            rig.update(thread, SignalNames.ANSWER, Map.of("callId", "tu_7/tu_1", "answer", "Friday"));

            Conversation state = rig.awaitTurn(thread, 1);
            assertThat(state.turn().text()).isEqualTo("All told: [ask Which day? gave [Friday]]");
            assertThat(state.usage()).isEqualTo(new Usage(220, 4));
            assertThat(state.ignored().count()).isZero();
        }
    }

    @Test
    void questionTwoLevelsBelow_isAnsweredWithoutNamingTheThread() {
        ModelProvider model = boss(task("tu_7", "scout", "delegate ask Which day?"));
        try (WorkflowRig rig = new WorkflowRig(connection(), model)
                .withSubagents("boss", "scout")
                .withSubagents("scout", "deep")) {
            String thread = rig.start(go());
            rig.adopt(rig.adopt(thread + "/tu_7") + "/tu_d");
            Conversation waiting = rig.await(thread, Conversation::isInterrupted);
            assertThat(waiting.pending(thread)).extracting(PendingItem::callId).containsExactly("tu_7/tu_d/tu_1");

            rig.stub(thread).signal(SignalNames.ANSWER, "Friday");

            Conversation state = rig.awaitTurn(thread, 1);
            assertThat(state.turn().text()).contains("Friday");
            assertThat(state.usage()).isEqualTo(new Usage(420, 6));
        }
    }

    @Test
    void approvalInASubagent_isBoundToItsArguments() {
        ConcurrentLinkedQueue<Integer> ledger = new ConcurrentLinkedQueue<>();
        ModelProvider model = boss(task("tu_7", "scout", "charge 500"));
        JavaTool<?> charge = ToolProtocolCases.charging(ledger).approval();
        try (WorkflowRig rig = new WorkflowRig(connection(), model, charge).withSubagents("boss", "scout")) {
            String thread = rig.start(go());
            rig.adopt(thread + "/tu_7");
            Conversation waiting = rig.await(thread, Conversation::isInterrupted);
            PendingItem item = waiting.pending(thread).get(0);
            assertThat(item.kind()).isEqualTo(PendingItem.Kind.APPROVAL);
            assertThat(item.args()).contains(Json.of(Map.of("cents", 500)));

            Throwable refused = catchThrowable(() -> rig.update(
                    thread, SignalNames.APPROVE, Map.of("callId", item.callId(), "argsDigest", "0".repeat(64))));
            assertThat(AgentWorkflowCases.rootMessage(refused)).contains("other arguments");
            rig.update(
                    thread,
                    SignalNames.APPROVE,
                    Map.of(
                            "callId",
                            item.callId(),
                            "argsDigest",
                            item.argsDigest().orElseThrow(),
                            "by",
                            "ann"));

            rig.awaitTurn(thread, 1);
            assertThat(ledger).containsExactly(500);
            Call approved = call(rig.timeline(thread + "/tu_7").now(), "tu_1");
            assertThat(approved.approval().orElseThrow().by()).contains("ann");
            Throwable again =
                    catchThrowable(() -> rig.update(thread, SignalNames.APPROVE, Map.of("callId", item.callId())));
            assertThat(AgentWorkflowCases.rootMessage(again)).contains("not open any more");
        }
    }

    @Test
    void limitInASubagent_isAnErrorWithTheLastReply() {
        ModelProvider model = boss(task("tu_7", "scout", "loop"));
        try (WorkflowRig rig = new WorkflowRig(connection(), model).withSubagents("boss", "scout")) {
            String thread = rig.start(go());
            rig.adopt(thread + "/tu_7");

            Conversation state = rig.awaitTurn(thread, 1);

            assertThat(call(state, "tu_7").status()).isEqualTo(Call.Status.FAILED);
            assertThat(state.turn().text()).contains("the subagent scout ended as max-iterations", "round");
        }
    }

    @Test
    void stopOfTheParent_cancelsItsSubagents() {
        ModelProvider model = boss(task("tu_7", "scout", "ask Which day?"), task("tu_8", "scout", "ask Where?"));
        try (WorkflowRig rig = new WorkflowRig(connection(), model).withSubagents("boss", "scout")) {
            String thread = rig.start(go());
            rig.adopt(thread + "/tu_7");
            rig.adopt(thread + "/tu_8");
            rig.await(thread, now -> now.isInterrupted() && now.asks().size() == 2);

            rig.update(thread, SignalNames.STOP, Map.of("by", "ann"));

            Conversation state = rig.awaitTurn(thread, 1);
            assertThat(state.turn().status()).isEqualTo(Turn.Status.STOPPED);
            for (String child : List.of("/tu_7", "/tu_8")) {
                Conversation below = rig.await(thread + child, now -> now.life() == ThreadIdentity.Life.CANCELLED);
                assertThat(below.turn().status()).isEqualTo(Turn.Status.CANCELLED);
                rig.awaitTimeline(thread + child, line -> line.ending().isPresent());
            }
            Conversation after = rig.await(
                    thread, now -> call(now, "tu_7").subagent().orElseThrow().over());
            assertThat(after.usage()).isEqualTo(new Usage(210, 3));
        }
    }

    @Test
    void cancellationOfTheParent_waitsForItsSubagents() {
        ModelProvider model = boss(task("tu_7", "scout", "delegate ask Which day?"));
        try (WorkflowRig rig = new WorkflowRig(connection(), model)
                .withSubagents("boss", "scout")
                .withSubagents("scout", "deep")) {
            String thread = rig.start(go());
            rig.adopt(rig.adopt(thread + "/tu_7") + "/tu_d");
            rig.await(thread, Conversation::isInterrupted);

            rig.stub(thread).cancel();

            rig.awaitTimeline(thread, line -> line.ending().isPresent());
            for (String child : List.of("/tu_7", "/tu_7/tu_d")) {
                assertThat(rig.timeline(thread + child).ending()).isPresent();
                assertThat(rig.timeline(thread + child).now().turn().status()).isEqualTo(Turn.Status.CANCELLED);
            }
            assertThat(rig.timeline(thread).now().usage()).isEqualTo(new Usage(210, 3));
        }
    }

    @Test
    void subagentCancelledByHand_isAnErrorInTheParent() {
        ModelProvider model = boss(task("tu_7", "scout", "ask Which day?"));
        try (WorkflowRig rig = new WorkflowRig(connection(), model).withSubagents("boss", "scout")) {
            String thread = rig.start(go());
            rig.adopt(thread + "/tu_7");
            rig.await(thread, Conversation::isInterrupted);

            rig.stub(thread + "/tu_7").cancel();

            assertThat(rig.awaitTurn(thread, 1).turn().text()).contains("the subagent scout ended as cancelled");
        }
    }

    @Test
    void nextRuns_ofParentAndSubagents_waitForSubagents() {
        CountDownLatch gate = new CountDownLatch(1);
        ModelProvider boss = boss(task("tu_7", "scout", "slow"));
        ModelProvider model = request -> {
            if (request.messages().get(0).text().equals("slow")) {
                gate.await(60, TimeUnit.SECONDS);
            }
            return boss.reply(request);
        };
        try (WorkflowRig rig = new WorkflowRig(connection(), model).withSubagents("boss", "scout")) {
            String thread = rig.start(go(RunLimits.DEFAULT.withSoftEvents(8)));
            rig.adopt(thread + "/tu_7");
            rig.await(thread, Conversation::hasSubagents);
            rig.update(thread, SignalNames.SAY, Map.of("id", "m-2", "content", "And?"));
            gate.countDown();

            Conversation state = rig.awaitTurn(thread, 1);

            assertThat(call(state, "tu_7").status()).isEqualTo(Call.Status.COMPLETED);
            assertThat(ContinueAsNewCases.runs(rig.timeline(thread))).hasSizeGreaterThan(1);
        }
    }

    /** A thread's parent is the parent of all its runs. */
    @Test
    void question_ofAThreadInALaterRun_isAnsweredThroughTheParent() {
        ModelProvider model = boss(task("tu_7", "scout", "ask Which day?"));
        try (WorkflowRig rig = new WorkflowRig(connection(), model).withSubagents("boss", "scout")) {
            String thread = rig.start(go(RunLimits.DEFAULT.withSoftEvents(8)));
            rig.adopt(thread + "/tu_7");
            rig.await(thread, Conversation::isInterrupted);

            rig.update(thread, SignalNames.ANSWER, Map.of("answer", "Friday"));

            assertThat(rig.awaitTurn(thread, 1).turn().text()).contains("Friday");
            assertThat(ContinueAsNewCases.runs(rig.timeline(thread + "/tu_7"))).hasSizeGreaterThan(1);
        }
    }

    @Test
    void context_ofTheParent_overridesThatOfTheAgent() {
        ModelProvider model = boss(task("tu_7", "scout", "look"));
        Json files = Json.of(Map.of("tenant", "none", "plan", "gold"));
        try (WorkflowRig rig = new WorkflowRig(connection(), model)
                .withSubagents("boss", "scout")
                .with(agent -> agent.context(files))) {
            String thread =
                    rig.start(go().withContext(Optional.of(PayloadJson.MAPPER.valueToTree(Map.of("tenant", "acme")))));
            rig.adopt(thread + "/tu_7");

            rig.awaitTurn(thread, 1);

            assertThat(rig.timeline(thread + "/tu_7").now().context())
                    .contains(Json.of(Map.of("tenant", "acme", "plan", "gold")));
        }
    }

    /**
     * The Web UI offers to start a workflow like an existing one, so a subagent's input can start a thread without a
     * parent.
     */
    @Test
    void inputOfASubagent_startedByHand_reportsToNoParent() {
        StartInput input = StartInput.ofSubagent(
                "scout",
                "ask Which day?",
                Optional.empty(),
                new Parent("tu_7", 1, Optional.empty()),
                Optional.of(RunLimits.DEFAULT),
                Optional.empty());
        try (WorkflowRig rig = new WorkflowRig(connection(), boss())) {
            String thread = rig.start(input);
            rig.await(thread, Conversation::isInterrupted);

            rig.update(thread, SignalNames.ANSWER, Map.of("answer", "Friday"));

            assertThat(rig.awaitTurn(thread, 1).turn().text()).contains("Friday");
        }
    }

    @Test
    void hardLimit_openSubagent_isCutOffBeforeTheNextRun() {
        ModelProvider model = boss(task("tu_7", "scout", "ask Which day?"));
        try (WorkflowRig rig = new WorkflowRig(connection(), model).withSubagents("boss", "scout")) {
            String thread = rig.start(go(RunLimits.DEFAULT.withHardEvents(26)));
            rig.adopt(thread + "/tu_7");
            rig.await(thread, Conversation::isInterrupted);
            rig.stub(thread).signal(SignalNames.ANSWER, Map.of("callId", "tu_9", "answer", "One more event"));

            Conversation state = rig.awaitTurn(thread, 1);

            assertThat(call(state, "tu_7").status()).isEqualTo(Call.Status.FAILED);
            assertThat(state.turn().text()).contains("the subagent scout ended as cancelled: this run can't grow");
            assertThat(state.usage()).isEqualTo(new Usage(120, 3));
            Conversation below = rig.timeline(thread + "/tu_7").now();
            assertThat(below.turn().status()).isEqualTo(Turn.Status.CANCELLED);
            assertThat(ContinueAsNewCases.runs(rig.timeline(thread))).hasSizeGreaterThan(1);
        }
    }

    @Test
    void threadOfThatName_exists_isADurabilityError() {
        ModelProvider model = boss(task("tu_7", "scout", "a"));
        try (WorkflowRig rig = new WorkflowRig(connection(), model).withSubagents("boss", "scout")) {
            String thread = rig.startAbove(
                    "tu_7", StartInput.of("scout").saying(PersonFact.UserSpoke.message("m-1", "ask Who?")), go());

            Conversation state = rig.awaitTurn(thread, 1);

            assertThat(call(state, "tu_7").status()).isEqualTo(Call.Status.LOST);
            assertThat(state.turn().text()).contains("tool-durability-error");
            assertThat(rig.timeline(thread + "/tu_7").now().isInterrupted()).isTrue();
        }
    }

    @Test
    void callId_tooLongForAThread_isAnError() {
        ModelProvider model =
                boss(task("x".repeat(900), "scout", "a"), task("a/b", "scout", "a"), task("tu_8", "scout", " "));
        try (WorkflowRig rig = new WorkflowRig(connection(), model).withSubagents("boss", "scout")) {
            String thread = rig.start(go());

            Conversation state = rig.awaitTurn(thread, 1);

            assertThat(state.turn().text()).contains("more than 900 bytes", "has a slash", "\"task\" is required");
        }
    }

    @Test
    void budget_isSharedAmongSubagentsAndHardlyExceeded() {
        ModelProvider model = boss(task("tu_7", "scout", "loop"), task("tu_8", "scout", "loop"));
        Budget tokens = new Budget(Optional.empty(), Optional.of(500L));
        try (WorkflowRig rig = new WorkflowRig(connection(), model)
                .withSubagents("boss", "scout")
                .with(agent -> agent.budget(tokens).maxIterations(20))) {
            String thread = rig.start(go());
            rig.adopt(thread + "/tu_7");
            rig.adopt(thread + "/tu_8");

            Conversation state = rig.awaitTurn(thread, 1);

            // 489 tokens are left for two subagents, and each reply takes 101. Each subagent replies three times: its
            // third reply exceeds its share.
            for (String child : List.of("/tu_7", "/tu_8")) {
                Conversation below = rig.timeline(thread + child).now();
                assertThat(below.limits().tokens()).contains(244L);
                assertThat(below.turn().status()).isEqualTo(Turn.Status.BUDGET);
                assertThat(below.usage()).isEqualTo(new Usage(300, 3));
            }
            assertThat(call(state, "tu_7").status()).isEqualTo(Call.Status.FAILED);
            assertThat(state.turn().status()).isEqualTo(Turn.Status.BUDGET);
            assertThat(state.usage()).isEqualTo(new Usage(610, 7));
        }
    }

    @Test
    void budget_ofTheRoot_endsALoopTwoLevelsBelow() {
        ModelProvider model = boss(task("tu_7", "scout", "delegate loop"));
        Budget tokens = new Budget(Optional.empty(), Optional.of(500L));
        try (WorkflowRig rig = new WorkflowRig(connection(), model)
                .withSubagents("boss", "scout")
                .withSubagents("scout", "deep")
                .with(agent -> agent.budget(tokens).maxIterations(20))) {
            String thread = rig.start(go());
            rig.adopt(rig.adopt(thread + "/tu_7") + "/tu_d");

            Conversation state = rig.awaitTurn(thread, 1);

            // The boss takes 11 tokens and the scout 101, which leaves 388 for the loop. The loop replies four times.
            assertThat(rig.timeline(thread + "/tu_7/tu_d").now().limits().tokens())
                    .contains(388L);
            assertThat(state.usage()).isEqualTo(new Usage(510, 6));
            assertThat(rig.timeline(thread + "/tu_7").now().turn().status()).isEqualTo(Turn.Status.BUDGET);
            assertThat(state.turn().status()).isEqualTo(Turn.Status.BUDGET);
        }
    }

    /**
     * The subagent's thread has ended and keeps what it said and spent. The additional budget is for subagents that
     * start later.
     */
    @Test
    void budget_raisedAfterASubagentStopped_isForTheNextOne() {
        Part[] more = {task("tu_8", "scout", "a")};
        ModelProvider boss = boss(task("tu_7", "scout", "loop"));
        ModelProvider model = request -> {
            List<Message> messages = request.messages();
            boolean stopped = messages.get(messages.size() - 1).toolResults().stream()
                    .anyMatch(result -> result.content().contains("scout ended as budget"));
            return stopped ? used(10, more) : boss.reply(request);
        };
        Budget tokens = new Budget(Optional.empty(), Optional.of(500L));
        try (WorkflowRig rig = new WorkflowRig(connection(), model)
                .withSubagents("boss", "scout")
                .with(agent -> agent.budget(tokens).maxIterations(20))) {
            String thread = rig.start(go());
            rig.adopt(thread + "/tu_7");
            assertThat(rig.awaitTurn(thread, 1).turn().status()).isEqualTo(Turn.Status.BUDGET);

            rig.update(thread, SignalNames.BUDGET, Map.of("tokens", 1_000));

            Conversation state = rig.await(thread, now -> now.turn().status() == Turn.Status.COMPLETE);
            assertThat(state.turn().text()).isEqualTo("All told: [found a]");
            // 516 tokens were spent, and 11 more for the reply that gives the next task.
            assertThat(rig.timeline(rig.adopt(thread + "/tu_8"))
                            .now()
                            .parent()
                            .flatMap(Parent::budget)
                            .flatMap(Budget::tokens))
                    .contains(473L);
        }
    }

    @Test
    @Tag("full")
    void workerLost_whileASubagentsToolRuns_chargesOnce() throws Exception {
        ConcurrentLinkedQueue<Integer> ledger = new ConcurrentLinkedQueue<>();
        CountDownLatch hangs = new CountDownLatch(1);
        ModelProvider model = boss(task("tu_7", "scout", "charge 500"));
        try (WorkflowRig rig = new WorkflowRig(connection(), model, ToolProtocolCases.hangingOnce(ledger, hangs))
                .withSubagents("boss", "scout")) {
            String thread = rig.start(go());
            rig.adopt(thread + "/tu_7");
            hangs.await();
            rig.replaceWorker();

            Conversation state = rig.awaitTurn(thread, 1);

            assertThat(ledger).containsExactly(500);
            assertThat(state.turn().text()).contains("charged 500");
        }
    }

    @Test
    void hostileOrLateReports_areVisiblyIgnored() {
        ModelProvider model = boss(task("tu_7", "scout", "ask Which day?"));
        try (WorkflowRig rig = new WorkflowRig(connection(), model).withSubagents("boss", "scout")) {
            String thread = rig.start(go());
            rig.adopt(thread + "/tu_7");
            rig.await(thread, Conversation::isInterrupted);
            List<String> hostile = List.of(
                    "{",
                    "{}",
                    "{\"callId\": \"tu_7\"}",
                    "{\"callId\": \"tu_7\", \"report\": {\"asks\": null, \"usage\": null}}",
                    "{\"callId\": \"tu_9\", \"report\": {\"waiting\": true, \"asks\": [],"
                            + " \"usage\": {\"inputTokens\": 1, \"outputTokens\": 1}}}");

            for (String body : hostile) {
                rig.signalRaw(thread, SignalNames.SUBAGENT, List.of(HostileSignalCases.json(body)));
            }

            Conversation state = rig.await(thread, now -> now.ignored().count() == hostile.size());
            assertThat(state.isInterrupted()).isTrue();
            rig.update(thread, SignalNames.ANSWER, Map.of("answer", "Friday"));
            assertThat(rig.awaitTurn(thread, 1).turn().text()).contains("Friday");
        }
    }
}
