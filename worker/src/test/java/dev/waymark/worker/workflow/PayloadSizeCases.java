package dev.waymark.worker.workflow;

import static org.assertj.core.api.Assertions.assertThat;

import dev.waymark.connect.Connection;
import dev.waymark.contract.thread.StartInput;
import dev.waymark.conversation.Conversation;
import dev.waymark.conversation.call.Call;
import dev.waymark.conversation.fact.PersonFact;
import dev.waymark.conversation.fact.SignalNames;
import dev.waymark.conversation.message.Message;
import dev.waymark.conversation.message.Part;
import dev.waymark.conversation.message.Reply;
import dev.waymark.conversation.state.Turn;
import dev.waymark.conversation.value.Json;
import dev.waymark.conversation.value.Problem;
import dev.waymark.model.ModelProvider;
import dev.waymark.tool.JavaTool;
import dev.waymark.worker.inbound.InlineText;
import io.temporal.api.enums.v1.EventType;
import io.temporal.client.WorkflowException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;

/** Payloads at the limits of what a server accepts, individually and together. */
abstract class PayloadSizeCases {
    private static final int MEBIBYTE = 1024 * 1024;

    abstract Connection connection();

    private static JavaTool<?> weather(JavaTool.Handler<AgentWorkflowCases.City> handler) {
        return JavaTool.of("weather", "The weather", AgentWorkflowCases.City.class, handler)
                .safeToRetry();
    }

    private static Reply calls(int count, int argumentBytes) {
        List<Part> calls = new ArrayList<>();
        for (int i = 0; i < count; i++) {
            calls.add(new Part.ToolUse("tu_" + i, "weather", Json.of(Map.of("name", "x".repeat(argumentBytes)))));
        }
        return Reply.of(calls.toArray(Part[]::new));
    }

    /**
     * The calls together nearly reach the maximum size of a reply. The workflow then sends the same amount as commands.
     */
    @Test
    void callsOfNearlyAMebibyteTogether_allRun() {
        ModelProvider model =
                request -> request.messages().size() > 1 ? Reply.of(new Part.Text("Done")) : calls(4, 256 * 1024 - 100);
        try (WorkflowRig rig = new WorkflowRig(connection(), model, weather((city, context) -> "sunny"))) {
            String thread = rig.start(StartInput.of("a").saying(PersonFact.UserSpoke.message("m-1", "Go")));

            Conversation state = rig.awaitTurn(thread, 1);

            assertThat(state.turn().problem()).isEmpty();
            assertThat(state.transcript().messages().get(2).toolResults())
                    .hasSize(4)
                    .allMatch(result -> result.content().equals("sunny"));
        }
    }

    @Test
    void argumentsBeyondTheLimit_areAnErrorThatTheModelSees() {
        ModelProvider model =
                request -> request.messages().size() > 1 ? Reply.of(new Part.Text("Done")) : calls(1, 256 * 1024);
        try (WorkflowRig rig = new WorkflowRig(connection(), model, weather((city, context) -> "sunny"))) {
            String thread = rig.start(StartInput.of("a").saying(PersonFact.UserSpoke.message("m-1", "Go")));

            Conversation state = rig.awaitTurn(thread, 1);

            assertThat(state.transcript().messages().get(2).toolResults())
                    .containsExactly(
                            new Part.ToolResult("tu_0", "Invalid input for tool \"weather\": too large", true));
        }
    }

    @Test
    void replyBeyondTheLimit_failsTheTurnOnly() {
        AtomicInteger asked = new AtomicInteger();
        ModelProvider model = request -> {
            asked.incrementAndGet();
            return request.messages().size() > 1 ? AgentWorkflowCases.echo(request) : calls(8, 256 * 1024 - 100);
        };
        try (WorkflowRig rig = new WorkflowRig(connection(), model, weather((city, context) -> "sunny"))) {
            String thread = rig.start(StartInput.of("a").saying(PersonFact.UserSpoke.message("m-1", "Go")));
            Conversation failed = rig.awaitTurn(thread, 1);
            assertThat(failed.turn().status()).isEqualTo(Turn.Status.FAILED);
            assertThat(failed.turn().problem()).map(Problem::type).contains("ReplyTooLarge");
            assertThat(asked).hasValue(1);

            rig.update(thread, SignalNames.SAY, Map.of("id", "m-2", "content", "Shorter"));

            Conversation state = rig.awaitTurn(thread, 2);
            assertThat(state.turn().text()).isEqualTo("You said: Shorter");
        }
    }

    @Test
    void resultOfFiveMegabytes_isCutInItsMiddle() {
        ModelProvider model = request -> request.messages().size() > 1 ? Reply.of(new Part.Text("Done")) : calls(1, 1);
        try (WorkflowRig rig =
                new WorkflowRig(connection(), model, weather((city, context) -> "a" + "ä".repeat(2_500_000) + "z"))) {
            String thread = rig.start(StartInput.of("a").saying(PersonFact.UserSpoke.message("m-1", "Go")));

            Conversation state = rig.awaitTurn(thread, 1);

            String content =
                    state.transcript().messages().get(2).toolResults().get(0).content();
            assertThat(content).startsWith("aä").endsWith("äz").contains("\"truncated\":true,\"bytes\":5000002");
            assertThat(content.getBytes(StandardCharsets.UTF_8)).hasSizeLessThanOrEqualTo(InlineText.LIMIT_BYTES);
        }
    }

    /** Together, the results are larger than one payload may be. They arrive one by one. */
    @Test
    void manyLargeResults_areAllKept() {
        ModelProvider model = request -> request.messages().size() > 1 ? Reply.of(new Part.Text("Done")) : calls(12, 1);
        try (WorkflowRig rig = new WorkflowRig(
                connection(), model, weather((city, context) -> context.callId() + "x".repeat(MEBIBYTE)))) {
            String thread = rig.start(StartInput.of("a").saying(PersonFact.UserSpoke.message("m-1", "Go")));

            Conversation state = rig.awaitTurn(thread, 1);

            assertThat(state.turn().text()).isEqualTo("Done");
            assertThat(state.transcript().messages().get(2).toolResults()).hasSize(12);
        }
    }

    @Test
    void questionOfFiveMegabytes_isAskedAndCut() {
        ModelProvider model = request -> request.messages().size() > 1 ? Reply.of(new Part.Text("Done")) : calls(1, 1);
        try (WorkflowRig rig = new WorkflowRig(connection(), model, weather((city, context) -> {
            throw new dev.waymark.tool.InterruptException("Which? " + "x".repeat(5_000_000));
        }))) {
            String thread = rig.start(StartInput.of("a").saying(PersonFact.UserSpoke.message("m-1", "Go")));

            Conversation waiting = rig.awaitSettled(thread);

            assertThat(waiting.questions()).hasSize(1);
            assertThat(waiting.questions().get(0).question().orElseThrow().length())
                    .isLessThanOrEqualTo(InlineText.LIMIT_BYTES);
            rig.update(thread, SignalNames.ANSWER, "This");
            assertThat(rig.awaitTurn(thread, 1).turn().text()).isEqualTo("Done");
        }
    }

    @Test
    void errorOfFiveMegabytes_isCutToo() {
        ModelProvider model = request -> request.messages().size() > 1 ? Reply.of(new Part.Text("Done")) : calls(1, 1);
        try (WorkflowRig rig = new WorkflowRig(connection(), model, weather((city, context) -> {
            throw new IllegalStateException("x".repeat(5_000_000));
        }))) {
            String thread = rig.start(StartInput.of("a").saying(PersonFact.UserSpoke.message("m-1", "Go")));

            Conversation state = rig.awaitTurn(thread, 1);

            Part.ToolResult result =
                    state.transcript().messages().get(2).toolResults().get(0);
            assertThat(result.isError()).isTrue();
            assertThat(result.content()).startsWith("Tool error: xxx").contains("\"truncated\":true");
        }
    }

    @Test
    void hundredAndTwentyCallsInOneReply_runAtMostFiftyAtATime() {
        ModelProvider model =
                request -> request.messages().size() > 1 ? Reply.of(new Part.Text("Done")) : calls(120, 1);
        try (WorkflowRig rig =
                new WorkflowRig(connection(), model, weather((city, context) -> context.callId() + " is sunny"))) {
            String thread = rig.start(StartInput.of("a").saying(PersonFact.UserSpoke.message("m-1", "Go")));

            Conversation state = rig.awaitTurn(thread, 1);

            List<Part.ToolResult> results = state.transcript().messages().get(2).toolResults();
            assertThat(results).hasSize(120);
            for (int i = 0; i < 120; i++) {
                assertThat(results.get(i)).isEqualTo(new Part.ToolResult("tu_" + i, "tu_" + i + " is sunny", false));
            }
            assertThat(rig.timeline(thread).moments())
                    .extracting(moment -> moment.state().batchCalls().stream()
                            .filter(call -> call.status() == Call.Status.DISPATCHED)
                            .count())
                    .allMatch(running -> running <= 50)
                    .contains(50L);
            assertThat(AgentWorkflowCases.count(rig, thread, EventType.EVENT_TYPE_ACTIVITY_TASK_SCHEDULED))
                    .isEqualTo(120 + 3);
        }
    }

    @Test
    void largestMessage_isAcceptedAndALargerOneRefused() {
        String largest = "x".repeat(256 * 1024);
        try (WorkflowRig rig = new WorkflowRig(connection(), request -> Reply.of(new Part.Text("Read")))) {
            String thread = rig.start(StartInput.of("a").saying(PersonFact.UserSpoke.message("m-1", largest)));
            rig.awaitTurn(thread, 1);
            rig.stub(thread).signal(SignalNames.SAY, largest + "x");
            rig.stub(thread).signal(SignalNames.SAY, largest);

            Conversation state = rig.awaitTurn(thread, 2);

            assertThat(state.ignored().count()).isEqualTo(1);
            assertThat(state.transcript().messages().get(2)).isEqualTo(Message.user(largest));
        }
    }

    /** The message is larger than a payload may be, so the server itself rejects it. The thread does not notice. */
    @Test
    void messageOfThreeMegabytes_isRefusedToItsSender() {
        try (WorkflowRig rig = new WorkflowRig(connection(), AgentWorkflowCases::echo)) {
            String thread = rig.start(StartInput.of("a").saying(PersonFact.UserSpoke.message("m-1", "Hello")));
            rig.awaitTurn(thread, 1);
            trySending(() -> rig.stub(thread).signal(SignalNames.SAY, "x".repeat(3_000_000)));
            trySending(
                    () -> rig.update(thread, SignalNames.SAY, Map.of("id", "m-2", "content", "x".repeat(3_000_000))));

            rig.update(thread, SignalNames.SAY, Map.of("id", "m-3", "content", "Shorter"));

            Conversation state = rig.awaitTurn(thread, 2);
            assertThat(state.turn().text()).isEqualTo("You said: Shorter");
            assertThat(state.transcript().messages()).hasSize(4);
            assertThat(rig.timeline(thread).ending()).isEmpty();
        }
    }

    /** The real server rejects the message. The in-memory server may accept it, and then the workflow ignores it. */
    private static void trySending(Runnable sending) {
        try {
            sending.run();
        } catch (WorkflowException e) {
            assertThat(e).hasCauseInstanceOf(Exception.class);
        }
    }
}
