package dev.waymark.server;

import static dev.waymark.server.ServedThreads.ANN;
import static org.assertj.core.api.Assertions.assertThat;

import dev.waymark.client.AgentClient;
import dev.waymark.client.ThreadWatch;
import dev.waymark.client.request.Prompt;
import dev.waymark.connect.Connection;
import dev.waymark.contract.WireNames;
import dev.waymark.server.http.EventSource;
import dev.waymark.server.stream.PlainMapping;
import dev.waymark.server.stream.WatchStream;
import dev.waymark.worker.AgentWorker;
import dev.waymark.worker.agents.AgentDirectory;
import dev.waymark.worker.model.scripted.ScriptedProvider;
import dev.waymark.worker.provider.ModelProviders;
import dev.waymark.worker.server.InMemoryServer;
import dev.waymark.worker.tool.java.JavaTools;
import io.grpc.CallOptions;
import io.grpc.Channel;
import io.grpc.ClientCall;
import io.grpc.ClientInterceptor;
import io.grpc.MethodDescriptor;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** Several streams of one thread in one process. */
@Timeout(120)
class SharedStreamsTest {
    private static final int STREAMS = 40;
    private static final Duration MOST = Duration.ofSeconds(20);

    @TempDir
    private Path directory;

    private final AtomicInteger reads = new AtomicInteger();
    private final ExecutorService executor = Executors.newFixedThreadPool(4);
    private ServedThreads threads;
    private HttpCaller ann;
    private Connection connection;
    private AgentClient client;

    private final class Counter implements ClientInterceptor {
        @Override
        public <Q, A> ClientCall<Q, A> interceptCall(MethodDescriptor<Q, A> method, CallOptions options, Channel next) {
            if ("GetWorkflowExecutionHistory".equals(method.getBareMethodName())) {
                reads.incrementAndGet();
            }
            return next.newCall(method, options);
        }
    }

    @BeforeEach
    void start() throws Exception {
        InMemoryServer server = InMemoryServer.start(0);
        threads = ServedThreads.on(server, directory, Map.of());
        ann = HttpCaller.of(threads.serve(), ANN);
        connection = Connection.to(server.address(), new Counter());
        client = AgentClient.on(connection, WireNames.TASK_QUEUE);
    }

    @AfterEach
    void stop() throws Exception {
        executor.shutdownNow();
        connection.close();
        threads.close();
    }

    private ThreadWatch watch(String thread) {
        return client.inspector().openWatch(thread, Optional.empty(), executor);
    }

    private static List<ThreadWatch.Item> toTheEnd(ThreadWatch watch) {
        List<ThreadWatch.Item> events = new ArrayList<>();
        while (!watch.isOver()) {
            events.addAll(watch.next(MOST).join());
        }
        return events;
    }

    private String closedThread(String message) throws Exception {
        String thread = ann.post("/v1/threads", "{'agent':'assistant','message':'" + message + "','once':true}")
                .text("thread");
        try (ThreadWatch watch = watch(thread)) {
            toTheEnd(watch);
        }
        return thread;
    }

    @Test
    void streams_ofOneThread_readItsHistoryOnce() throws Exception {
        String thread = closedThread("Hi");
        reads.set(0);
        List<ThreadWatch> watches = new ArrayList<>();
        for (int i = 0; i < STREAMS; i++) {
            watches.add(watch(thread));
        }
        List<ThreadWatch.Item> first = toTheEnd(watches.get(0));

        assertThat(first).isNotEmpty();
        for (ThreadWatch each : watches.subList(1, STREAMS)) {
            assertThat(toTheEnd(each)).isEqualTo(first);
        }
        assertThat(reads.get()).isLessThan(STREAMS / 2);

        watches.forEach(ThreadWatch::close);
        try (ThreadWatch again = watch(thread)) {
            assertThat(toTheEnd(again)).isEqualTo(first);
        }
    }

    @Test
    void streams_joiningAndLeavingARunningThread_missNothing() throws Exception {
        String thread = ann.start("asker", "Book");
        ann.awaitPending(thread, 2);
        ThreadWatch early = watch(thread);
        List<ThreadWatch.Item> seen = new ArrayList<>(early.next(MOST).join());
        ThreadWatch late = watch(thread);
        watch(thread).close();
        ann.post("/v1/threads/" + thread + "/answer", "{'callId':'tu_1','answer':'Friday'}");
        ann.post("/v1/threads/" + thread + "/answer", "{'callId':'tu_2','answer':'Window'}");
        ann.post("/v1/threads/" + thread + "/close", "{}");
        seen.addAll(toTheEnd(early));
        early.close();
        early.close();

        assertThat(toTheEnd(late)).isEqualTo(seen);
        late.close();
    }

    @Test
    void closedWatch_readsNoMore() throws Exception {
        String thread = ann.start("asker", "Book");
        ann.awaitPending(thread, 2);
        ThreadWatch watch = watch(thread);
        watch.next(MOST).join();
        watch.close();
        watch.next(Duration.ZERO).join();

        assertThat(watch.next(Duration.ofMinutes(5))).succeedsWithin(Duration.ofSeconds(30));
    }

    @Test
    void missingWorkers_areReportedUntilOneStarts() throws Exception {
        AgentClient elsewhere = AgentClient.on(connection, "elsewhere");
        String thread = elsewhere.start(Prompt.of("assistant", "Hi")).thread();
        ModelProviders providers =
                ModelProviders.of(Map.of(ScriptedProvider.NAME, new ScriptedProvider(directory.resolve("agents"))));
        try (ThreadWatch watch = elsewhere.inspector().openWatch(thread, Optional.empty(), executor);
                AgentWorker worker = AgentWorker.builder(connection.client())
                        .taskQueue("elsewhere")
                        .agents(AgentDirectory.load(directory.resolve("agents"), providers, JavaTools.NONE))
                        .providers(providers)
                        .build()) {
            List<String> told = new ArrayList<>();
            while (!told.contains("no-worker")) {
                told.addAll(names(watch.next(MOST).join()));
            }
            worker.start();
            told.clear();
            while (!told.contains("worker-back")) {
                told.addAll(names(watch.next(MOST).join()));
            }
            assertThat(told).doesNotContain("no-worker");
        }
    }

    private static List<String> names(List<ThreadWatch.Item> events) {
        PlainMapping mapping = new PlainMapping();
        return events.stream()
                .flatMap(event -> mapping.events(event).stream())
                .flatMap(event -> event.name().stream())
                .toList();
    }

    @Test
    void parts_ofALongThread_haveLimitedSize() throws Exception {
        String thread = ann.start("assistant", "x".repeat(100_000));
        for (int i = 0; i < 5; i++) {
            ann.post("/v1/threads/" + thread + "/say", "{'message':'" + "x".repeat(100_000) + "'}");
        }
        ann.post("/v1/threads/" + thread + "/close", "{}");
        try (ThreadWatch watch = watch(thread)) {
            toTheEnd(watch);
        }
        try (WatchStream stream = new WatchStream(watch(thread), new PlainMapping(), executor)) {
            StringBuilder whole = new StringBuilder();
            EventSource.Part part = EventSource.Part.NOTHING;
            while (!part.last()) {
                part = stream.next(MOST).join();
                assertThat(part.text().length()).isLessThan(64 * 1024 + 110_000);
                whole.append(part.text());
            }
            assertThat(whole.length()).isGreaterThan(600_000);
            assertThat(whole.toString()).endsWith("data: {\"type\":\"closed\"}\n\n");
        }
    }
}
