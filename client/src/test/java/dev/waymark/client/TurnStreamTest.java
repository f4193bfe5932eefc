package dev.waymark.client;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import dev.waymark.fixtures.ThreadFixture;
import dev.waymark.saver.SaverException;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Consumer;
import java.util.function.Function;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

class TurnStreamTest {
    private static final Instant NOW = Instant.parse("2026-06-01T09:00:00Z");
    private static final ThreadEvent BEGAN = new ThreadEvent.WaitBegan("t1");
    private static final ThreadEvent SAID =
            new ThreadEvent.Said(new ThreadEvent.TextDelta("run-1", 5, NOW, 1, 0, "Hel"));
    private static final ThreadEvent SAVED = new ThreadEvent.Saved("run-1", 9, NOW, "t1", 1);
    private static final ThreadEvent LEFT = new ThreadEvent.WaitEnded("t1");

    private static ThreadFixture booked() {
        return ThreadFixture.resolved("ask_user")
                .says("m1", "Book")
                .callsModel()
                .asks("tu_1", "Which day?")
                .answers("tu_1", "Friday")
                .callsModel()
                .replies("Booked.");
    }

    private static AgentResult result(ThreadFixture thread) {
        return AgentResult.of("t1", "run-1", thread.now(), thread.now().turn());
    }

    private static Stream<ThreadEvent> stream(Function<Consumer<ThreadEvent>, AgentResult> turn) {
        return TurnStream.of(turn, event -> {});
    }

    @Test
    void stream_hasAllEvents_endsWithTheOutcome_andTheListenerGetsThemToo() {
        ThreadEvent failed = new ThreadEvent.SaveFailed(SaverException.late("t1", Duration.ofSeconds(1)));
        List<ThreadEvent> told = new ArrayList<>();

        List<ThreadEvent> events = TurnStream.of(
                        listener -> {
                            Stream.of(BEGAN, SAID, failed, SAVED, LEFT).forEach(listener);
                            return result(booked());
                        },
                        told::add)
                .toList();

        assertThat(told).containsExactly(BEGAN, SAID, failed, SAVED, LEFT);
        assertThat(events).containsExactly(BEGAN, SAID, failed, SAVED, LEFT, new ThreadEvent.Ended(result(booked())));
    }

    @Test
    void failure_isThrownToTheConsumer_afterTheEventsBeforeIt() {
        List<ThreadEvent> events = new ArrayList<>();
        IllegalArgumentException problem = new IllegalArgumentException("no such agent");

        Stream<ThreadEvent> stream = stream(listener -> {
            listener.accept(BEGAN);
            throw problem;
        });

        assertThatThrownBy(() -> stream.forEach(events::add)).isSameAs(problem);
        assertThat(events).containsExactly(BEGAN);
    }

    @Test
    void streamThatIsNotConsumed_startsNothing() {
        AtomicInteger started = new AtomicInteger();
        Stream<ThreadEvent> stream = stream(listener -> {
            started.incrementAndGet();
            return result(booked());
        });

        stream.close();

        assertThat(started).hasValue(0);
    }

    @Test
    void slowConsumer_makesTheWaitPause() {
        AtomicInteger said = new AtomicInteger();
        try (Stream<ThreadEvent> stream = stream(listener -> {
            for (int i = 0; i < 3 * TurnEvents.MOST_WAITING; i++) {
                listener.accept(SAID);
                said.incrementAndGet();
            }
            return result(booked());
        })) {
            int[] taken = {0};
            stream.forEach(event -> {
                taken[0]++;
                assertThat(said.get()).isLessThanOrEqualTo(taken[0] + TurnEvents.MOST_WAITING);
            });
            assertThat(taken[0]).isEqualTo(3 * TurnEvents.MOST_WAITING + 1);
        }
    }

    @Test
    void streamClosedEarly_endsTheWait() {
        AtomicReference<Thread> waiter = new AtomicReference<>();
        try (Stream<ThreadEvent> stream = stream(listener -> {
            waiter.set(Thread.currentThread());
            while (true) {
                listener.accept(SAID);
            }
        })) {
            assertThat(stream.findFirst()).contains(SAID);
        }

        await().atMost(Duration.ofMinutes(1)).until(() -> !waiter.get().isAlive());
    }
}
