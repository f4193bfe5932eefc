package dev.waymark.worker.inbound;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class ServerSentEventsTest {
    private static final int MOST_EVENT_BYTES = 100_000;

    private final MemoryBudget budget = new MemoryBudget(1_000_000, Duration.ZERO);

    private List<String> events(String stream) throws IOException {
        try (MemoryBudget.Share memory = budget.open()) {
            ServerSentEvents events = new ServerSentEvents(
                    new ByteArrayInputStream(stream.getBytes(StandardCharsets.UTF_8)),
                    1_000_000,
                    MOST_EVENT_BYTES,
                    memory);
            List<String> read = new ArrayList<>();
            for (Optional<String> next = events.next(); next.isPresent(); next = events.next()) {
                read.add(next.get());
            }
            return read;
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"\n", "\r\n", "\r"})
    void event_withAnyLineEnd_isRead(String end) throws Exception {
        String stream = ": hello|event: message|data: {\"a\": 1}|id: 7||data:Tōkyō 🤔||".replace("|", end);

        assertThat(events(stream)).containsExactly("{\"a\": 1}", "Tōkyō 🤔");
    }

    @Test
    void event_ofSeveralLines_hasAllOfThem() throws Exception {
        assertThat(events("data: a\nretry: 3\ndata\ndata:  b\n\n")).containsExactly("a\n\n b");
    }

    @Test
    void event_withoutData_isLeftOut() throws Exception {
        assertThat(events("\n\n: ping\n\nevent: x\n\ndatabase: y\n\ndata: z\n\n"))
                .containsExactly("z");
    }

    @Test
    void event_cutByTheEnd_isLeftOut() throws Exception {
        assertThat(events("data: a\n\ndata: b\n")).containsExactly("a");
    }

    @Test
    void event_ofTheMaximumSize_isRead() throws Exception {
        String data = "x".repeat(MOST_EVENT_BYTES - "data: ".length());

        assertThat(events("data: " + data + "\n\n")).containsExactly(data);
    }

    @ParameterizedTest
    @ValueSource(strings = {"data: ", "x", ": "})
    void line_thatDoesNotEnd_isRefused(String beginning) {
        assertThatThrownBy(() -> events(beginning + "x".repeat(MOST_EVENT_BYTES)))
                .isInstanceOf(InputTooLargeException.class)
                .hasMessage("an event of more than 100000 bytes");
    }

    @Test
    void event_ofLinesThatDoNotEnd_isRefused() {
        assertThatThrownBy(() -> events("data: x\n".repeat(MOST_EVENT_BYTES)))
                .isInstanceOf(InputTooLargeException.class)
                .hasMessage("an event of more than 100000 bytes");
    }

    @Test
    void stream_ofCommentsThatDoesNotEnd_isRefused() {
        InputStream endless = new InputStream() {
            private int at;

            @Override
            public int read() {
                return ":\n".charAt(at++ % 2);
            }
        };
        ServerSentEvents events = new ServerSentEvents(endless, 1_000_000, MOST_EVENT_BYTES, budget.open());

        assertThatThrownBy(events::next)
                .isInstanceOf(InputTooLargeException.class)
                .hasMessage("a stream of more than 1000000 bytes");
    }

    @Test
    void event_withoutMemoryForIt_isRefused() throws Exception {
        try (MemoryBudget.Share others = budget.open()) {
            others.take(450_000);
            others.take(100_000);

            assertThatThrownBy(() -> events("data: " + "x".repeat(90_000) + "\n\n"))
                    .isInstanceOf(MemoryShortException.class);
        }

        assertThat(events("data: " + "x".repeat(90_000) + "\n\n")).hasSize(1);
    }
}
