package dev.waymark.client;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import dev.waymark.client.save.CheckpointSaved;
import dev.waymark.client.save.SaveListener;
import dev.waymark.client.save.SaveOptions;
import dev.waymark.client.watch.TextDelta;
import dev.waymark.client.watch.Watcher;
import dev.waymark.history.Moment;
import dev.waymark.saver.MemorySaver;
import dev.waymark.saver.SaverException;
import dev.waymark.testkit.ThreadFixture;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

class TurnStreamTest {
    private static final Instant NOW = Instant.parse("2026-06-01T09:00:00Z");
    private static final TextDelta WORDS = new TextDelta("run-1", 5, NOW, 1, 0, "Hel");
    private static final CheckpointSaved CHECKPOINT = new CheckpointSaved("run-1", 9, NOW, "t1", 1);

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

    private static Stream<TurnEvent> stream(TurnStream.Turn turn) {
        return TurnStream.of(turn, Optional.empty(), Optional.empty());
    }

    private static List<String> kinds(List<TurnEvent> events) {
        return events.stream().map(event -> event.getClass().getSimpleName()).toList();
    }

    @Test
    void everyEvent_isInOneStream_andTheOutcomeIsTheLast() {
        ThreadFixture thread = booked();

        List<TurnEvent> events = stream((watcher, saving) -> {
                    watcher.waitBegins("t1");
                    watcher.said(WORDS);
                    thread.moments().forEach(watcher::happened);
                    watcher.saved(CHECKPOINT);
                    watcher.waitEnds();
                    return result(thread);
                })
                .toList();

        assertThat(events)
                .startsWith(new TurnEvent.Began("t1"), new TurnEvent.Said(WORDS))
                .endsWith(new TurnEvent.Saved(CHECKPOINT), new TurnEvent.Ended(result(thread)));
        assertThat(events.stream().filter(TurnEvent.Happened.class::isInstance)).hasSameSizeAs(thread.moments());
        assertThat(events.stream().filter(TurnEvent.Asked.class::isInstance))
                .singleElement()
                .isInstanceOfSatisfying(
                        TurnEvent.Asked.class,
                        asked -> assertThat(asked.request().question()).contains("Which day?"));
        assertThat(kinds(events).indexOf("Asked")).isGreaterThan(kinds(events).indexOf("Happened"));
    }

    @Test
    void withASaver_savedMeansThatTheSaverHasIt_andOtherListenersAreToldToo() {
        List<Object> told = new ArrayList<>();
        SaveListener listener = new SaveListener() {
            @Override
            public void saved(CheckpointSaved event) {
                told.add(event);
            }

            @Override
            public void failed(SaverException problem) {
                told.add(problem);
            }
        };
        SaverException problem = SaverException.late("t1", Duration.ofSeconds(1));

        List<TurnEvent> events = TurnStream.of(
                        (watcher, saving) -> {
                            watcher.saved(CHECKPOINT);
                            saving.orElseThrow().listener().failed(problem);
                            saving.orElseThrow().listener().saved(CHECKPOINT);
                            return result(booked());
                        },
                        Optional.empty(),
                        Optional.of(SaveOptions.in(new MemorySaver()).withListener(listener)))
                .toList();

        assertThat(events)
                .containsExactly(
                        new TurnEvent.NotSaved(problem),
                        new TurnEvent.Saved(CHECKPOINT),
                        new TurnEvent.Ended(result(booked())));
        assertThat(told).containsExactly(problem, CHECKPOINT);
    }

    @Test
    void otherWatcher_isToldToo() {
        List<String> told = new ArrayList<>();
        Watcher other = new Watcher() {
            @Override
            public boolean happened(Moment moment) {
                return true;
            }

            @Override
            public void waitBegins(String thread) {
                told.add(thread);
            }

            @Override
            public boolean said(TextDelta words) {
                told.add(words.text());
                return true;
            }
        };

        TurnStream.of(
                        (watcher, saving) -> {
                            watcher.waitBegins("t1");
                            watcher.said(WORDS);
                            return result(booked());
                        },
                        Optional.of(other),
                        Optional.empty())
                .forEach(event -> {});

        assertThat(told).containsExactly("t1", "Hel");
    }

    @Test
    void failure_isThrownToTheConsumer_afterTheEventsBeforeIt() {
        List<TurnEvent> events = new ArrayList<>();
        IllegalArgumentException problem = new IllegalArgumentException("no such agent");

        Stream<TurnEvent> stream = stream((watcher, saving) -> {
            watcher.waitBegins("t1");
            throw problem;
        });

        assertThatThrownBy(() -> stream.forEach(events::add)).isSameAs(problem);
        assertThat(events).containsExactly(new TurnEvent.Began("t1"));
    }

    @Test
    void streamThatIsNotConsumed_startsNothing() {
        AtomicInteger started = new AtomicInteger();
        Stream<TurnEvent> stream = stream((watcher, saving) -> {
            started.incrementAndGet();
            return result(booked());
        });

        stream.close();

        assertThat(started).hasValue(0);
    }

    @Test
    void slowConsumer_makesTheWaitPause() {
        AtomicInteger said = new AtomicInteger();
        try (Stream<TurnEvent> stream = stream((watcher, saving) -> {
            for (int i = 0; i < 3 * TurnEvents.MOST_WAITING; i++) {
                watcher.said(WORDS);
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
    void closedEarly_endsTheWait() {
        AtomicReference<Thread> waiter = new AtomicReference<>();
        try (Stream<TurnEvent> stream = stream((watcher, saving) -> {
            waiter.set(Thread.currentThread());
            while (true) {
                watcher.said(WORDS);
            }
        })) {
            assertThat(stream.findFirst()).contains(new TurnEvent.Said(WORDS));
        }

        await().atMost(Duration.ofSeconds(10)).until(() -> !waiter.get().isAlive());
    }
}
