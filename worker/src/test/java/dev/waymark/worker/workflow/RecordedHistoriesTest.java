package dev.waymark.worker.workflow;

import static org.assertj.core.api.Assertions.assertThat;

import dev.waymark.contract.PayloadJson;
import dev.waymark.conversation.message.Part;
import dev.waymark.conversation.message.Reply;
import dev.waymark.history.Projector;
import io.temporal.api.history.v1.HistoryEvent;
import io.temporal.common.WorkflowExecutionHistory;
import io.temporal.testing.WorkflowReplayer;
import java.io.IOException;
import java.net.URISyntaxException;
import java.net.URL;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Set;
import java.util.TreeSet;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * Histories of real servers. The current code must replay them, and project them to the states that are stored next to
 * them: states do not show the order of a workflow's commands. Until the first release, they are recorded again when
 * the rules change.
 */
class RecordedHistoriesTest {
    static final String EXPECTED = ".expected.json";
    static final Path CONTENTS = Path.of("src/test/resources/histories/contents.txt");

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

    /** The file lists what the recordings have contained so far. New recordings must contain all of it. */
    @Test
    void recordings_containEverything() throws Exception {
        Set<String> contents = new TreeSet<>();
        for (Path file : histories().toList()) {
            contents.addAll(RecordedContents.of(read(file)));
        }

        assertThat(contents).containsAll(Files.readAllLines(CONTENTS));
    }

    @ParameterizedTest
    @MethodSource("histories")
    void recordedHistory_replays(Path file) throws Exception {
        WorkflowReplayer.replayWorkflowExecution(read(file), AgentWorkflowImpl.class);
    }

    @ParameterizedTest
    @MethodSource("histories")
    void recordedHistory_projectsToWhatItDid(Path file) throws Exception {
        assertThat(RecordedStates.differences(file)).isEmpty();
    }

    /** No model call follows the last reply, so no digest of a conversation covers it. */
    @Test
    void changedLastReply_contradictsTheResult() throws Exception {
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

    static WorkflowExecutionHistory read(Path file) throws IOException {
        return WorkflowExecutionHistory.fromJson(Files.readString(file));
    }
}
