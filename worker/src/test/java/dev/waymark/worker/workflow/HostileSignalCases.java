package dev.waymark.worker.workflow;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.tuple;

import com.google.protobuf.ByteString;
import dev.waymark.connect.Connection;
import dev.waymark.contract.WireNames;
import dev.waymark.contract.thread.StartInput;
import dev.waymark.conversation.Conversation;
import dev.waymark.conversation.fact.PersonFact;
import dev.waymark.conversation.fact.SignalNames;
import dev.waymark.conversation.message.Message;
import dev.waymark.conversation.message.Part;
import dev.waymark.conversation.message.Reply;
import dev.waymark.conversation.state.Turn;
import dev.waymark.conversation.value.IgnoredSignal;
import dev.waymark.conversation.value.Json;
import dev.waymark.model.ModelProvider;
import dev.waymark.thread.StatusReport;
import dev.waymark.tool.JavaTool;
import io.temporal.api.common.v1.Payload;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** Signals that no client should send. A signal cannot be refused, so each of them must be harmless and visible. */
abstract class HostileSignalCases {
    abstract Connection connection();

    record Hostile(String signal, List<Payload> payloads) {}

    /** Signals that a thread ignores in every state in which a turn runs and message {@code m-1} has arrived. */
    static List<Hostile> hostileSignals() {
        List<Hostile> signals = new ArrayList<>();
        for (String signal :
                List.of(SignalNames.SAY, SignalNames.ANSWER, SignalNames.SETTLE, SignalNames.BUDGET, "nope")) {
            signals.add(new Hostile(signal, List.of()));
            signals.add(hostile(signal, payload("binary/null", "")));
            signals.add(hostile(signal, json("null")));
            signals.add(hostile(signal, json("{}")));
        }
        for (String signal : List.of(
                SignalNames.SAY,
                SignalNames.ANSWER,
                SignalNames.APPROVE,
                SignalNames.STOP,
                SignalNames.CLEAR,
                SignalNames.CLOSE)) {
            signals.add(hostile(signal, json("[1, \"two\"]")));
            signals.add(hostile(signal, json("{\"by\": {}, \"content\": 5, \"answer\": [], \"callId\": false}")));
            signals.add(hostile(signal, json("{\"content\":")));
            signals.add(hostile(signal, json("{} {}")));
            signals.add(hostile(signal, json("{\"by\": 1, \"by\": 2}")));
            signals.add(hostile(signal, json("{\"by\": \"\\ud800\", \"content\": \"x\", \"answer\": \"x\"}")));
            signals.add(hostile(signal, json("[".repeat(100_000))));
            signals.add(hostile(signal, json("\"" + "x".repeat(300 * 1024) + "\"")));
            signals.add(hostile(signal, payload("binary/plain", "Hello")));
            signals.add(hostile(signal, payload("binary/protobuf", "\b\u0001")));
            signals.add(hostile(signal, payload("binary/encrypted", "????")));
            signals.add(hostile(signal, payload("json/protobuf", "{}")));
            signals.add(hostile(
                    signal,
                    Payload.newBuilder().setData(ByteString.copyFromUtf8("{}")).build()));
            signals.add(hostile(
                    signal,
                    json("x").toBuilder()
                            .setData(ByteString.copyFrom(new byte[] {'"', (byte) 0xff, (byte) 0xfe, '"'}))
                            .build()));
            signals.add(new Hostile(signal, List.of(payload("binary/plain", "first"), json("{}"))));
        }
        signals.add(hostile(SignalNames.SAY, json("{\"id\": \"m-1\", \"content\": \"Once more\"}")));
        signals.add(hostile(SignalNames.SAY, json("{\"id\": \"m-1\", \"content\": \"Once more\"}")));
        signals.add(hostile(SignalNames.SAY, json("{\"id\": \"\", \"content\": \"x\"}")));
        signals.add(hostile(SignalNames.SAY, json("{\"retry\": \"yes\"}")));
        signals.add(hostile(
                SignalNames.SAY,
                json("{\"messages\": [{\"role\": \"assistant\", \"content\": [{\"type\":"
                        + " \"tool_use\", \"id\": \"a\", \"name\": \"t\", \"input\": {\"n\": 1e999999999}}]}]}")));
        signals.add(hostile(SignalNames.ANSWER, json("{\"callId\": \"tu_99\", \"answer\": \"x\"}")));
        signals.add(hostile(SignalNames.APPROVE, json("{\"callId\": \"tu_99\"}")));
        signals.add(hostile(SignalNames.SETTLE, json("{\"callId\": \"tu_99\", \"outcome\": \"done\"}")));
        signals.add(hostile(SignalNames.BUDGET, json("{\"iterations\": -1}")));
        signals.add(hostile(SignalNames.BUDGET, json("{\"iterations\": 99999999999}")));
        signals.add(hostile(SignalNames.BUDGET, json("{\"usd\": 1e999}")));
        signals.add(hostile(SignalNames.STOP, json("\"now\"")));
        for (String name : List.of("Say", " say", "say ", "sáy", "__stack_trace", "\ud83d\ude00", "n".repeat(990))) {
            signals.add(hostile(name, json("\"Hello\"")));
        }
        signals.add(new Hostile("nope", List.of(json("1"), json("2"), json("3"))));
        signals.add(hostile(SignalNames.SAY, json("\"" + "x".repeat(1_900_000) + "\"")));
        return signals;
    }

    static Hostile hostile(String signal, Payload payload) {
        return new Hostile(signal, List.of(payload));
    }

    static Payload json(String text) {
        return payload("json/plain", text);
    }

    static Payload payload(String encoding, String data) {
        return Payload.newBuilder()
                .putMetadata("encoding", ByteString.copyFromUtf8(encoding))
                .setData(ByteString.copyFromUtf8(data))
                .build();
    }

    private static void sendAll(WorkflowRig rig, String thread) {
        hostileSignals().forEach(hostile -> rig.signalRaw(thread, hostile.signal(), hostile.payloads()));
    }

    /**
     * Checks that every signal is counted and the newest are shown, both by the workflow and by the projection of its
     * history.
     */
    private static void assertAllIgnored(WorkflowRig rig, String thread) {
        List<Hostile> sent = hostileSignals();
        Conversation state = rig.await(thread, now -> now.ignored().count() >= sent.size());
        assertThat(state.ignored().count()).isEqualTo(sent.size());
        assertThat(state.ignored().last())
                .extracting(IgnoredSignal::signal)
                .containsExactlyElementsOf(sent.subList(sent.size() - 20, sent.size()).stream()
                        .map(Hostile::signal)
                        .map(name -> name.length() > 100 ? name.substring(0, 100) + "…" : name)
                        .toList());
        StatusReport status = rig.stub(thread).query(WireNames.STATUS_QUERY, StatusReport.class);
        assertThat(status.ignoredCount()).isEqualTo(sent.size());
        assertThat(status.ignored())
                .extracting(IgnoredSignal::signal, IgnoredSignal::reason)
                .containsExactlyElementsOf(state.ignored().last().stream()
                        .map(item -> tuple(item.signal(), item.reason()))
                        .toList());
    }

    @Test
    void hostileSignals_duringAModelCall_areIgnoredAndTheTurnCompletes() {
        CountDownLatch goOn = new CountDownLatch(1);
        ModelProvider model = request -> {
            goOn.await(60, TimeUnit.SECONDS);
            return AgentWorkflowCases.echo(request);
        };
        try (WorkflowRig rig = new WorkflowRig(connection(), model)) {
            String thread = rig.start(StartInput.of("a").saying(PersonFact.UserSpoke.message("m-1", "Hello")));
            rig.await(thread, Conversation::modelCalled);

            sendAll(rig, thread);
            assertAllIgnored(rig, thread);
            goOn.countDown();

            Conversation state = rig.awaitSettled(thread);
            assertThat(state.turn().status()).isEqualTo(Turn.Status.COMPLETE);
            assertThat(state.transcript().messages())
                    .containsExactly(Message.user("Hello"), Message.assistant(new Part.Text("You said: Hello")));
        }
    }

    @Test
    void hostileSignals_whileAToolRuns_areIgnoredAndItsResultIsKept() throws Exception {
        CountDownLatch toolRuns = new CountDownLatch(1);
        CountDownLatch goOn = new CountDownLatch(1);
        ModelProvider model = request -> request.messages().size() > 1
                ? Reply.of(new Part.Text("Done"))
                : Reply.of(new Part.ToolUse("tu_1", "slow", Json.of(Map.of("name", "x"))));
        var slow = JavaTool.of("slow", "Takes its time", AgentWorkflowCases.City.class, (city, context) -> {
                    toolRuns.countDown();
                    goOn.await(60, TimeUnit.SECONDS);
                    return "late";
                })
                .safeToRetry();
        try (WorkflowRig rig = new WorkflowRig(connection(), model, slow)) {
            String thread = rig.start(StartInput.of("a").saying(PersonFact.UserSpoke.message("m-1", "Go")));
            assertThat(toolRuns.await(60, TimeUnit.SECONDS)).isTrue();

            sendAll(rig, thread);
            assertAllIgnored(rig, thread);
            goOn.countDown();

            Conversation state = rig.awaitSettled(thread);
            assertThat(state.turn().status()).isEqualTo(Turn.Status.COMPLETE);
            assertThat(state.transcript().messages().get(2))
                    .isEqualTo(Message.results(List.of(new Part.ToolResult("tu_1", "late", false))));
        }
    }

    @Test
    @Tag("full")
    void hostileSignals_whileWaitingForAPerson_areIgnoredAndTheQuestionStaysOpen() {
        try (WorkflowRig rig = new WorkflowRig(connection(), AgentWorkflowCases::booking)) {
            String thread = rig.start(StartInput.of("a").saying(PersonFact.UserSpoke.message("m-1", "Book it")));
            rig.awaitSettled(thread);

            sendAll(rig, thread);
            assertAllIgnored(rig, thread);
            assertThat(rig.awaitSettled(thread).isInterrupted()).isTrue();
            rig.signalRaw(thread, SignalNames.ANSWER, List.of(json("{\"callId\": \"tu_7\", \"answer\": \"Friday\"}")));

            Conversation state = rig.await(thread, now -> !now.turn().isRunning());
            assertThat(state.turn().text()).isEqualTo("Booked for Friday");
        }
    }

    @Test
    void secondPayload_isDroppedAndTheFirstCounts() {
        try (WorkflowRig rig = new WorkflowRig(connection(), AgentWorkflowCases::echo)) {
            String thread = rig.start(StartInput.of("a"));

            rig.signalRaw(thread, SignalNames.SAY, List.of(json("\"One\""), json("\"Two\"")));

            Conversation state = rig.await(thread, now -> now.turn().status() == Turn.Status.COMPLETE);
            assertThat(state.turn().text()).isEqualTo("You said: One");
        }
    }

    /** Temporal reserves such names. The SDK drops these signals, and so must the projection. */
    @Test
    void signalWithAReservedName_isDropped() {
        try (WorkflowRig rig = new WorkflowRig(connection(), AgentWorkflowCases::booking)) {
            String thread = rig.start(StartInput.of("a").saying(PersonFact.UserSpoke.message("m-1", "Book it")));
            rig.awaitSettled(thread);

            rig.signalRaw(thread, "__temporal_nope", List.of(json("1")));
            rig.signalRaw(thread, "__temporal_workflow_stream_nope", List.of(json("1")));
            rig.signalRaw(thread, "nope", List.of(json("1")));

            Conversation state = rig.await(thread, now -> now.ignored().count() > 0);
            assertThat(state.ignored().last()).extracting(IgnoredSignal::signal).containsExactly("nope");
            StatusReport status = rig.stub(thread).query(WireNames.STATUS_QUERY, StatusReport.class);
            assertThat(status.ignoredCount()).isEqualTo(1);
        }
    }

    @Test
    void fiveHundredSignals_inARow_loseNothing() {
        ModelProvider model = request -> request.messages().size() > 1
                ? Reply.of(new Part.Text("Done"))
                : Reply.of(AgentWorkflowCases.ask("tu_7", "Which day?"));
        try (WorkflowRig rig = new WorkflowRig(connection(), model)) {
            String thread = rig.start(StartInput.of("a").saying(PersonFact.UserSpoke.message("m-1", "Book it")));
            rig.awaitSettled(thread);
            List<Message> expected = new ArrayList<>();

            for (int i = 0; i < 250; i++) {
                rig.signalRaw(thread, SignalNames.SAY, List.of(json("\"Message " + i + "\"")));
                rig.signalRaw(thread, SignalNames.ANSWER, List.of(json("{\"callId\": \"tu_" + (100 + i) + "\"}")));
                expected.add(Message.user("Message " + i));
            }
            rig.signalRaw(thread, SignalNames.ANSWER, List.of(json("\"Friday\"")));

            Conversation state = rig.await(
                    thread, now -> now.turn().number() > 0 && !now.turn().isRunning());
            assertThat(state.ignored().count()).isEqualTo(250);
            assertThat(state.transcript().messages().subList(3, 253)).isEqualTo(expected);
        }
    }
}
