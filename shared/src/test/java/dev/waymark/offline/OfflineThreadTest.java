package dev.waymark.offline;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

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
}
