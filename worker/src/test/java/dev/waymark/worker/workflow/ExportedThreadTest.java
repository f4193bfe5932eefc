package dev.waymark.worker.workflow;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.waymark.agent.DeferredTools;
import dev.waymark.agent.ToolSpec;
import dev.waymark.contract.PayloadJson;
import dev.waymark.contract.RunLimits;
import dev.waymark.contract.thread.StartInput;
import dev.waymark.conversation.Conversation;
import dev.waymark.conversation.fact.PersonFact;
import dev.waymark.conversation.fact.SignalNames;
import dev.waymark.conversation.message.Part;
import dev.waymark.conversation.value.Json;
import dev.waymark.history.HistoryAudit;
import dev.waymark.history.HistoryFinding;
import dev.waymark.history.HistoryScrubber;
import dev.waymark.history.ProjectedHistory;
import dev.waymark.history.ThreadHistory;
import dev.waymark.history.ThreadHistoryReader;
import dev.waymark.testkit.RecordedThread;
import dev.waymark.timeline.Moment;
import dev.waymark.tool.JavaTool;
import dev.waymark.worker.secret.Secrets;
import io.temporal.api.history.v1.History;
import io.temporal.api.history.v1.HistoryEvent;
import io.temporal.common.WorkflowExecutionHistory;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** Exported threads. Without their secrets, they still replay, and a different build is detected. */
@Tag("full")
class ExportedThreadTest {
    private static final String SECRET = "sk-canary-4711";

    private static AgentReplay replay;

    @BeforeAll
    static void open() {
        replay = new AgentReplay();
    }

    @AfterAll
    static void close() {
        replay.close();
    }

    private static List<HistoryFinding> audit(ThreadHistory thread) {
        return new HistoryAudit(replay).audit(thread).findings();
    }

    static List<Path> histories() throws Exception {
        return RecordedHistoriesTest.histories().toList();
    }

    @RecordedThread({"/histories/plain-turn.json", "/histories/parallel-tools.json"})
    void recordedThread_ofTheServersFormat_replays(ThreadHistory thread, ProjectedHistory projected) {
        assertThat(thread.runs()).hasSize(1);
        assertThat(projected.moments()).isNotEmpty();
    }

    /** All texts of these conversations change, and so does every digest in their histories. */
    @ParameterizedTest
    @MethodSource("histories")
    void recordedHistory_withMaskedTexts_stillReplaysAndProjects(Path file) throws Exception {
        ThreadHistory recorded = ThreadHistory.parse(Files.readString(file));

        ThreadHistory scrubbed = new HistoryScrubber(
                        text -> text.replace("Hello", "${GREETING}").replace("sunny", "${WEATHER}"))
                .scrub(recorded);

        ThreadHistory read = ThreadHistory.parse(scrubbed.document().toString());
        assertThat(read.payloadTexts()).noneMatch(text -> text.contains("Hello") || text.contains("sunny"));
        assertThat(scrubbed.document().toString()).doesNotContain("\"identity\"");
        assertThat(audit(read)).isEmpty();
    }

    private static ThreadHistory threadWithASecret() {
        JavaTool<?> send = JavaTool.of("send", "Sends", Token.class, (args, context) -> "sent with " + args.token());
        Part.ToolUse call = new Part.ToolUse("tu_1", "send", Json.of(Map.of("token", SECRET)));
        try (WorkflowRig rig =
                new WorkflowRig(TestServers.inMemory(), ToolProtocolCases.calling(call), send.approval())) {
            String thread = rig.start(StartInput.of("a").saying(PersonFact.UserSpoke.message("m-1", "Use " + SECRET)));
            String digest =
                    rig.awaitSettled(thread).calls().get("tu_1").orElseThrow().argsDigest();
            rig.update(thread, SignalNames.APPROVE, Map.of("callId", "tu_1", "argsDigest", digest, "by", "ann"));
            rig.awaitTurn(thread, 1);
            return new ThreadHistoryReader(rig.client()).read(thread).orElseThrow();
        }
    }

    record Token(String token) {}

    @Test
    void secret_inMessagesArgumentsAndResults_isRemovedAndTheThreadReplays() {
        ThreadHistory original = threadWithASecret();
        assertThat(original.payloadTexts()).anyMatch(text -> text.contains(SECRET));

        ThreadHistory scrubbed = new HistoryScrubber(text -> text.replace(SECRET, "${KEY}")).scrub(original);

        assertThat(scrubbed.payloadTexts()).noneMatch(text -> text.contains(SECRET));
        assertThat(audit(ThreadHistory.parse(scrubbed.document().toString()))).isEmpty();
        assertThat(facts(scrubbed)).isEqualTo(facts(original)).contains("tool-claimed", "tool-finished");
    }

    /** With these lengths, some chunks end within the secret, and its rest begins the next chunk. */
    @Test
    void secret_inAStateInChunks_isRemovedAndTheThreadReplays() {
        String words = (SECRET + " ").repeat(70_000 / SECRET.length()); // Several such messages fill several chunks.
        try (WorkflowRig rig = new WorkflowRig(TestServers.inMemory(), AgentWorkflowCases::echo)) {
            String thread = rig.start(ContinueAsNewCases.start(ChunkedStateCases.NOTHING_INLINE.withSoftEvents(130))
                    .saying(PersonFact.UserSpoke.message("m-0", words)));
            for (int i = 1; i <= 12; i++) {
                rig.awaitTurn(thread, i);
                rig.update(thread, SignalNames.SAY, Map.of("id", "m-" + i, "content", words + i));
            }
            rig.awaitTurn(thread, 13);
            ThreadHistory original =
                    new ThreadHistoryReader(rig.client()).read(thread).orElseThrow();
            assertThat(original.runs()).hasSizeGreaterThan(1);

            ThreadHistory scrubbed = new HistoryScrubber(text -> text.replace(SECRET, "${KEY}")).scrub(original);

            assertThat(scrubbed.payloadTexts()).noneMatch(text -> text.contains(SECRET));
            assertThat(audit(ThreadHistory.parse(scrubbed.document().toString())))
                    .isEmpty();
            Conversation last = states(scrubbed).get(states(scrubbed).size() - 1);
            assertThat(last.transcript().messages()).hasSize(26);
            assertThat(last.transcript().messages().toString())
                    .contains("${KEY}")
                    .doesNotContain(SECRET);
            assertThatPartsAreEmptied(original);
        }
    }

    /** Retention deleted the previous run before all chunks were fetched, so the state can never be completed. */
    private static void assertThatPartsAreEmptied(ThreadHistory original) {
        ThreadHistory.Run newest = original.runs().get(original.runs().size() - 1);
        List<HistoryEvent> events = newest.history().getEvents();
        int firstChunk = IntStream.range(0, events.size())
                .filter(i -> events.get(i).hasActivityTaskCompletedEventAttributes())
                .findFirst()
                .orElseThrow();
        ThreadHistory cut = new ThreadHistory(
                original.thread(),
                List.of(new ThreadHistory.Run(
                        newest.runId(),
                        new WorkflowExecutionHistory(
                                History.newBuilder()
                                        .addAllEvents(events.subList(0, firstChunk + 1))
                                        .build(),
                                original.thread()),
                        Optional.empty())),
                false);

        ThreadHistory scrubbed = new HistoryScrubber(text -> text.replace(SECRET, "${KEY}")).scrub(cut);

        assertThat(scrubbed.runs().get(0).history().getEvents().get(firstChunk).toString())
                .contains("\\\"bytes\\\":\\\"\\\"");
        assertThat(audit(ThreadHistory.parse(scrubbed.document().toString()))).isEmpty();
    }

    static List<RunLimits> limits() {
        return List.of(RunLimits.DEFAULT.withSoftEvents(60), ChunkedStateCases.NOTHING_INLINE.withSoftEvents(60));
    }

    /** Retention deleted the run that names the variable in plain text. */
    @ParameterizedTest
    @MethodSource("limits")
    void secret_namedInAPackedStateOnly_isRemoved(RunLimits limits) {
        try (WorkflowRig rig = new WorkflowRig(TestServers.inMemory(), AgentWorkflowCases::echo)) {
            String thread = rig.start(ContinueAsNewCases.start(limits)
                    .saying(PersonFact.UserSpoke.message("m-0", "The login is ${MAIL_LOGIN}")));
            for (int i = 1; i <= 8; i++) {
                rig.awaitTurn(thread, i);
                rig.update(thread, SignalNames.SAY, Map.of("id", "m-" + i, "content", "Use " + SECRET));
            }
            rig.awaitTurn(thread, 9);
            ThreadHistory whole =
                    new ThreadHistoryReader(rig.client()).read(thread).orElseThrow();
            assertThat(whole.runs()).hasSizeGreaterThan(1);
            ThreadHistory left = new ThreadHistory(
                    thread,
                    whole.runs().subList(whole.runs().size() - 1, whole.runs().size()),
                    false);

            Secrets secrets = Secrets.of(left.payloadTexts().toList(), Map.of("MAIL_LOGIN", SECRET));

            assertThat(new HistoryScrubber(secrets::mask).scrub(left).payloadTexts())
                    .noneMatch(text -> text.contains(SECRET))
                    .anyMatch(text -> text.contains("Use ${MAIL_LOGIN}"));
        }
    }

    /** Only the packed definition of a tool names the variable, and contains its value, too. */
    @ParameterizedTest
    @MethodSource("limits")
    void secret_namedInADeferredToolOnly_isRemoved(RunLimits limits) {
        ToolSpec mail = ToolSpec.command("mail", "./mail.sh")
                .env(Map.of("LOGIN", "${MAIL_LOGIN}"))
                .describedAs("Sends as " + SECRET, Json.of(Map.of("type", "object")))
                .build();
        try (WorkflowRig rig = new WorkflowRig(TestServers.inMemory(), AgentWorkflowCases::echo)
                .with(agent -> agent.deferred(DeferredTools.of(List.of(mail))))) {
            String thread = rig.start(
                    ContinueAsNewCases.start(limits).saying(PersonFact.UserSpoke.message("m-0", "Use " + SECRET)));
            for (int i = 1; i <= 8; i++) {
                rig.awaitTurn(thread, i);
                rig.update(thread, SignalNames.SAY, Map.of("id", "m-" + i, "content", "Go on"));
            }
            rig.awaitTurn(thread, 9);
            ThreadHistory whole =
                    new ThreadHistoryReader(rig.client()).read(thread).orElseThrow();
            assertThat(whole.runs()).hasSizeGreaterThan(1);

            Secrets secrets = Secrets.of(whole.payloadTexts().toList(), Map.of("MAIL_LOGIN", SECRET));
            ThreadHistory scrubbed = new HistoryScrubber(secrets::mask).scrub(whole);

            assertThat(scrubbed.payloadTexts())
                    .noneMatch(text -> text.contains(SECRET))
                    .anyMatch(text -> text.contains("Sends as ${MAIL_LOGIN}"));
            assertThat(audit(ThreadHistory.parse(scrubbed.document().toString())))
                    .isEmpty();
        }
    }

    private static List<Conversation> states(ThreadHistory thread) {
        ThreadHistory.Run newest = thread.runs().get(thread.runs().size() - 1);
        return ProjectedHistory.project(newest.history()).moments().stream()
                .map(Moment::state)
                .toList();
    }

    private static List<String> facts(ThreadHistory thread) {
        return ProjectedHistory.project(thread.runs().get(0).history()).moments().stream()
                .flatMap(moment -> moment.fact().stream())
                .map(fact -> fact.type())
                .toList();
    }

    /** A tool's name decides which tool runs, so a replaced name would change the thread. */
    @Test
    void secret_thatInfluencesTheThread_isRefused() {
        ThreadHistory original = threadWithASecret();

        assertThatThrownBy(() -> new HistoryScrubber(text -> text.equals(SignalNames.APPROVE) ? "${WORD}" : text)
                        .scrub(original))
                .isInstanceOf(IllegalStateException.class)
                .hasMessageContaining("the thread depends on a secret at ");
    }

    @Test
    void recording_withAnotherProjection_isDetected() throws IOException {
        ThreadHistory scrubbed = new HistoryScrubber(text -> text)
                .scrub(ThreadHistory.parse(Files.readString(Path.of("src/test/resources/histories/plain-turn.json"))));
        ObjectNode document = scrubbed.document();
        ((ObjectNode) document.path("runs").path(0).path("projection")).put("state", "other");

        assertThat(audit(ThreadHistory.parse(PayloadJson.MAPPER.writeValueAsString(document))))
                .singleElement()
                .satisfies(finding -> {
                    assertThat(finding.kind()).isEqualTo(HistoryFinding.Kind.PROJECTION);
                    assertThat(finding.eventId()).isPresent();
                });
    }

    /** At this event, the workflow requests a model call, but the history has a different activity. */
    @Test
    void recording_withOtherCommands_isDetectedWithItsEvent() throws IOException {
        String text = Files.readString(Path.of("src/test/resources/histories/plain-turn.json"));
        ThreadHistory changed = ThreadHistory.parse(text.replace("\"name\": \"model\"", "\"name\": \"other\""));

        assertThat(audit(changed))
                .filteredOn(finding -> finding.kind() == HistoryFinding.Kind.NONDETERMINISM)
                .singleElement()
                .satisfies(finding -> assertThat(finding.eventId()).isEqualTo(Optional.of(12L)));
    }

    @Test
    void documentThatIsNotAHistory_isRefusedWithTheReason() {
        assertThatThrownBy(() -> ThreadHistory.parse("{\"a\": 1}"))
                .hasMessage("it has neither \"events\" nor \"waymarkHistory\": 1");
        assertThatThrownBy(() -> ThreadHistory.parse("{")).hasMessageStartingWith("it is not JSON: ");
    }
}
