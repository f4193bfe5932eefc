package dev.waymark.worker.announce.delivery;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import org.junit.jupiter.api.Test;

class ReceiverLineTest {
    private final ReceiverLine line = new ReceiverLine();

    private void fill(long now) {
        for (int i = 0; i < ReceiverLine.MOST_AT_ONCE; i++) {
            assertThat(line.enter(now)).isEmpty();
        }
    }

    private static long at(double seconds) {
        return (long) (seconds * 1e9);
    }

    @Test
    void line_busyReceiver_admitsNoticesAsFastAsItAnswers() {
        fill(at(0));
        line.leave(at(0), at(0.4));
        assertThat(line.enter(at(0.4))).isEmpty();

        assertThat(line.enter(at(0.4))).contains(Duration.ofMillis(50));
        assertThat(line.enter(at(0.4))).contains(Duration.ofMillis(100));
    }

    @Test
    void line_silentReceiver_admitsNoticesLessAndLessOften() {
        fill(at(0));

        assertThat(line.enter(at(8))).contains(Duration.ofSeconds(1));
        assertThat(line.enter(at(16))).contains(Duration.ofSeconds(2));
        assertThat(line.enter(at(16))).contains(Duration.ofSeconds(4));
    }

    @Test
    void line_endedNotice_makesRoomForAnother() {
        fill(at(0));
        line.leave(at(0), at(1));

        assertThat(line.enter(at(1))).isEmpty();
        assertThat(line.enter(at(1))).isPresent();
    }
}
