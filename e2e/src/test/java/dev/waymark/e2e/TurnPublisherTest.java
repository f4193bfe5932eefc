package dev.waymark.e2e;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.waymark.agent.AgentSpec;
import dev.waymark.client.AgentClient;
import dev.waymark.client.AgentResult;
import dev.waymark.client.ThreadEvent;
import dev.waymark.client.failure.WaymarkException;
import dev.waymark.client.request.Prompt;
import dev.waymark.connect.Connection;
import dev.waymark.conversation.message.Part;
import dev.waymark.conversation.message.Reply;
import dev.waymark.worker.AgentWorker;
import dev.waymark.worker.server.DevServer;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.Flow;
import java.util.concurrent.Semaphore;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Function;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.api.TestInstance.Lifecycle;
import org.junit.jupiter.api.Timeout;

/** The events of turns for reactive programs. */
@TestInstance(Lifecycle.PER_CLASS)
@Timeout(120)
class TurnPublisherTest {
    private static final int MANY = 200;

    private final Semaphore held = new Semaphore(0);
    private DevServer server;
    private AgentWorker worker;
    private AgentClient client;

    @BeforeAll
    void start() throws Exception {
        server = DevServer.inMemory(0);
        client = AgentClient.connect(server.address());
        worker = AgentWorker.on(Connection.to(server.address()))
                .agents(AgentSpec.of("greeter", "fast:model"), AgentSpec.of("holder", "held:model"))
                .provider("fast", request -> Reply.of(new Part.Text("Hello.")))
                .provider("held", request -> {
                    held.acquireUninterruptibly();
                    return Reply.of(new Part.Text("At last."));
                })
                .build();
        worker.start();
    }

    @AfterAll
    void stop() {
        held.release(MANY);
        client.close();
        worker.close();
        server.close();
    }

    private Flow.Publisher<ThreadEvent> turns(Prompt prompt) {
        return client.publisher(watched -> watched.run(prompt));
    }

    /** Requests events as configured, and records them. */
    private static final class Recorder implements Flow.Subscriber<ThreadEvent> {
        private final List<ThreadEvent> events = new CopyOnWriteArrayList<>();
        private final List<String> ends = new CopyOnWriteArrayList<>();
        private final AtomicInteger inside = new AtomicInteger();
        private final AtomicInteger mostInside = new AtomicInteger();
        private final Function<ThreadEvent, Integer> more;
        private final long first;
        private volatile Flow.Subscription subscription;

        /** @param more how many events to request after an event */
        Recorder(long first, Function<ThreadEvent, Integer> more) {
            this.first = first;
            this.more = more;
        }

        @Override
        public void onSubscribe(Flow.Subscription own) {
            subscription = own;
            if (first != 0) {
                own.request(first);
            }
        }

        @Override
        public void onNext(ThreadEvent event) {
            mostInside.accumulateAndGet(inside.incrementAndGet(), Math::max);
            events.add(event);
            int wanted = more.apply(event);
            if (wanted > 0) {
                subscription.request(wanted);
            }
            inside.decrementAndGet();
        }

        @Override
        public void onError(Throwable failure) {
            ends.add(failure.getClass().getSimpleName());
        }

        @Override
        public void onComplete() {
            ends.add("complete");
        }

        Recorder ended() {
            await().atMost(Duration.ofSeconds(60)).until(() -> !ends.isEmpty());
            return this;
        }
    }

    private static void assertWhole(Recorder recorder) {
        assertThat(recorder.ends).containsExactly("complete");
        assertThat(recorder.events).first().isInstanceOf(ThreadEvent.WaitBegan.class);
        assertThat(recorder.events)
                .filteredOn(ThreadEvent.Happened.class::isInstance)
                .isNotEmpty();
        assertThat(recorder.events)
                .last()
                .isInstanceOfSatisfying(
                        ThreadEvent.Ended.class,
                        ended -> assertThat(AgentResult.assertComplete(ended.result())
                                        .text())
                                .isEqualTo("Hello."));
        assertThat(recorder.mostInside).hasValue(1);
    }

    @Test
    void subscriber_anyDemand_getsAllEventsInOrder() {
        Recorder greedy = new Recorder(Long.MAX_VALUE, event -> 1);
        Recorder careful = new Recorder(1, event -> 1);
        turns(Prompt.of("greeter", "Hello")).subscribe(greedy);
        turns(Prompt.of("greeter", "Hello")).subscribe(careful);

        assertWhole(greedy.ended());
        assertWhole(careful.ended());
    }

    @Test
    void subscriberThatRequestsNothing_getsNothing() {
        Recorder recorder = new Recorder(2, event -> 0);
        turns(Prompt.of("greeter", "Hello").withThread("slow").allowingVolatile())
                .subscribe(recorder);
        await().atMost(Duration.ofSeconds(60)).until(() -> recorder.events.size() == 2);
        AgentResult.assertComplete(client.turn("slow").await());

        assertThat(recorder.events).hasSize(2);
        assertThat(recorder.ends).isEmpty();
        recorder.subscription.request(Long.MAX_VALUE);
        assertWhole(recorder.ended());
    }

    @Test
    void severalSubscribers_sendTheSameMessageOnce() {
        Prompt prompt = Prompt.of("greeter", "Hello").withThread("twice").allowingVolatile();
        Flow.Publisher<ThreadEvent> turns = turns(prompt);
        for (int i = 0; i < 2; i++) {
            Recorder recorder = new Recorder(Long.MAX_VALUE, event -> 0);
            turns.subscribe(recorder);
            recorder.ended();
        }

        assertThat(client.status("twice").turn()).isEqualTo(1);
    }

    @Test
    void failedRequest_isAnError() {
        Recorder unknown = new Recorder(1, event -> 1);
        client.publisher(watched -> watched.say("no-such-thread", "Hello")).subscribe(unknown);
        Recorder invalid = new Recorder(-1, event -> 1);
        turns(Prompt.of("greeter", "Hello")).subscribe(invalid);

        assertThat(unknown.ended().ends).containsExactly(WaymarkException.NotFound.class.getSimpleName());
        assertThat(invalid.ended().ends).containsExactly(IllegalArgumentException.class.getSimpleName());
    }

    @Test
    void cancelledSubscription_endsTheWaitButNotTheTurn() {
        Recorder recorder = new Recorder(Long.MAX_VALUE, event -> 0);
        turns(Prompt.of("holder", "Hello").withThread("left").allowingVolatile())
                .subscribe(recorder);
        await().atMost(Duration.ofSeconds(60)).until(() -> !recorder.events.isEmpty());
        recorder.subscription.cancel();
        held.release();

        assertThat(AgentResult.assertComplete(client.turn("left").await()).text())
                .isEqualTo("At last.");
        assertThat(recorder.ends).isEmpty();
        assertThat(recorder.events).noneMatch(ThreadEvent.Ended.class::isInstance);
    }

    @Test
    @Tag("full")
    void manySubscribers_shareFewJavaThreads() {
        List<Recorder> recorders = IntStream.range(0, MANY)
                .mapToObj(i -> new Recorder(Long.MAX_VALUE, event -> 0))
                .toList();
        recorders.forEach(recorder -> turns(Prompt.of("holder", "Hello")).subscribe(recorder));
        await().atMost(Duration.ofSeconds(60))
                .until(() -> recorders.stream().noneMatch(recorder -> recorder.events.isEmpty()));
        // Substitutes of threads that were blocked while sending requests remain for a while.
        await().atMost(Duration.ofSeconds(60))
                .until(() -> Thread.getAllStackTraces().keySet().stream()
                                .filter(thread -> thread.getName().startsWith("waymark-"))
                                .count()
                        < MANY / 10);
        held.release(MANY);
        recorders.forEach(Recorder::ended);

        assertThat(recorders).allSatisfy(recorder -> assertThat(recorder.ends).containsExactly("complete"));
    }
}
