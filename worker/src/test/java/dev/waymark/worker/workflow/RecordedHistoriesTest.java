package dev.waymark.worker.workflow;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.waymark.checkpoint.RunnerCheckpoint;
import dev.waymark.contract.PayloadJson;
import dev.waymark.contract.StateDigest;
import dev.waymark.conversation.Conversation;
import dev.waymark.conversation.message.Part;
import dev.waymark.conversation.message.Reply;
import dev.waymark.conversation.state.ThreadIdentity;
import dev.waymark.history.Projector;
import io.temporal.api.history.v1.HistoryEvent;
import io.temporal.common.WorkflowExecutionHistory;
import io.temporal.testing.WorkflowReplayer;
import java.io.IOException;
import java.net.URISyntaxException;
import java.net.URL;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * Histories of real servers, for every version of the rules. Threads live for months, so these histories must replay
 * with every future version of the code, and their projections must stay the same as when they were recorded.
 */
class RecordedHistoriesTest {
    static final String EXPECTED = ".expected.json";

    static Stream<Path> histories() throws IOException, URISyntaxException {
        URL root = RecordedHistoriesTest.class.getResource("/histories");
        try (Stream<Path> files = Files.walk(Path.of(root.toURI()))) {
            return files
                    .filter(file -> file.toString().endsWith(".json")
                            && !file.toString().endsWith(EXPECTED))
                    .sorted()
                    .toList()
                    .stream();
        }
    }

    @ParameterizedTest
    @MethodSource("versionsOfRules")
    void recordings_areThere(int rules) throws Exception {
        assertThat(histories().filter(file -> file.getParent().endsWith("rules-" + rules)))
                .hasSizeGreaterThanOrEqualTo(8);
    }

    static IntStream versionsOfRules() {
        return IntStream.rangeClosed(ThreadIdentity.FIRST_RULES, ThreadIdentity.RULES);
    }

    @ParameterizedTest
    @MethodSource("histories")
    void recordedHistory_replays(Path file) throws Exception {
        WorkflowReplayer.replayWorkflowExecution(read(file), AgentWorkflowImpl.class);
    }

    @ParameterizedTest
    @MethodSource("histories")
    void recordedHistory_projectsToWhatItDid(Path file) throws Exception {
        JsonNode expected = PayloadJson.MAPPER.readTree(Files.readString(expectedBeside(file)));

        assertThat(expectation(read(file))).isEqualTo(expected);
    }

    /** No model call follows the last reply, so no digest of a conversation covers it. */
    @Test
    void lastWords_thatSomebodyChanged_contradictTheResult() throws Exception {
        Path file = histories()
                .filter(each -> each.endsWith("plain-turn.json"))
                .findFirst()
                .orElseThrow();
        Projector projector = new Projector("recorded", moment -> {});

        for (HistoryEvent event : read(file).getEvents()) {
            boolean isReply = event.hasActivityTaskCompletedEventAttributes() && event.getEventId() > 10;
            projector.accept(isReply ? forged(event) : event);
        }

        assertThat(projector.mismatches()).isEmpty();
        assertThat(projector.contradictions())
                .singleElement()
                .asString()
                .startsWith("result of recorded: the workflow returned complete \"")
                .endsWith("the projection has complete \"Forged.\"");
    }

    private static HistoryEvent forged(HistoryEvent event) {
        HistoryEvent.Builder builder = event.toBuilder();
        builder.getActivityTaskCompletedEventAttributesBuilder()
                .setResult(PayloadJson.dataConverter()
                        .toPayloads(Reply.of(new Part.Text("Forged.")))
                        .orElseThrow());
        return builder.build();
    }

    static Path expectedBeside(Path file) {
        return file.resolveSibling(file.getFileName().toString().replace(".json", EXPECTED));
    }

    private static WorkflowExecutionHistory read(Path file) throws IOException {
        return WorkflowExecutionHistory.fromJson(Files.readString(file));
    }

    /**
     * Everything that must stay the same: the state's digests, the facts, and the checkpoint that users see. To a
     * reader that does not know the run's id, every claim looks as if a reset had restored it. This must make no
     * difference.
     */
    static JsonNode expectation(WorkflowExecutionHistory history) throws IOException {
        ObjectNode expected = PayloadJson.MAPPER.createObjectNode();
        var facts = expected.putArray("facts");
        Projector projector =
                new Projector("recorded", moment -> moment.fact().ifPresent(fact -> facts.add(fact.type())));
        history.getEvents().forEach(projector::accept);
        assertThat(projector.mismatches()).isEmpty();
        assertThat(projector.contradictions()).isEmpty();
        Conversation state = projector.state().orElseThrow();
        expected.put("rules", state.rules());
        expected.put("status", state.turn().status().wireName());
        expected.put("versions", state.counters().versions());
        expected.put("transcript", state.transcript().digest());
        expected.put("state", StateDigest.of(state));
        expected.put("modelCalls", projector.modelCalls());
        expected.set("checkpoint", PayloadJson.MAPPER.valueToTree(RunnerCheckpoint.of(state)));
        return PayloadJson.MAPPER.readTree(PayloadJson.MAPPER.writeValueAsBytes(expected));
    }
}
