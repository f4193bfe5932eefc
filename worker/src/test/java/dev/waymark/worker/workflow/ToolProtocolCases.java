package dev.waymark.worker.workflow;

import static org.assertj.core.api.Assertions.assertThat;

import dev.waymark.agent.AgentSpec;
import dev.waymark.connect.Connection;
import dev.waymark.contract.CarriedState;
import dev.waymark.contract.thread.StartInput;
import dev.waymark.conversation.Conversation;
import dev.waymark.conversation.Resumption;
import dev.waymark.conversation.call.Call;
import dev.waymark.conversation.decision.FileCalls;
import dev.waymark.conversation.decision.PendingItem;
import dev.waymark.conversation.fact.PersonFact;
import dev.waymark.conversation.fact.SignalNames;
import dev.waymark.conversation.fact.ToolFact;
import dev.waymark.conversation.message.Message;
import dev.waymark.conversation.message.Part;
import dev.waymark.conversation.message.Reply;
import dev.waymark.conversation.rule.Rules;
import dev.waymark.conversation.state.Turn;
import dev.waymark.conversation.value.Json;
import dev.waymark.model.ModelProvider;
import dev.waymark.tool.JavaTool;
import dev.waymark.tool.VerifyResult;
import io.temporal.api.enums.v1.EventType;
import java.io.InterruptedIOException;
import java.time.Duration;
import java.time.Instant;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicBoolean;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.parallel.Execution;
import org.junit.jupiter.api.parallel.ExecutionMode;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Tools with side effects, on any server. The tests mostly wait, so they run in parallel. */
@Execution(ExecutionMode.CONCURRENT)
abstract class ToolProtocolCases {
    abstract Connection connection();

    record Charge(int cents) {}

    /** The charges, in order. */
    private final ConcurrentLinkedQueue<Integer> ledger = new ConcurrentLinkedQueue<>();

    private JavaTool<Charge> charge() {
        return charging(ledger);
    }

    static JavaTool<Charge> charging(Collection<Integer> ledger) {
        return JavaTool.of("charge_card", "Charges the card", Charge.class, (args, context) -> {
            ledger.add(args.cents());
            return "charged " + args.cents();
        });
    }

    /** A tool that hangs in its first execution, before it takes effect, until its worker has ended. */
    static JavaTool<Charge> hangingOnce(Collection<Integer> ledger, CountDownLatch hangs) {
        AtomicBoolean first = new AtomicBoolean(true);
        return JavaTool.of("charge_card", "Charges the card", Charge.class, (args, context) -> {
                    if (first.getAndSet(false)) {
                        hangs.countDown();
                        new CountDownLatch(1).await();
                    }
                    ledger.add(args.cents());
                    return "charged " + args.cents();
                })
                .timeout(Duration.ofSeconds(1))
                .honoursKey()
                .verify((args, context) -> VerifyResult.notLanded());
    }

    static Part.ToolUse charge(String id, int cents) {
        return new Part.ToolUse(id, "charge_card", Json.of(Map.of("cents", cents)));
    }

    /** A model that makes these calls first, and then repeats their results. */
    static ModelProvider calling(Part... calls) {
        return request -> {
            List<Message> messages = request.messages();
            Message last = messages.get(messages.size() - 1);
            if (last.toolResults().isEmpty()) {
                return Reply.of(calls);
            }
            StringBuilder words = new StringBuilder();
            last.toolResults().forEach(result -> words.append(result.content()).append(';'));
            return Reply.of(new Part.Text(words.toString()));
        };
    }

    private static Call call(Conversation state, String id) {
        return state.calls().get(id).orElseThrow();
    }

    @Test
    void sideEffectingTool_isClaimedAndRunsOnce() {
        try (WorkflowRig rig = new WorkflowRig(connection(), calling(charge("tu_1", 5), charge("tu_2", 7)), charge())) {
            String thread = rig.start(StartInput.of("a").saying(PersonFact.UserSpoke.message("m-1", "Charge")));

            Conversation state = rig.awaitTurn(thread, 1);

            assertThat(state.turn().text()).isEqualTo("charged 5;charged 7;");
            assertThat(ledger).containsExactlyInAnyOrder(5, 7);
            assertThat(call(state, "tu_1"))
                    .returns(1, Call::dispatches)
                    .returns(true, call -> call.claim().isPresent());
            assertThat(rig.client().fetchHistory(thread).getEvents().stream()
                            .filter(event ->
                                    event.getEventType() == EventType.EVENT_TYPE_WORKFLOW_EXECUTION_UPDATE_ACCEPTED))
                    .hasSize(2);
        }
    }

    @Test
    void approval_editedArguments_areWhatRuns() {
        try (WorkflowRig rig = new WorkflowRig(connection(), calling(charge("tu_1", 5)), charge().approval())) {
            String thread = rig.start(StartInput.of("a").saying(PersonFact.UserSpoke.message("m-1", "Charge")));
            Conversation waiting = rig.awaitSettled(thread);
            assertThat(waiting.isInterrupted()).isTrue();
            assertThat(ledger).isEmpty();

            rig.update(
                    thread,
                    SignalNames.APPROVE,
                    Map.of(
                            "callId",
                            "tu_1",
                            "argsDigest",
                            call(waiting, "tu_1").argsDigest(),
                            "args",
                            Map.of("cents", 4),
                            "by",
                            "ann"));

            assertThat(rig.awaitTurn(thread, 1).turn().text()).isEqualTo("charged 4;");
            assertThat(ledger).containsExactly(4);
        }
    }

    @Test
    void approval_denied_neverRuns() {
        try (WorkflowRig rig = new WorkflowRig(connection(), calling(charge("tu_1", 5)), charge().approval())) {
            String thread = rig.start(StartInput.of("a").saying(PersonFact.UserSpoke.message("m-1", "Charge")));
            rig.awaitSettled(thread);

            rig.signalRaw(thread, SignalNames.DENY, List.of());

            Conversation state = rig.awaitTurn(thread, 1);
            assertThat(state.turn().text())
                    .isEqualTo("Tool execution denied by user. The charge_card tool was not executed.;");
            assertThat(call(state, "tu_1").status()).isEqualTo(Call.Status.DENIED);
            assertThat(ledger).isEmpty();
        }
    }

    /** The input of a thread that begins with a file with this call, which was never started. */
    private static StartInput ofFile(Part.ToolUse call, FileCalls allowed) {
        Instant at = Instant.parse("2026-05-01T09:00:00Z");
        Conversation file = Rules.restore(at, false)
                .say(Message.user("Charge"), Optional.empty(), at)
                .say(Message.assistant(call), Optional.empty(), at)
                .untouched()
                .restore();
        Resumption how =
                new Resumption("r", Optional.of("a"), Optional.empty(), Optional.empty(), false, Optional.empty());
        Conversation begin = Rules.resume(file, how.withFileCalls(allowed), at);
        return StartInput.of("a").carrying(new CarriedState(begin, Optional.empty()).pack());
    }

    @Test
    void callOfAFile_runsOnlyIfItIsApproved() {
        try (WorkflowRig rig = new WorkflowRig(connection(), calling(charge("tu_1", 5)), charge())) {
            String approved = rig.start(ofFile(charge("tu_1", 5), FileCalls.WAIT));
            String denied = rig.start(ofFile(charge("tu_1", 7), FileCalls.WAIT));
            String allowed = rig.start(ofFile(charge("tu_1", 9), FileCalls.CONTINUE));
            assertThat(rig.awaitTurn(allowed, 1).turn().text()).isEqualTo("charged 9;");
            for (String thread : List.of(approved, denied)) {
                Conversation waiting = rig.awaitSettled(thread);
                assertThat(waiting.asks()).singleElement().returns(true, PendingItem::fromFile);
            }
            assertThat(ledger).containsExactly(9);

            rig.update(approved, SignalNames.APPROVE, Map.of("callId", "tu_1", "by", "ann"));
            rig.signalRaw(denied, SignalNames.DENY, List.of());

            assertThat(rig.awaitTurn(approved, 1).turn().text()).isEqualTo("charged 5;");
            assertThat(rig.awaitTurn(denied, 1).turn().text()).contains("was not executed");
            assertThat(ledger).containsExactly(9, 5);
        }
    }

    @Test
    void invalidArguments_failBeforeApproval() {
        Part.ToolUse wrong = new Part.ToolUse("tu_1", "charge_card", Json.of(Map.of("cents", "many")));
        try (WorkflowRig rig = new WorkflowRig(connection(), calling(wrong), charge().approval())) {
            String thread = rig.start(StartInput.of("a").saying(PersonFact.UserSpoke.message("m-1", "Charge")));

            Conversation state = rig.awaitTurn(thread, 1);

            assertThat(state.turn().text()).startsWith("Invalid input for tool \"charge_card\": /cents");
            assertThat(call(state, "tu_1")).returns(0, Call::dispatches).returns(Call.Status.FAILED, Call::status);
        }
    }

    @Test
    @Tag("full")
    void workerLostAfterTheClaim_outcomeIsUnknownToTheModel() {
        CountDownLatch never = new CountDownLatch(1);
        JavaTool<Charge> hanging = JavaTool.of("charge_card", "Charges the card", Charge.class, (args, context) -> {
            ledger.add(args.cents());
            never.await();
            return "charged";
        });
        try (WorkflowRig rig = new WorkflowRig(connection(), calling(charge("tu_1", 5)), hanging)) {
            String thread = rig.start(StartInput.of("a").saying(PersonFact.UserSpoke.message("m-1", "Charge")));
            rig.await(thread, state -> !ledger.isEmpty());

            rig.replaceWorker();

            Conversation state = rig.awaitTurn(thread, 1);
            assertThat(call(state, "tu_1").status()).isEqualTo(Call.Status.LOST);
            assertThat(state.turn().text())
                    .contains("\"kind\":\"tool-durability-error\",\"toolName\":\"charge_card\",\"toolCallId\":\"tu_1\"")
                    .contains("The call had been claimed for execution at");
            assertThat(ledger).containsExactly(5);
        }
    }

    @Test
    @Tag("full")
    void workerLostBeforeTheEffect_verified_runsAgainAfterTheFence() throws Exception {
        CountDownLatch hangs = new CountDownLatch(1);
        try (WorkflowRig rig = new WorkflowRig(connection(), calling(charge("tu_1", 5)), hangingOnce(ledger, hangs))) {
            String thread = rig.start(StartInput.of("a").saying(PersonFact.UserSpoke.message("m-1", "Charge")));
            hangs.await();

            rig.replaceWorker();

            Conversation state = rig.awaitTurn(thread, 1);
            assertThat(state.turn().text()).isEqualTo("charged 5;");
            assertThat(call(state, "tu_1")).returns(2, Call::dispatches).returns(0, Call::repeat);
            assertThat(ledger).containsExactly(5);
            Instant claimed = at(rig, thread, "tool-claimed");
            assertThat(at(rig, thread, "verify-dispatched")).isAfterOrEqualTo(claimed.plusSeconds(6));
        }
    }

    private static Instant at(WorkflowRig rig, String thread, String fact) {
        return rig.timeline(thread).moments().stream()
                .filter(moment ->
                        moment.fact().filter(each -> each.type().equals(fact)).isPresent())
                .findFirst()
                .orElseThrow()
                .at();
    }

    /**
     * A tool that throws another exception when it is interrupted, like libraries that do not use InterruptedException.
     */
    private static JavaTool<Charge> complainingOfInterruptions(Collection<String> keys, CountDownLatch runs) {
        return JavaTool.of("charge_card", "Charges the card", Charge.class, (args, context) -> {
            keys.add(context.idempotencyKey());
            if (keys.size() > 1) {
                return "charged " + args.cents();
            }
            runs.countDown();
            try {
                new CountDownLatch(1).await();
            } catch (InterruptedException e) {
                throw new InterruptedIOException("interrupted");
            }
            return "never";
        });
    }

    /** A model that repeats the same call under another id until it has made {@code calls} of them. */
    private static ModelProvider twice(int calls) {
        return request -> {
            long made = request.messages().stream()
                    .filter(message -> !message.toolUses().isEmpty())
                    .count();
            return made < calls ? Reply.of(charge("tu_" + made, 5)) : Reply.of(new Part.Text("done"));
        };
    }

    @Test
    void timeout_withAnyException_isUnknownAndKeepsItsKey() {
        List<String> keys = new CopyOnWriteArrayList<>();
        JavaTool<Charge> tool =
                complainingOfInterruptions(keys, new CountDownLatch(1)).timeout(Duration.ofSeconds(1));
        try (WorkflowRig rig = new WorkflowRig(connection(), twice(2), tool)) {
            String thread = rig.start(StartInput.of("a").saying(PersonFact.UserSpoke.message("m-1", "Charge")));

            Conversation state = rig.awaitTurn(thread, 1);

            assertThat(call(state, "tu_0").status()).isEqualTo(Call.Status.LOST);
            assertThat(call(state, "tu_1").status()).isEqualTo(Call.Status.COMPLETED);
            assertThat(keys).hasSize(2).containsOnly(keys.get(0));
        }
    }

    @Test
    void stop_withAnyException_nextCallKeepsTheKey() throws Exception {
        List<String> keys = new CopyOnWriteArrayList<>();
        CountDownLatch runs = new CountDownLatch(1);
        try (WorkflowRig rig = new WorkflowRig(connection(), twice(2), complainingOfInterruptions(keys, runs))) {
            String thread = rig.start(StartInput.of("a").saying(PersonFact.UserSpoke.message("m-1", "Charge")));
            runs.await();
            rig.update(thread, SignalNames.STOP, Map.of());
            rig.awaitTimeline(
                    thread,
                    timeline -> timeline.moments().stream()
                            .anyMatch(moment -> moment.fact()
                                    .filter(ToolFact.ToolLost.class::isInstance)
                                    .isPresent()));

            rig.update(thread, SignalNames.SAY, Map.of("content", "Again"));

            assertThat(call(rig.awaitTurn(thread, 2), "tu_1").status()).isEqualTo(Call.Status.COMPLETED);
            assertThat(keys).hasSize(2).containsOnly(keys.get(0));
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"\"charged by hand\"", ""})
    @Tag("full")
    void activityCompletedByHand_withoutAnOutcome_isUnknown(String result) throws Exception {
        CountDownLatch runs = new CountDownLatch(1);
        JavaTool<Charge> tool = complainingOfInterruptions(new CopyOnWriteArrayList<>(), runs);
        try (WorkflowRig rig = new WorkflowRig(connection(), twice(1), tool)) {
            String thread = rig.start(StartInput.of("a").saying(PersonFact.UserSpoke.message("m-1", "Charge")));
            runs.await();
            rig.completeByHand(thread, result);

            Conversation state = rig.awaitTurn(thread, 1);

            assertThat(call(state, "tu_0").status()).isEqualTo(Call.Status.LOST);
            assertThat(state.turn().text()).isEqualTo("done");
        }
    }

    @Test
    void approval_undecidedInTime_isDenied() {
        AgentSpec.Approvals hasty = new AgentSpec.Approvals(false, Optional.of(Duration.ofSeconds(1)));
        try (WorkflowRig rig = new WorkflowRig(connection(), calling(charge("tu_1", 5)), charge().approval())
                .with(agent -> agent.approvals(hasty))) {
            String thread = rig.start(StartInput.of("a").saying(PersonFact.UserSpoke.message("m-1", "Charge")));

            Conversation state = rig.awaitTurn(thread, 1);

            assertThat(state.turn().text())
                    .isEqualTo(
                            "Tool execution denied. Nobody decided in time. The charge_card tool was not executed.;");
            assertThat(ledger).isEmpty();
        }
    }

    @Test
    void approval_withoutApprovers_isDeniedAtOnce() {
        AgentSpec.Approvals nobody = new AgentSpec.Approvals(true, Optional.empty());
        try (WorkflowRig rig = new WorkflowRig(connection(), calling(charge("tu_1", 5)), charge().approval())
                .with(agent -> agent.approvals(nobody))) {
            String thread = rig.start(StartInput.of("a").saying(PersonFact.UserSpoke.message("m-1", "Charge")));

            assertThat(rig.awaitTurn(thread, 1).turn().text())
                    .isEqualTo("Tool execution denied. No approval callback provided."
                            + " The charge_card tool was not executed.;");
            assertThat(ledger).isEmpty();
        }
    }

    @Test
    void stateTools_changeTheThreadWithoutEvents() {
        Part.ToolUse write =
                new Part.ToolUse("tu_1", "write_file", Json.of(Map.of("path", "notes/a.md", "content", "Hello")));
        Part.ToolUse read = new Part.ToolUse("tu_2", "read_file", Json.of(Map.of("path", "notes/a.md")));
        try (WorkflowRig rig = new WorkflowRig(connection(), calling(write, read), charge())) {
            String thread = rig.start(StartInput.of("a").saying(PersonFact.UserSpoke.message("m-1", "Write")));

            Conversation state = rig.awaitTurn(thread, 1);

            assertThat(state.turn().text()).isEqualTo("Wrote notes/a.md.;Hello;");
            assertThat(state.turn().status()).isEqualTo(Turn.Status.COMPLETE);
            assertThat(rig.client().fetchHistory(thread).getEvents().stream()
                            .filter(event -> event.getEventType() == EventType.EVENT_TYPE_ACTIVITY_TASK_SCHEDULED))
                    .hasSize(3);
        }
    }
}
