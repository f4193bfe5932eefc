package dev.waymark.e2e;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import ch.qos.logback.classic.Level;
import ch.qos.logback.classic.Logger;
import ch.qos.logback.classic.spi.ILoggingEvent;
import ch.qos.logback.core.read.ListAppender;
import dev.waymark.agent.AgentSpec;
import dev.waymark.client.AgentClient;
import dev.waymark.client.AgentResult;
import dev.waymark.client.ThreadEvent;
import dev.waymark.client.TurnHandle;
import dev.waymark.client.failure.WaymarkException;
import dev.waymark.client.request.Approval;
import dev.waymark.client.request.Prompt;
import dev.waymark.client.save.SaveOptions;
import dev.waymark.connect.Connection;
import dev.waymark.contract.WireNames;
import dev.waymark.conversation.message.Part;
import dev.waymark.conversation.message.Reply;
import dev.waymark.conversation.message.Role;
import dev.waymark.conversation.value.Json;
import dev.waymark.saver.CheckpointSaver;
import dev.waymark.saver.KeyValueSaver;
import dev.waymark.saver.MemoryStore;
import dev.waymark.saver.SaverException;
import dev.waymark.tool.JavaTool;
import dev.waymark.worker.AgentWorker;
import dev.waymark.worker.server.DevServer;
import dev.waymark.worker.tool.java.JavaTools;
import io.grpc.CallOptions;
import io.grpc.Channel;
import io.grpc.ClientCall;
import io.grpc.ClientInterceptor;
import io.grpc.Metadata;
import io.grpc.MethodDescriptor;
import io.grpc.Status;
import java.io.IOException;
import java.net.URL;
import java.net.URLClassLoader;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CancellationException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.MethodOrderer.OrderAnnotation;
import org.junit.jupiter.api.Order;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.api.TestInstance.Lifecycle;
import org.junit.jupiter.api.TestMethodOrder;
import org.junit.jupiter.api.Timeout;
import org.slf4j.LoggerFactory;

/** Waits that block no Java thread of their caller. */
@TestInstance(Lifecycle.PER_CLASS)
@TestMethodOrder(OrderAnnotation.class)
@Timeout(120)
class OutcomeFuturesTest {
    private static final int MANY = 500;
    private static final int SHARED_THREADS = Math.max(4, Runtime.getRuntime().availableProcessors());
    /** Enough for the shared Java threads and their substitutes while futures are completed. */
    private static final int FEW = MANY / 10;
    /** More than the shared Java threads. */
    private static final int CALLBACKS = 3 * SHARED_THREADS;

    private final Semaphore held = new Semaphore(0);
    private final Outage outage = new Outage();
    private DevServer server;
    private Connection connection;
    private AgentWorker worker;
    private AgentClient client;

    record Nothing() {}

    @BeforeAll
    void start() throws Exception {
        server = DevServer.inMemory(0);
        connection = Connection.to(server.address(), outage);
        client = AgentClient.on(connection, WireNames.TASK_QUEUE);
        JavaTool<Nothing> buy = JavaTool.of("buy", "Buys", Nothing.class, (nothing, context) -> "bought")
                .approval();
        worker = AgentWorker.on(Connection.to(server.address()))
                .agents(
                        AgentSpec.of("greeter", "fast:model"),
                        AgentSpec.of("holder", "held:model"),
                        AgentSpec.of("buyer", "buying:model", buy.spec()))
                .provider("fast", request -> Reply.of(new Part.Text("Hello.")))
                .provider("held", request -> {
                    held.acquireUninterruptibly();
                    return Reply.of(new Part.Text("At last."));
                })
                .provider(
                        "buying",
                        request -> request.messages().stream().anyMatch(message -> message.role() == Role.ASSISTANT)
                                ? Reply.of(new Part.Text("Done."))
                                : Reply.of(new Part.ToolUse("tu_1", "buy", Json.EMPTY_OBJECT)))
                .tools(JavaTools.of(buy))
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

    private static Prompt named(String agent, String thread) {
        return Prompt.of(agent, "Go").withThread(thread).allowingVolatile();
    }

    static List<Thread> sharedThreads() {
        return Thread.getAllStackTraces().keySet().stream()
                .filter(thread -> thread.getName().startsWith("waymark-wait-"))
                .toList();
    }

    private static void awaitQuietly(CountDownLatch latch) {
        try {
            latch.await();
        } catch (InterruptedException e) {
            throw new IllegalStateException(e);
        }
    }

    @Test
    void future_hasTheOutcomeThatAwaitReturns() {
        TurnHandle turn = client.run(named("greeter", "same"));

        assertThat(turn.future().join()).isEqualTo(turn.await());
        assertThat(client.turn("same").future().join()).isEqualTo(turn.await());
    }

    /** Runs first, because substitutes of blocked threads remain for a while. */
    @Test
    @Order(1)
    @Tag("full")
    void manyFutures_shareFewJavaThreadsAndTimeOut() {
        AgentClient hasty = AgentClient.on(connection, "a-queue-without-worker").withTimeout(Duration.ofSeconds(5));

        List<CompletableFuture<AgentResult>> outcomes = IntStream.range(0, MANY)
                .mapToObj(i -> hasty.prompt("greeter", "Hello").future())
                .toList();

        assertThat(sharedThreads()).hasSizeBetween(1, FEW);
        for (CompletableFuture<AgentResult> outcome : outcomes) {
            assertThatThrownBy(outcome::join)
                    .isInstanceOf(CompletionException.class)
                    .hasCauseInstanceOf(WaymarkException.TimedOut.class);
        }
        assertThat(sharedThreads()).hasSizeLessThanOrEqualTo(FEW);
    }

    @Test
    void slowCallbacks_doNotDelayOtherWaits() throws Exception {
        CountDownLatch decide = new CountDownLatch(1);
        AtomicInteger asked = new AtomicInteger();
        AgentClient slow = client.onApproval(request -> {
            asked.incrementAndGet();
            awaitQuietly(decide);
            return Optional.of(Approval.approve());
        });
        List<CompletableFuture<AgentResult>> outcomes = IntStream.range(0, CALLBACKS)
                .mapToObj(i -> slow.prompt("buyer", "Go").future())
                .toList();
        await().atMost(Duration.ofSeconds(60))
                .untilAtomic(asked, count -> assertThat(count).isEqualTo(CALLBACKS));

        AgentResult other = client.prompt("greeter", "Hello").future().get(30, TimeUnit.SECONDS);

        assertThat(AgentResult.assertComplete(other).text()).isEqualTo("Hello.");
        decide.countDown();
        for (CompletableFuture<AgentResult> outcome : outcomes) {
            assertThat(AgentResult.assertComplete(outcome.join()).text()).isEqualTo("Done.");
        }
        assertThat(asked).hasValue(CALLBACKS);
    }

    @Test
    void slowDependentFunctions_doNotDelayOtherWaits() throws Exception {
        CountDownLatch goOn = new CountDownLatch(1);
        AtomicInteger begun = new AtomicInteger();
        List<CompletableFuture<Void>> outcomes = IntStream.range(0, CALLBACKS)
                .mapToObj(i -> client.prompt("greeter", "Hello").future().thenAccept(result -> {
                    begun.incrementAndGet();
                    awaitQuietly(goOn);
                }))
                .toList();
        await().atMost(Duration.ofSeconds(60))
                .untilAtomic(begun, count -> assertThat(count).isEqualTo(CALLBACKS));

        AgentResult other = client.prompt("greeter", "Hello").future().get(30, TimeUnit.SECONDS);

        assertThat(AgentResult.assertComplete(other).text()).isEqualTo("Hello.");
        goOn.countDown();
        outcomes.forEach(CompletableFuture::join);
    }

    @Test
    void callback_canWaitAndHasTheCallersClassLoader() throws Exception {
        ClassLoader before = Thread.currentThread().getContextClassLoader();
        AtomicReference<ClassLoader> seen = new AtomicReference<>();
        AgentClient deciding = client.onApproval(request -> {
            seen.set(Thread.currentThread().getContextClassLoader());
            AgentResult advice = client.prompt("greeter", "May it?").await();
            return Optional.of(
                    AgentResult.assertComplete(advice).text().equals("Hello.") ? Approval.approve() : Approval.deny());
        });
        try (URLClassLoader own = new URLClassLoader(new URL[0], before)) {
            Thread.currentThread().setContextClassLoader(own);

            AgentResult result = deciding.prompt("buyer", "Go").future().join();

            assertThat(AgentResult.assertComplete(result).text()).isEqualTo("Done.");
            assertThat(seen).hasValue(own);
        } finally {
            Thread.currentThread().setContextClassLoader(before);
        }
    }

    @Test
    void callbackThatThrows_failsTheFuture() {
        AgentClient failing = client.onApproval(request -> {
            throw new IllegalArgumentException("no idea");
        });

        assertThatThrownBy(() -> failing.prompt("buyer", "Go").future().join())
                .hasCauseInstanceOf(IllegalArgumentException.class);
    }

    @Test
    void cancelledFuture_endsTheWaitButNotTheTurn() {
        CountDownLatch begun = new CountDownLatch(2);
        CountDownLatch ended = new CountDownLatch(1);
        AgentClient watched = client.onNotice(event -> {
            if (event instanceof ThreadEvent.WaitBegan) {
                begun.countDown();
            } else if (event instanceof ThreadEvent.WaitEnded) {
                ended.countDown();
            }
        });
        TurnHandle turn = watched.run(named("holder", "cancelled"));
        CompletableFuture<AgentResult> other = turn.future();
        CompletableFuture<AgentResult> outcome = turn.future();
        awaitQuietly(begun);

        outcome.cancel(true);

        assertThatThrownBy(outcome::join).isInstanceOf(CancellationException.class);
        awaitQuietly(ended);
        held.release();
        assertThat(AgentResult.assertComplete(other.join()).text()).isEqualTo("At last.");
    }

    @Test
    void closedThreadOfOneTurn_returnsItsOutcome() {
        TurnHandle turn = client.start(Prompt.of("greeter", "Go"));
        await().atMost(Duration.ofMinutes(1))
                .until(() -> client.timeline(turn.thread()).ending().isPresent());

        assertThat(AgentResult.assertComplete(turn.await()).text()).isEqualTo("Hello.");
        assertThat(AgentResult.assertComplete(turn.future().join()).text()).isEqualTo("Hello.");
    }

    @Test
    void availableOutcome_isReturnedAfterTheDeadline() throws Exception {
        AgentClient hasty = client.withTimeout(Duration.ofMillis(1));
        TurnHandle run = hasty.run(Prompt.of("greeter", "Go"));
        TurnHandle started = hasty.start(named("greeter", "late"));
        client.turn(run.thread()).await();
        client.turn(started.thread()).await();

        for (TurnHandle late : List.of(run, started)) {
            assertThat(AgentResult.assertComplete(late.await()).text()).isEqualTo("Hello.");
            assertThat(AgentResult.assertComplete(late.future().join()).text()).isEqualTo("Hello.");
        }
    }

    @Test
    void listenerWithCheckedException_failsTheFuture() {
        AgentClient watched = client.watchedBy(event -> {
            throw OutcomeFuturesTest.<RuntimeException>undeclared(
                    new IOException("of a language without declarations"));
        });

        assertThatThrownBy(watched.prompt("greeter", "Go").future()::join)
                .isInstanceOf(CompletionException.class)
                .hasCauseInstanceOf(IOException.class);
    }

    @SuppressWarnings("unchecked")
    private static <E extends Throwable> RuntimeException undeclared(Throwable e) throws E {
        throw (E) e;
    }

    @Test
    void shortOutage_duringAWait_isTolerated() {
        CompletableFuture<AgentResult> outcome = client.prompt("holder", "Go").future();
        outage.begin();
        try {
            await().atMost(Duration.ofMinutes(1)).until(() -> outage.refused() > 2);
        } finally {
            outage.end();
        }
        held.release();

        assertThat(AgentResult.assertComplete(outcome.join()).text()).isEqualTo("At last.");
    }

    @Test
    @Tag("full")
    void longOutage_failsTheFuture() {
        CompletableFuture<AgentResult> outcome = client.prompt("holder", "Go").future();
        outage.begin();
        try {
            assertThatThrownBy(outcome::join).hasCauseInstanceOf(WaymarkException.ServerUnreachable.class);
        } finally {
            outage.end();
            held.release();
        }
    }

    @Test
    @Tag("full")
    void noWorker_failsTheFuture() {
        AgentClient lonely = AgentClient.on(connection, "another-queue-without-worker");

        assertThatThrownBy(() -> lonely.prompt("greeter", "Hello").future().join())
                .hasCauseInstanceOf(WaymarkException.NoWorker.class);
    }

    @Test
    void clientWithSaver_savesTheTurnBeforeTheFutureCompletes() throws Exception {
        try (KeyValueSaver saver = new KeyValueSaver(new MemoryStore())) {
            AgentResult result = client.savingIn(SaveOptions.in(saver))
                    .run(named("greeter", "saved"))
                    .future()
                    .join();

            assertThat(AgentResult.assertComplete(result).text()).isEqualTo("Hello.");
            assertThat(saver.load("saved").orElseThrow().toString()).contains("Hello.");
            assertThat(result.unsaved()).isFalse();
        }
    }

    /** A saver whose database is down. */
    private static final class DownSaver implements CheckpointSaver {
        private static SaverException down() {
            return SaverException.failed("the database is down", "unsaved", new IOException("refused"));
        }

        @Override
        public void save(Json checkpoint) {
            throw down();
        }

        @Override
        public Optional<Json> load(String threadId) {
            return Optional.empty();
        }

        @Override
        public List<String> list() {
            return List.of();
        }

        @Override
        public void delete(String threadId) {}

        @Override
        public boolean exists(String threadId) {
            return false;
        }
    }

    @Test
    void clientWithFailingSaver_warnsAndMarksTheResult() {
        Logger logger = (Logger) LoggerFactory.getLogger("dev.waymark.client");
        ListAppender<ILoggingEvent> log = new ListAppender<>();
        log.start();
        logger.addAppender(log);
        AgentClient saving = client.savingIn(SaveOptions.in(new DownSaver()).withFlushTimeout(Duration.ofMillis(500)));
        try {
            AgentResult awaited = saving.run(named("greeter", "unsaved")).await();
            AgentResult future = saving.say("unsaved", "Again").future().join();
            AgentResult past = saving.turn("unsaved").await();

            assertThat(List.of(awaited, future, past)).allSatisfy(result -> {
                assertThat(AgentResult.assertComplete(result).text()).isEqualTo("Hello.");
                assertThat(result.unsaved()).isTrue();
            });
            assertThat(client.turn("unsaved").await().unsaved()).isFalse();
        } finally {
            logger.detachAppender(log);
        }

        assertThat(log.list)
                .allSatisfy(event -> assertThat(event.getLevel()).isEqualTo(Level.WARN))
                .extracting(ILoggingEvent::getFormattedMessage)
                .contains("the newest step of thread unsaved is not saved")
                .anySatisfy(line ->
                        assertThat(line).startsWith("the saver failed: ").contains("the database is down"));
    }

    @Test
    void listener_failingSaver_getsTheFailureAndNoSavedVersion() {
        List<ThreadEvent> told = new CopyOnWriteArrayList<>();
        SaveOptions down = SaveOptions.in(new DownSaver()).withFlushTimeout(Duration.ofMillis(500));

        client.savingIn(down)
                .watchedBy(told::add)
                .run(named("greeter", "unsafe"))
                .await();

        assertThat(told)
                .contains(new ThreadEvent.Unsaved("unsafe"))
                .hasAtLeastOneElementOfType(ThreadEvent.Happened.class)
                .hasAtLeastOneElementOfType(ThreadEvent.SaveFailed.class)
                .doesNotHaveAnyElementsOfTypes(ThreadEvent.Saved.class)
                .startsWith(new ThreadEvent.WaitBegan("unsafe"))
                .endsWith(new ThreadEvent.WaitEnded("unsafe"));
    }

    @Test
    void listener_withoutSaver_getsVersionsAndEachRequestOnce() {
        List<ThreadEvent> told = new CopyOnWriteArrayList<>();

        client.watchedBy(told::add)
                .onApproval(request -> {
                    client.say("watched", "Is it bought?"); // Something happens while the request is open.
                    return Optional.of(Approval.approve());
                })
                .run(named("buyer", "watched"))
                .await();

        assertThat(told)
                .hasAtLeastOneElementOfType(ThreadEvent.Saved.class)
                .filteredOn(ThreadEvent.Asked.class::isInstance)
                .hasSize(1);
    }

    @Test
    void start_onAnOpenThread_hasTheOutcomeOfItsMessage() {
        client.run(named("greeter", "open")).await();

        TurnHandle second = client.start(named("greeter", "open"));

        assertThat(AgentResult.assertComplete(second.await()).details().turn()).isEqualTo(2);
        assertThat(second.await()).isEqualTo(second.future().join());
        assertThat(client.turn("open").await().messages()).hasSize(4);
    }

    @Test
    void start_refusedMessage_failsWhenAwaited() {
        client.run(named("holder", "refusing"));
        await().atMost(Duration.ofMinutes(1))
                .until(() -> client.status("refusing").status().equals("running"));

        TurnHandle again = client.start(Prompt.blank().withThread("refusing"));

        assertThatThrownBy(again::await)
                .isInstanceOf(WaymarkException.Refused.class)
                .hasMessageContaining("the turn is still running");
        held.release();
        client.turn("refusing").await();
    }

    /** Refuses requests like a server that is down. */
    private static final class Outage implements ClientInterceptor {
        private final AtomicInteger refused = new AtomicInteger();
        private volatile boolean isOn;

        void begin() {
            refused.set(0);
            isOn = true;
        }

        void end() {
            isOn = false;
        }

        int refused() {
            return refused.get();
        }

        @Override
        public <A, B> ClientCall<A, B> interceptCall(MethodDescriptor<A, B> method, CallOptions options, Channel next) {
            if (!isOn) {
                return next.newCall(method, options);
            }
            refused.incrementAndGet();
            return new ClientCall<>() {
                @Override
                public void start(Listener<B> listener, Metadata headers) {
                    listener.onClose(Status.UNAVAILABLE.withDescription("an outage"), new Metadata());
                }

                @Override
                public void request(int messages) {}

                @Override
                public void cancel(String message, Throwable cause) {}

                @Override
                public void halfClose() {}

                @Override
                public void sendMessage(A message) {}
            };
        }
    }
}
