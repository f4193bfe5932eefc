package dev.waymark.worker.workflow;

import static org.assertj.core.api.Assertions.assertThat;

import dev.waymark.agent.ToolSpec;
import dev.waymark.connect.Connection;
import dev.waymark.contract.WireNames;
import dev.waymark.contract.thread.StartInput;
import dev.waymark.contract.work.ModelInput;
import dev.waymark.conversation.Conversation;
import dev.waymark.conversation.call.Call;
import dev.waymark.conversation.fact.Fact;
import dev.waymark.conversation.fact.PersonFact;
import dev.waymark.conversation.fact.SignalNames;
import dev.waymark.conversation.message.Message;
import dev.waymark.conversation.message.Part;
import dev.waymark.conversation.message.Reply;
import dev.waymark.conversation.message.Role;
import dev.waymark.conversation.state.Turn;
import dev.waymark.conversation.value.Json;
import dev.waymark.conversation.value.Usage;
import dev.waymark.model.ModelProvider;
import dev.waymark.timeline.Moment;
import dev.waymark.timeline.Timeline;
import dev.waymark.tool.InterruptException;
import dev.waymark.tool.Tool;
import dev.waymark.tool.ToolContext;
import io.temporal.api.history.v1.HistoryEvent;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.function.UnaryOperator;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

/** Steps whose calls run in the activity that called the model. */
class FusedStepTest {
    private static final Usage USAGE = new Usage(10, 5);

    private final List<String> ran = new CopyOnWriteArrayList<>();

    private static Connection connection() {
        return TestServers.inMemory();
    }

    private interface Body {
        String run(Json args) throws Exception;
    }

    private Tool tool(String name, UnaryOperator<ToolSpec.Builder> change, Body body) {
        ToolSpec spec = change.apply(ToolSpec.java(name).describedAs("Looks.", Json.of(Map.of("type", "object"))))
                .build();
        return new Tool() {
            @Override
            public ToolSpec spec() {
                return spec;
            }

            @Override
            public String run(Json args, ToolContext context) throws Exception {
                ran.add(name);
                return body.run(args);
            }
        };
    }

    private Tool safe(String name, Body body) {
        return tool(name, ToolSpec.Builder::safeToRetry, body);
    }

    private static Part call(String id, String tool) {
        return new Part.ToolUse(id, tool, Json.EMPTY_OBJECT);
    }

    /** A model that makes these calls, and then says what they returned. */
    private static ModelProvider calling(Part... calls) {
        return request -> {
            Message last = request.messages().get(request.messages().size() - 1);
            return new Reply(
                    last.toolResults().isEmpty()
                            ? List.of(calls)
                            : List.of(new Part.Text(String.join(
                                    ", ",
                                    last.toolResults().stream()
                                            .map(Part.ToolResult::content)
                                            .toList()))),
                    USAGE,
                    "");
        };
    }

    private static StartInput hello() {
        return StartInput.of("a").saying(PersonFact.UserSpoke.message("m-1", "Hello"));
    }

    /** The types of the activities in a thread's history. */
    private static List<String> activities(WorkflowRig rig, String thread) {
        return rig.client().fetchHistory(thread).getEvents().stream()
                .filter(HistoryEvent::hasActivityTaskScheduledEventAttributes)
                .map(event -> event.getActivityTaskScheduledEventAttributes()
                        .getActivityType()
                        .getName())
                .toList();
    }

    private static List<String> words(Timeline timeline) {
        List<String> words = new ArrayList<>();
        for (Moment moment : timeline.moments()) {
            String place = moment.place().toString();
            words.add(place.substring(place.contains(".") ? place.indexOf('.') : place.length())
                    + moment.fact().map(Fact::type).orElse(""));
        }
        return words;
    }

    @Test
    void safeCalls_runWithTheModelCallAsFactsOfOneEvent() {
        try (WorkflowRig rig = new WorkflowRig(
                connection(),
                calling(call("tu_1", "look"), call("tu_2", "listen")),
                safe("look", args -> "red"),
                safe("listen", args -> "loud"))) {
            String thread = rig.start(hello());

            Conversation state = rig.awaitTurn(thread, 1);
            assertThat(state.turn().text()).isEqualTo("red, loud");
            assertThat(activities(rig, thread))
                    .containsExactly(WireNames.AGENT_ACTIVITY, WireNames.MODEL_ACTIVITY, WireNames.MODEL_ACTIVITY);
            // A moment is listed when its workflow task has ended, which may be later than the turn.
            Timeline timeline = rig.awaitTimeline(thread, read -> words(read).contains("model-replied"));
            assertThat(words(timeline))
                    .containsSubsequence(
                            "model-called",
                            ".0model-replied",
                            ".1tool-dispatched",
                            ".2tool-dispatched",
                            ".3tool-finished",
                            "tool-finished",
                            "model-called",
                            "model-replied");
            Moment first = timeline.moments().stream()
                    .filter(moment -> moment.place().index() == 0
                            && moment.fact().map(Fact::type).equals(Optional.of("model-replied")))
                    .findFirst()
                    .orElseThrow();
            String event = "e" + first.eventId();
            assertThat(timeline.at(event + ".0")).contains(first);
            assertThat(timeline.at(event).orElseThrow().state().uncommittedResults())
                    .hasSize(2);
            assertThat(timeline.at(event)).isEqualTo(timeline.at(event + ".4")).isEqualTo(timeline.at(event + ".99"));
            assertThat(timeline.at(first.runId() + "/" + event + ".3")
                            .orElseThrow()
                            .state()
                            .uncommittedResults())
                    .hasSize(1);
        }
    }

    static Stream<Arguments> stepsOfSeveralActivities() {
        return Stream.of(
                Arguments.of("a call with side effects", calling(call("tu_1", "look"), call("tu_2", "pay"))),
                Arguments.of("an approval", calling(call("tu_1", "look"), call("tu_2", "approved"))),
                Arguments.of(
                        "a question",
                        calling(
                                call("tu_1", "look"),
                                new Part.ToolUse("tu_2", "ask_user", Json.of(Map.of("question", "?"))))),
                Arguments.of("the thread's own state", calling(call("tu_1", "write_todos"), call("tu_2", "look"))),
                Arguments.of("an unknown tool", calling(call("tu_1", "look"), call("tu_2", "missing"))));
    }

    @ParameterizedTest(name = "{0}")
    @MethodSource("stepsOfSeveralActivities")
    void mixedCalls_haveSeparateActivities(String what, ModelProvider model) {
        try (WorkflowRig rig = new WorkflowRig(
                connection(),
                model,
                safe("look", args -> "red"),
                tool("pay", spec -> spec, args -> "paid"),
                tool("approved", spec -> spec.safeToRetry().approval(), args -> "done"))) {
            String thread = rig.start(hello());

            rig.await(
                    thread,
                    now -> now.batchCalls().stream()
                                    .allMatch(each -> each.status() != Call.Status.ISSUED
                                            && each.status() != Call.Status.DISPATCHED)
                            && now.turn().number() > 0
                            && (now.isInterrupted() || !now.turn().isRunning()));
            assertThat(activities(rig, thread)).contains("look");
        }
    }

    @Test
    void agentThatDoesNotFuse_runsEachCallInAnActivity() {
        try (WorkflowRig rig = new WorkflowRig(connection(), calling(call("tu_1", "look")), safe("look", args -> "red"))
                .with(agent -> agent.fuse(Duration.ZERO))) {
            String thread = rig.start(hello());

            assertThat(rig.awaitTurn(thread, 1).turn().text()).isEqualTo("red");
            assertThat(activities(rig, thread)).contains("look");
        }
    }

    /** A model that makes this many calls, one in each reply. */
    private static ModelProvider callingTimes(int times) {
        return request -> {
            long replies = request.messages().stream()
                    .filter(message -> message.role() == Role.ASSISTANT)
                    .count();
            return new Reply(
                    List.of(replies < times ? call("tu_" + replies, "look") : new Part.Text("done")), USAGE, "");
        };
    }

    /** A worker of an older build does not know the field of the input that asks for a fused step. */
    @Test
    void olderWorkersOnTheQueue_returnRepliesWithoutOutcomes() {
        try (WorkflowRig rig = new WorkflowRig(connection(), callingTimes(6), safe("look", args -> "red"))
                .knowing(input -> input.step() % 2 == 0
                        ? new ModelInput(input.step(), input.messageCount(), input.digest(), input.summary())
                        : input)) {
            String thread = rig.start(hello());

            Conversation state = rig.awaitTurn(thread, 1);
            assertThat(state.turn().text()).isEqualTo("done");
            assertThat(state.calls().toMap().values())
                    .hasSize(6)
                    .allMatch(each -> each.status() == Call.Status.COMPLETED && each.dispatches() == 1);
            assertThat(activities(rig, thread)).filteredOn("look"::equals).hasSize(3);
            assertThat(ran).hasSize(6);
        }
    }

    @Test
    void slowTool_runsInASeparateActivityUntilItIsFastAgain() {
        List<Integer> pauses = new CopyOnWriteArrayList<>(List.of(300, 0, 0));
        try (WorkflowRig rig = new WorkflowRig(connection(), calling(call("tu_1", "look")), safe("look", args -> {
                    TimeUnit.MILLISECONDS.sleep(pauses.remove(0));
                    return "red";
                }))
                .with(agent -> agent.fuse(Duration.ofMillis(250)))) {
            String thread = rig.start(hello());
            rig.awaitTurn(thread, 1);
            assertThat(activities(rig, thread)).doesNotContain("look");

            rig.update(thread, SignalNames.SAY, Map.of("id", "m-2", "content", "Again"));
            rig.awaitTurn(thread, 2);
            assertThat(activities(rig, thread)).containsOnlyOnce("look");

            rig.update(thread, SignalNames.SAY, Map.of("id", "m-3", "content", "Again"));
            rig.awaitTurn(thread, 3);
            assertThat(activities(rig, thread)).containsOnlyOnce("look");
        }
        assertThat(ran).hasSize(3);
    }

    @Test
    void toolThatAsks_isAQuestionOfTheStep() {
        try (WorkflowRig rig = new WorkflowRig(connection(), calling(call("tu_1", "look")), safe("look", args -> {
            throw new InterruptException("Which color?");
        }))) {
            String thread = rig.start(hello());

            assertThat(rig.awaitSettled(thread).questions()).hasSize(1);
            rig.update(thread, SignalNames.ANSWER, Map.of("answer", "Green"));

            assertThat(rig.awaitTurn(thread, 1).turn().text()).isEqualTo("Green");
            assertThat(activities(rig, thread)).doesNotContain("look");
        }
    }

    /** The provider repeats its call ids, and the reply of the stopped step comes while the next one is under way. */
    @Test
    void stoppedStep_interruptsItsToolsAndOnlyItsCostCounts() throws Exception {
        CountDownLatch began = new CountDownLatch(1);
        List<String> interrupted = new CopyOnWriteArrayList<>();
        List<Integer> times = new CopyOnWriteArrayList<>(List.of(60_000, 0));
        try (WorkflowRig rig = new WorkflowRig(connection(), calling(call("tu_1", "look")), safe("look", args -> {
            began.countDown();
            try {
                TimeUnit.MILLISECONDS.sleep(times.remove(0));
            } catch (InterruptedException e) {
                interrupted.add("look");
                throw e;
            }
            return "green";
        }))) {
            String thread = rig.start(hello());
            assertThat(began.await(30, TimeUnit.SECONDS)).isTrue();

            rig.update(thread, SignalNames.STOP, Map.of("by", "ann"));
            rig.update(thread, SignalNames.SAY, Map.of("id", "m-2", "content", "Again"));

            assertThat(rig.awaitTurn(thread, 2).turn().text()).isEqualTo("green");
            Conversation state =
                    rig.await(thread, now -> now.spent().usage().inputTokens() == 30); // The stopped step has ended.
            assertThat(interrupted).hasSize(1);
            assertThat(state.calls().toMap()).containsOnlyKeys("tu_1");
            assertThat(state.spent().usage()).isEqualTo(new Usage(30, 15));
        }
    }

    @Test
    void message_doesNotInterruptTools() throws Exception {
        CountDownLatch began = new CountDownLatch(1);
        CountDownLatch told = new CountDownLatch(1);
        List<String> interrupted = new CopyOnWriteArrayList<>();
        try (WorkflowRig rig = new WorkflowRig(connection(), calling(call("tu_1", "look")), safe("look", args -> {
            began.countDown();
            try {
                told.await();
            } catch (InterruptedException e) {
                interrupted.add("look");
                throw e;
            }
            return "red";
        }))) {
            String thread = rig.start(hello());
            assertThat(began.await(30, TimeUnit.SECONDS)).isTrue();

            rig.update(thread, SignalNames.SAY, Map.of("id", "m-2", "content", "And now?"));
            told.countDown();

            rig.await(thread, now -> !now.turn().isRunning() && now.transcript().count() >= 4);
            assertThat(interrupted).isEmpty();
            assertThat(activities(rig, thread)).doesNotContain("look");
        }
    }

    @Test
    void resultsTooLargeTogether_excessCallsAreDispatched() {
        try (WorkflowRig rig = new WorkflowRig(
                connection(),
                request -> calling(
                                call("tu_1", "look"), call("tu_2", "look"), call("tu_3", "look"), call("tu_4", "look"))
                        .reply(request),
                safe("look", args -> "x".repeat(200 * 1024)))) {
            String thread = rig.start(hello());

            Conversation state = rig.awaitTurn(thread, 1);
            assertThat(state.turn().status()).isEqualTo(Turn.Status.COMPLETE);
            assertThat(activities(rig, thread)).filteredOn("look"::equals).hasSize(2);
            assertThat(state.calls().toMap().values()).allMatch(each -> each.status() == Call.Status.COMPLETED);
        }
    }

    @Test
    void largeReply_isReturnedAtOnce() {
        ModelProvider model = request -> {
            Reply reply = calling(call("tu_1", "look")).reply(request);
            List<Part> parts = new ArrayList<>(reply.content());
            parts.add(0, new Part.Text("x".repeat(65 * 1024)));
            return new Reply(parts, USAGE, "");
        };
        try (WorkflowRig rig = new WorkflowRig(connection(), model, safe("look", args -> "red"))) {
            String thread = rig.start(hello());

            rig.awaitTurn(thread, 1);
            assertThat(activities(rig, thread)).contains("look");
        }
    }
}
