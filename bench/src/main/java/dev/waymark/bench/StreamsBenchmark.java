package dev.waymark.bench;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.json.JsonMapper;
import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import dev.waymark.conversation.fact.PersonFact;
import dev.waymark.history.HistoryReader;
import java.io.IOException;
import java.io.OutputStream;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.Queue;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.ScheduledFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.Stream;

/**
 * Measures many streams of {@code ./waymark serve}, with server and worker in separate processes: how far words lag
 * behind the provider, and whether every decision appears exactly once in its thread's stream and history, even if
 * instances of the server are killed.
 */
final class StreamsBenchmark implements AutoCloseable {
    private static final double MOST_MILLIS = 150;
    private static final int WORD_STREAMS = 100;
    private static final int DECISIONS_A_SECOND = 50;
    private static final int RETRY_MILLIS = 200;
    private static final int PATIENCE_SECONDS = 180;
    private static final JsonMapper JSON = new JsonMapper();

    private final BenchServer laboratory;
    private final BenchReport report;
    private final Path root;
    private final int threads;
    private final int decisionsOfOne;
    private final int words;
    private final int killEverySeconds;
    private final Path agents;
    private final HttpServer models;
    private final ExecutorService voices = Executors.newCachedThreadPool();
    private final ScheduledExecutorService clock = Executors.newScheduledThreadPool(2);
    private final HttpClient http =
            HttpClient.newBuilder().version(HttpClient.Version.HTTP_1_1).build();
    private final List<ServeProcess> instances = new CopyOnWriteArrayList<>();
    private final AtomicInteger turns = new AtomicInteger();
    private volatile CountDownLatch asked = new CountDownLatch(0);
    private volatile CountDownLatch listening = new CountDownLatch(0);

    StreamsBenchmark(BenchServer laboratory, BenchReport report, Path root, boolean quick) throws IOException {
        this.laboratory = laboratory;
        this.report = report;
        this.root = root;
        this.threads = quick ? 20 : 200;
        this.decisionsOfOne = 30;
        this.words = quick ? 10 : 60;
        this.killEverySeconds = quick ? 8 : 20;
        this.agents = Files.createTempDirectory("waymark-streams-");
        this.models = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 1_000);
        models.createContext("/", this::speak);
        models.setExecutor(voices);
        models.start();
        writeAgents();
    }

    private void writeAgents() throws IOException {
        Files.writeString(agents.resolve("speaker.yaml"), "model: openai:any\n");
        Files.writeString(agents.resolve("quiet.yaml"), "model: scripted:quiet.script.yaml\n");
        Files.writeString(agents.resolve("quiet.script.yaml"), "replies:\n  - text: Hello.\n");
        Files.writeString(agents.resolve("clerk.yaml"), """
                model: scripted:clerk.script.yaml
                tools:
                  - { use: files, approval: { write_file: always } }
                """);
        StringBuilder calls = new StringBuilder("replies:\n  - tool_calls:\n");
        for (int i = 0; i < decisionsOfOne; i++) {
            calls.append(BenchReport.text(
                    "      - { id: tu_%d, name: write_file, input: { path: \"f%d\", content: \"x\" } }\n", i, i));
        }
        Files.writeString(agents.resolve("clerk.script.yaml"), calls + "  - text: Written.\n");
    }

    /** Measures how far words lag behind while all streams are open and some or all of their threads get words. */
    void words() throws Exception {
        report.title("streams: words, from the provider to an HTTP client, with " + WORD_STREAMS + " streams open");
        report.head("threads that get words", "words", "ms behind, median", "95 of 100", "most");
        instances.add(serve());
        try (ServeProcess worker = worker()) {
            for (int speaking : new int[] {10, WORD_STREAMS}) {
                double[] behind = behind(speaking);
                report.row(
                        speaking,
                        behind.length,
                        speaking == WORD_STREAMS
                                ? BenchReport.text("%.0f", Statistics.median(behind))
                                : report.within(Statistics.median(behind), MOST_MILLIS, "%.0f"),
                        BenchReport.text("%.0f", behind[(int) (behind.length * 0.95)]),
                        BenchReport.text("%.0f", behind[behind.length - 1]));
            }
        }
        stopInstances();
    }

    private double[] behind(int speaking) throws Exception {
        Queue<Double> behind = new ConcurrentLinkedQueue<>();
        listening = new CountDownLatch(1);
        asked = new CountDownLatch(speaking);
        CountDownLatch done = new CountDownLatch(speaking);
        List<StreamClient> clients = new ArrayList<>();
        try {
            Set<String> speakers = Set.copyOf(start(speaking, "speaker"));
            List<String> started = start(WORD_STREAMS - speaking, "quiet");
            started.addAll(speakers);
            for (String thread : started) {
                clients.add(new StreamClient(http, this::anInstance, thread, (name, event) -> {
                            long now = System.nanoTime();
                            if (name.equals(StreamClient.WORDS)) {
                                for (String sent : event.path("text").asText().split(" ")) {
                                    behind.add((now - Long.parseLong(sent)) / 1e6);
                                }
                            } else if (isLastReply(name, event) && speakers.contains(thread)) {
                                done.countDown();
                            }
                        })
                        .open());
            }
            await(asked, "not every thread called its model");
            for (StreamClient client : clients) {
                client.awaitEvents();
            }
            listening.countDown();
            await(done, "not every stream had the whole reply");
        } finally {
            clients.forEach(StreamClient::close);
        }
        return behind.stream().mapToDouble(Double::doubleValue).sorted().toArray();
    }

    private static void await(CountDownLatch latch, String otherwise) throws Exception {
        if (!latch.await(PATIENCE_SECONDS, TimeUnit.SECONDS)) {
            throw new IllegalStateException(otherwise);
        }
    }

    private static boolean isLastReply(String name, JsonNode event) {
        return name.equals("model-replied")
                && event.at("/reply/content/0/type").asText().equals("text");
    }

    private void speak(HttpExchange exchange) throws IOException {
        exchange.getRequestBody().readAllBytes();
        exchange.getResponseHeaders().set("Content-Type", "text/event-stream");
        exchange.sendResponseHeaders(200, 0);
        int shift = turns.getAndIncrement() * 37 % 200;
        try (OutputStream out = exchange.getResponseBody()) {
            asked.countDown();
            listening.await();
            LiveWordsBenchmark.speak(out, words, i -> i == 0 ? shift : 90 + ((i - 1) * 53 + shift) % 120);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    /** The approval of one call, as it is sent and as it appears in the thread's stream. */
    private record Decision(String thread, String callId, String argsDigest) {}

    /**
     * Approves calls at a steady rate. Each call is in a different thread than the previous one.
     *
     * @param killing whether the older of two instances of the server is killed at regular intervals
     */
    void decisions(boolean killing) throws Exception {
        report.title(BenchReport.text(
                "streams: %d streams and %d decisions a second%s",
                threads, DECISIONS_A_SECOND, killing ? ", an instance killed every " + killEverySeconds + " s" : ""));
        instances.add(serve());
        if (killing) {
            instances.add(serve());
        }
        try (ServeProcess worker = worker()) {
            List<String> started = start(threads, "clerk");
            List<Decision> decisions = decisions(started);
            Map<Decision, Long> sentAt = new ConcurrentHashMap<>();
            Map<Decision, AtomicInteger> seen = new ConcurrentHashMap<>();
            Queue<Double> millis = new ConcurrentLinkedQueue<>();
            CountDownLatch ended = new CountDownLatch(threads);
            List<StreamClient> clients = new ArrayList<>();
            for (String thread : started) {
                clients.add(new StreamClient(http, this::anInstance, thread, (name, event) -> {
                            if (name.equals("approval-decided")) {
                                Decision decision = new Decision(
                                        thread,
                                        event.path("callId").asText(),
                                        event.path("argsDigest").asText());
                                seen.computeIfAbsent(decision, any -> new AtomicInteger())
                                        .incrementAndGet();
                                Long sent = sentAt.get(decision);
                                if (sent != null) {
                                    millis.add((System.nanoTime() - sent) / 1e6);
                                }
                            } else if (isLastReply(name, event)) {
                                ended.countDown();
                            }
                        })
                        .open());
            }
            for (StreamClient client : clients) {
                client.awaitEvents();
            }
            List<Double> heap = new CopyOnWriteArrayList<>();
            ServeProcess observed = instances.get(0);
            AtomicInteger kills = new AtomicInteger();
            Queue<String> problems = new ConcurrentLinkedQueue<>();
            ScheduledFuture<?> background = killing
                    ? clock.scheduleWithFixedDelay(
                            () -> replaceOldest(kills, problems), killEverySeconds, killEverySeconds, TimeUnit.SECONDS)
                    : clock.scheduleAtFixedRate(() -> heap.add(live(observed)), 0, 15, TimeUnit.SECONDS);
            long began = System.nanoTime();
            List<CompletableFuture<Void>> answers = new ArrayList<>();
            AtomicInteger retries = new AtomicInteger();
            for (int i = 0; i < decisions.size(); i++) {
                long due = began + TimeUnit.SECONDS.toNanos(1) * i / DECISIONS_A_SECOND;
                long early = due - System.nanoTime();
                if (early > 0) {
                    TimeUnit.NANOSECONDS.sleep(early);
                }
                Decision decision = decisions.get(i);
                sentAt.put(decision, System.nanoTime());
                answers.add(approve(decision, retries, problems));
            }
            double sending = (System.nanoTime() - began) / 1e9;
            CompletableFuture.allOf(answers.toArray(CompletableFuture[]::new)).get(PATIENCE_SECONDS, TimeUnit.SECONDS);
            boolean all = ended.await(PATIENCE_SECONDS, TimeUnit.SECONDS);
            background.cancel(false);
            if (!all) {
                problems.add(ended.getCount() + " streams did not show the last reply");
            }
            judge(decisions, seen, millis, clients, sending, retries.get(), kills.get(), problems, heap);
            clients.forEach(StreamClient::close);
        }
        stopInstances();
    }

    private void judge(
            List<Decision> decisions,
            Map<Decision, AtomicInteger> seen,
            Queue<Double> millis,
            List<StreamClient> clients,
            double sending,
            int retries,
            int kills,
            Queue<String> problems,
            List<Double> heap)
            throws Exception {
        long lost = decisions.stream()
                .filter(decision -> !seen.containsKey(decision))
                .count();
        long twice = seen.values().stream().filter(times -> times.get() > 1).count();
        int wrongInHistory = wrongInHistory(decisions);
        int wrongStreams = wrongStreams(clients);
        double[] sorted =
                millis.stream().mapToDouble(Double::doubleValue).sorted().toArray();
        report.head("figure", "value");
        report.row("decisions, in seconds", BenchReport.text("%d in %.0f", decisions.size(), sending));
        report.row("not seen in the stream", report.within(lost, 0, "%.0f"));
        report.row("seen more than once", report.within(twice, 0, "%.0f"));
        report.row("not exactly once in history", report.within(wrongInHistory, 0, "%.0f"));
        report.row("streams that differ from a new one at another instance", report.within(wrongStreams, 0, "%.0f"));
        report.row("ms from decision to stream, median", BenchReport.text("%.0f", Statistics.median(sorted)));
        report.row("95 of 100", BenchReport.text("%.0f", sorted[(int) (sorted.length * 0.95)]));
        report.row("most", BenchReport.text("%.0f", sorted[sorted.length - 1]));
        report.row(
                "connections of streams",
                clients.stream().mapToInt(StreamClient::connections).sum());
        report.row("instances killed", kills);
        report.row("requests sent again", retries);
        if (!heap.isEmpty()) {
            report.row(
                    "MiB reachable in the server, every 15 s",
                    String.join(
                            " ",
                            heap.stream()
                                    .map(each -> BenchReport.text("%.1f", each))
                                    .toList()));
        }
        for (String problem : problems.stream().distinct().limit(5).toList()) {
            report.row("problem", problem);
        }
        report.row("problems", report.within(problems.size(), 0, "%.0f"));
    }

    /** Returns the number of calls that were not decided exactly once, according to the histories of their threads. */
    private int wrongInHistory(List<Decision> decisions) {
        Map<String, Long> times = new ConcurrentHashMap<>();
        HistoryReader histories = new HistoryReader(laboratory.connection().client());
        for (String thread : decisions.stream().map(Decision::thread).distinct().toList()) {
            histories
                    .read(thread)
                    .orElseThrow()
                    .moments()
                    .forEach(moment -> moment.fact()
                            .filter(PersonFact.ApprovalDecided.class::isInstance)
                            .map(PersonFact.ApprovalDecided.class::cast)
                            .flatMap(PersonFact.ApprovalDecided::callId)
                            .ifPresent(call -> times.merge(thread + " " + call, 1L, Long::sum)));
        }
        return (int) decisions.stream()
                .filter(decision -> times.getOrDefault(decision.thread() + " " + decision.callId(), 0L) != 1)
                .count();
    }

    /**
     * Returns the number of streams whose event ids, or their order, differ from those that a new instance sends from
     * the beginning. Also counts streams that the server restarted.
     */
    private int wrongStreams(List<StreamClient> clients) throws Exception {
        int wrong = 0;
        try (ServeProcess fresh = serve()) {
            for (StreamClient client : clients) {
                List<String> ids = client.ids();
                try (StreamClient whole =
                        new StreamClient(http, fresh::address, client.thread(), (name, event) -> {}).open()) {
                    long until = System.nanoTime() + TimeUnit.SECONDS.toNanos(20);
                    while (!whole.ids().equals(ids) && System.nanoTime() < until) {
                        Thread.sleep(5);
                    }
                    if (!whole.ids().equals(ids) || client.restarts() > 0) {
                        wrong++;
                    }
                }
            }
        }
        return wrong;
    }

    private double live(ServeProcess instance) {
        try {
            return instance.liveMebibytes();
        } catch (IOException e) {
            return Double.NaN;
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            return Double.NaN;
        }
    }

    /**
     * Kills the instance that has run longest, and starts a new one. The streams of the killed instance reconnect to
     * the remaining one.
     */
    private void replaceOldest(AtomicInteger kills, Queue<String> problems) {
        instances.remove(0).close();
        kills.incrementAndGet();
        try {
            instances.add(serve());
        } catch (IOException e) {
            problems.add("no new instance: " + e);
        }
    }

    private String anInstance() {
        return instances.get(0).address();
    }

    private ServeProcess serve() throws IOException {
        return ServeProcess.serve(root, agents, laboratory.address());
    }

    private ServeProcess worker() throws IOException {
        return ServeProcess.worker(
                root,
                agents,
                laboratory.address(),
                "http://127.0.0.1:" + models.getAddress().getPort() + "/v1");
    }

    private List<String> start(int number, String agent) throws Exception {
        List<CompletableFuture<HttpResponse<String>>> answers = new ArrayList<>();
        for (int i = 0; i < number; i++) {
            answers.add(http.sendAsync(
                    post("/v1/threads", "{\"agent\":\"" + agent + "\",\"message\":\"Go\"}")
                            .build(),
                    HttpResponse.BodyHandlers.ofString()));
        }
        List<String> started = new ArrayList<>();
        for (CompletableFuture<HttpResponse<String>> answer : answers) {
            JsonNode thread = JSON.readTree(answer.get().body());
            if (!thread.has("thread")) {
                throw new IOException("no thread: " + thread);
            }
            started.add(thread.path("thread").asText());
        }
        return started;
    }

    private HttpRequest.Builder post(String path, String body) {
        return HttpRequest.newBuilder(URI.create(anInstance() + path))
                .header("Content-Type", "application/json")
                .POST(HttpRequest.BodyPublishers.ofString(body));
    }

    /**
     * Waits until all calls of these threads wait for approval. Returns their approvals in rounds: one call of every
     * thread, then the next call of every thread, and so on.
     */
    private List<Decision> decisions(List<String> started) throws Exception {
        List<List<Decision>> ofThreads = new ArrayList<>();
        for (String thread : started) {
            List<Decision> waiting = new ArrayList<>();
            long until = System.nanoTime() + TimeUnit.SECONDS.toNanos(PATIENCE_SECONDS);
            while (waiting.size() < decisionsOfOne && System.nanoTime() < until) {
                waiting.clear();
                HttpRequest get = HttpRequest.newBuilder(
                                URI.create(anInstance() + "/v1/threads/" + thread + "/pending"))
                        .build();
                JSON.readTree(http.send(get, HttpResponse.BodyHandlers.ofString())
                                .body())
                        .path("pending")
                        .forEach(item -> waiting.add(new Decision(
                                thread,
                                item.path("callId").asText(),
                                item.path("argsDigest").asText())));
            }
            ofThreads.add(waiting);
        }
        List<Decision> decisions = new ArrayList<>();
        for (int i = 0; i < decisionsOfOne; i++) {
            for (List<Decision> ofThread : ofThreads) {
                decisions.add(ofThread.get(i));
            }
        }
        return decisions;
    }

    /**
     * Sends a decision, and repeats it with the same key after a lost connection or a 503, so that it takes effect
     * once. Records any other rejection as a problem.
     */
    private CompletableFuture<Void> approve(Decision decision, AtomicInteger retries, Queue<String> problems) {
        HttpRequest request = post(
                        "/v1/threads/" + decision.thread() + "/approve",
                        "{\"callId\":\"" + decision.callId() + "\",\"argsDigest\":\"" + decision.argsDigest() + "\"}")
                .header("Idempotency-Key", decision.thread() + "/" + decision.callId())
                .build();
        return http.sendAsync(request, HttpResponse.BodyHandlers.ofString())
                .handle((response, failure) -> {
                    if (failure == null && response.statusCode() == 202) {
                        return CompletableFuture.<Void>completedFuture(null);
                    }
                    boolean passing = failure != null || response.statusCode() == 503;
                    if (!passing) {
                        problems.add(response.statusCode() + " " + response.body());
                        return CompletableFuture.<Void>completedFuture(null);
                    }
                    retries.incrementAndGet();
                    return CompletableFuture.supplyAsync(
                                    () -> approve(decision, retries, problems),
                                    CompletableFuture.delayedExecutor(RETRY_MILLIS, TimeUnit.MILLISECONDS))
                            .thenCompose(again -> again);
                })
                .thenCompose(answer -> answer);
    }

    private void stopInstances() {
        instances.forEach(ServeProcess::close);
        instances.clear();
    }

    @Override
    public void close() throws IOException {
        stopInstances();
        models.stop(0);
        voices.shutdownNow();
        clock.shutdownNow();
        try (Stream<Path> files = Files.walk(agents)) {
            for (Path file : files.sorted(Comparator.reverseOrder()).toList()) {
                Files.delete(file);
            }
        }
    }
}
