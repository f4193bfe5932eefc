package example;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.waymark.offline.OfflineThread;
import dev.waymark.timeline.CheckpointFormat;
import dev.waymark.timeline.Moment;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

/** Reads what the {@code temporal} command printed of a thread that asked, and got an answer. */
class WayOutTest {
    @Test
    void history_printedByTheTemporalCommand_hasEveryState() throws Exception {
        String document = Files.readString(Path.of("src/test/resources/trip.json"));

        OfflineThread thread = OfflineThread.of(List.of(document), Map.of());

        List<Moment> moments = thread.timeline().moments();
        assertTrue(moments.stream().anyMatch(moment -> moment.status().status().equals("interrupted")));
        assertEquals("complete", moments.get(moments.size() - 1).status().status());
        for (CheckpointFormat format : CheckpointFormat.values()) {
            assertTrue(thread.checkpoint(format).canonical().contains("Your table is booked."), format.wireName());
        }
        assertTrue(thread.at("1").orElseThrow().checkpoint(CheckpointFormat.RUNNER).canonical().contains("Which day?"));
    }
}
