package dev.waymark.offline;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.waymark.timeline.Moment;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

class OfflineThreadTest {
    private static final Path PRINTED = Path.of("../examples/way-out/src/test/resources/trip.json");

    @Test
    void runs_ofDifferentThreads_areRefused() throws IOException {
        String trip = Files.readString(PRINTED);
        String other = trip.replace("\"workflowId\": \"trip\"", "\"workflowId\": \"feast\"");

        assertThat(OfflineThread.of(List.of(other), Map.of()).timeline().thread())
                .isEqualTo("feast");
        assertThatThrownBy(() -> OfflineThread.of(List.of(trip, other), Map.of()))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessage("the runs are of two threads: trip and feast");
    }

    @Test
    void runs_inAnyOrder_areOneThread() throws IOException {
        String first = run("run-1", "");
        String second = run("run-2", "run-1");
        String third = run("run-3", "run-2");
        List<String> inOrder = runs(first, second, third);

        assertThat(inOrder).containsExactly("run-1", "run-2", "run-3");
        assertThat(runs(third, first, second)).isEqualTo(inOrder);
        assertThat(runs(third, second)).as("the server has deleted the first").containsExactly("run-2", "run-3");
    }

    @Test
    void runs_thatAreNoChain_areRefused() throws IOException {
        String first = run("run-1", "");
        String third = run("run-3", "run-2");
        assertRefused("no history is given");
        assertRefused("the run run-1 is given twice", first, first);
        assertRefused(
                "the runs run-1 and run-3 do not follow each other: a run between them is missing, or one was reset",
                first,
                third);
        assertRefused(
                "the runs run-2 and run-2b do not follow each other: a run between them is missing, or one was reset",
                first,
                run("run-2", "run-1"),
                run("run-2b", "run-1"));
    }

    private static String run(String id, String continuedFrom) throws IOException {
        String printed = Files.readString(PRINTED);
        String own = printed.replaceAll("(\"originalExecutionRunId\": )\"[^\"]*\"", "$1\"" + id + "\"");
        assertThat(own).isNotEqualTo(printed);
        return own.replaceFirst(
                "\"originalExecutionRunId\"", "\"continuedExecutionRunId\": \"" + continuedFrom + "\", $0");
    }

    private static List<String> runs(String... documents) {
        return OfflineThread.of(List.of(documents), Map.of()).timeline().moments().stream()
                .map(Moment::runId)
                .distinct()
                .toList();
    }

    private static void assertRefused(String message, String... documents) {
        assertThatThrownBy(() -> OfflineThread.of(List.of(documents), Map.of()))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessage(message);
    }
}
