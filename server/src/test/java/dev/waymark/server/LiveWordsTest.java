package dev.waymark.server;

import static dev.waymark.server.ServedThreads.ANN;
import static org.assertj.core.api.Assertions.assertThat;

import dev.waymark.agent.AgentSpec;
import dev.waymark.agent.ToolSpec;
import dev.waymark.connect.Connection;
import dev.waymark.contract.WireNames;
import dev.waymark.conversation.message.Part;
import dev.waymark.conversation.message.Reply;
import dev.waymark.conversation.value.Json;
import dev.waymark.model.ModelProvider;
import dev.waymark.model.ModelRequest;
import dev.waymark.model.ReplyListener;
import dev.waymark.tool.Tool;
import dev.waymark.tool.ToolContext;
import dev.waymark.worker.AgentWorker;
import dev.waymark.worker.provider.ModelProviders;
import dev.waymark.worker.server.DevServer;
import dev.waymark.worker.server.InMemoryServer;
import dev.waymark.worker.tool.java.JavaTools;
import io.grpc.CallOptions;
import io.grpc.Channel;
import io.grpc.ClientCall;
import io.grpc.ClientInterceptor;
import io.grpc.ForwardingClientCall.SimpleForwardingClientCall;
import io.grpc.MethodDescriptor;
import io.temporal.api.workflowservice.v1.PollWorkflowTaskQueueRequest;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** Words of several threads and workers, with workers that clients can ask and others that they cannot. */
@Timeout(120)
class LiveWordsTest {
    private static final int WORDS = 40;
    private static final int PAUSE_MILLIS = 100;

    @TempDir
    private Path directory;

    private DevServer temporal;
    private ServedThreads threads;
    private final List<AutoCloseable> open = new ArrayList<>();
    private final AtomicInteger heartbeats = new AtomicInteger();

    @BeforeEach
    void start() throws Exception {
        temporal = InMemoryServer.start(0);
        threads = ServedThreads.withoutWorker(temporal, directory);
    }

    @AfterEach
    void stop() throws Exception {
        for (AutoCloseable each : open) {
            each.close();
        }
        threads.close();
    }

    private void work(ClientInterceptor... interceptors) throws Exception {
        Connection connection = Connection.to(temporal.address(), interceptors);
        AgentWorker worker = AgentWorker.builder(connection.client())
                .agents(AgentSpec.of("counter", "counting:any"))
                .providers(ModelProviders.of(Map.of("counting", new CountingModel())))
                .build();
        worker.start();
        open.add(worker);
        open.add(connection);
    }

    /** Counts the heartbeats of a worker. */
    private <A, B> ClientCall<A, B> count(MethodDescriptor<A, B> method, CallOptions options, Channel next) {
        if ("RecordActivityTaskHeartbeat".equals(method.getBareMethodName())) {
            heartbeats.incrementAndGet();
        }
        return next.newCall(method, options);
    }

    /** Streams one word after the other. Each word begins with the text of the message. */
    private static final class CountingModel implements ModelProvider {
        @Override
        public Reply reply(ModelRequest request) throws InterruptedException {
            return reply(request, words -> {});
        }

        @Override
        public Reply reply(ModelRequest request, ReplyListener listener) throws InterruptedException {
            String name = request.messages().get(0).text();
            for (int i = 0; i < WORDS; i++) {
                listener.words(word(name, i));
                TimeUnit.MILLISECONDS.sleep(PAUSE_MILLIS);
            }
            return Reply.of(new Part.Text(all(name)));
        }
    }

    private static String word(String name, int number) {
        return name + number + " ";
    }

    private static String all(String name) {
        return IntStream.range(0, WORDS).mapToObj(i -> word(name, i)).collect(Collectors.joining());
    }

    /** Returns the pieces in which the words of each thread arrived. */
    private Map<String, List<String>> heard(List<String> names) throws Exception {
        HttpCaller ann = HttpCaller.of(threads.serveAgentsOfWorkers(), ANN);
        Map<String, EventStreamReader> streams = new LinkedHashMap<>();
        Map<String, List<String>> heard = new LinkedHashMap<>();
        try {
            for (String name : names) {
                streams.put(name, EventStreamReader.open(ann, ann.start("counter", name), Optional.empty()));
            }
            for (String name : names) {
                List<EventStreamReader.Event> events = streams.get(name)
                        .until(all ->
                                all.stream().anyMatch(event -> event.name().equals("model-replied")));
                heard.put(
                        name,
                        events.stream()
                                .filter(event -> event.name().equals("text-delta"))
                                .map(event -> event.data().path("text").asText())
                                .toList());
            }
            return heard;
        } finally {
            for (EventStreamReader stream : streams.values()) {
                stream.close();
            }
        }
    }

    @Test
    void words_arriveImmediatelyInsteadOfWithHeartbeats() throws Exception {
        work(this::count);

        List<String> pieces = heard(List.of("a")).get("a");

        assertThat(pieces).hasSizeGreaterThan(heartbeats.get());
        assertThat(all("a")).startsWith(String.join("", pieces));
    }

    @Test
    void wordsOfThreadsOnSeveralWorkers_arriveInTheirThreads() throws Exception {
        work(this::count);
        work(this::count);

        Map<String, List<String>> heard = heard(List.of("a", "b", "c", "d", "e", "f"));

        assertThat(heard.values().stream().mapToInt(List::size).sum()).isGreaterThan(heartbeats.get());
        heard.forEach((name, pieces) -> assertThat(all(name)).as(name).startsWith(String.join("", pieces)));
    }

    /** A tool that is safe to retry, and ends when the latch is open. */
    private static Tool tool(String name, CountDownLatch end) {
        ToolSpec spec = ToolSpec.java(name)
                .describedAs("Looks.", Json.of(Map.of("type", "object")))
                .safeToRetry()
                .build();
        return new Tool() {
            @Override
            public ToolSpec spec() {
                return spec;
            }

            @Override
            public String run(Json args, ToolContext context) throws InterruptedException {
                end.await();
                return "red";
            }
        };
    }

    private static Reply looksTwice(ModelRequest request) {
        return request.messages().size() > 1
                ? Reply.of(new Part.Text("Done."))
                : Reply.of(
                        new Part.ToolUse("tu_1", "look", Json.EMPTY_OBJECT),
                        new Part.ToolUse("tu_2", "listen", Json.EMPTY_OBJECT));
    }

    private void looker(CountDownLatch look, CountDownLatch listen, ClientInterceptor... interceptors)
            throws Exception {
        Connection connection = Connection.to(temporal.address(), interceptors);
        List<Tool> tools = List.of(tool("look", look), tool("listen", listen));
        AgentWorker worker = AgentWorker.builder(connection.client())
                .agents(AgentSpec.of(
                        "looker", "looks:any", tools.get(0).spec(), tools.get(1).spec()))
                .tools(JavaTools.of(tools))
                .providers(ModelProviders.of(Map.of("looks", LiveWordsTest::looksTwice)))
                .build();
        worker.start();
        open.add(worker);
        open.add(connection);
    }

    @Test
    void fusedCalls_areNamedWhileTheyRun() throws Exception {
        CountDownLatch look = new CountDownLatch(1);
        CountDownLatch listen = new CountDownLatch(1);
        looker(look, listen);

        assertCallsAreNamed(look, listen);
    }

    @Test
    void workerWithoutQueries_reportsCallsWithHeartbeats() throws Exception {
        CountDownLatch look = new CountDownLatch(1);
        CountDownLatch listen = new CountDownLatch(1);
        looker(look, listen, new WithoutWords());

        assertCallsAreNamed(look, listen);
    }

    private void assertCallsAreNamed(CountDownLatch look, CountDownLatch listen) throws Exception {
        HttpCaller ann = HttpCaller.of(threads.serveAgentsOfWorkers(), ANN);
        String thread = ann.start("looker", "Hi");
        try (EventStreamReader events = EventStreamReader.open(ann, thread, Optional.empty())) {
            assertThat(running(events.until(all -> !running(all).isEmpty()))).containsExactly("look listen");
            HttpCaller.Answer shown = ann.get("/v1/threads/" + thread);
            assertThat(HttpCaller.checked("Thread", shown.body())
                            .path("running")
                            .findValuesAsText("callId"))
                    .containsExactly("tu_1", "tu_2");
            listen.countDown();
            assertThat(running(events.until(all -> !running(all).isEmpty()))).containsExactly("look");
            look.countDown();
            List<EventStreamReader.Event> rest = events.until(all -> all.stream()
                    .anyMatch(event ->
                            event.name().equals("turn-ended") || event.name().equals("model-called")));
            assertThat(running(rest)).isEmpty();
            assertThat(rest.stream().map(EventStreamReader.Event::name))
                    .containsSubsequence("model-replied", "tool-finished", "tool-finished");
        }
        assertThat(ann.get("/v1/threads/" + thread).body().has("running")).isFalse();
    }

    /** The tools of each event that names running calls. */
    private static List<String> running(List<EventStreamReader.Event> events) {
        return events.stream()
                .filter(event -> event.name().equals("calls-running"))
                .map(event -> String.join(
                        " ", HttpCaller.checked("ThreadEvent", event.data()).findValuesAsText("tool")))
                .toList();
    }

    @Test
    void workerWithoutQueries_reportsWordsWithHeartbeats() throws Exception {
        work(new WithoutWords());

        List<String> pieces = heard(List.of("a")).get("a");

        assertThat(pieces).isNotEmpty();
        assertThat(all("a")).startsWith(String.join("", pieces));
    }

    /** Keeps the worker from polling for queries of clients. */
    private static final class WithoutWords implements ClientInterceptor {
        @Override
        public <Q, A> ClientCall<Q, A> interceptCall(
                MethodDescriptor<Q, A> method, CallOptions options, Channel channel) {
            return new SimpleForwardingClientCall<>(channel.newCall(method, options)) {
                @Override
                public void sendMessage(Q message) {
                    boolean isForWords = message instanceof PollWorkflowTaskQueueRequest poll
                            && poll.getTaskQueue().getName().startsWith(WireNames.WORDS_QUEUE_PREFIX);
                    if (isForWords) {
                        cancel("not asked", null);
                    } else {
                        super.sendMessage(message);
                    }
                }
            };
        }
    }
}
