package dev.waymark.bench;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.json.JsonMapper;
import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.function.BiConsumer;
import java.util.stream.Stream;

/**
 * Threads of a worker process, behind instances of {@code ./waymark serve}, each in its own process. Requests go to the
 * oldest instance.
 */
final class ServeFleet implements AutoCloseable {
    private static final JsonMapper JSON = new JsonMapper();

    private final WaymarkScript waymark;
    private final Path agents;
    private final ServeProcess worker;
    private final List<ServeProcess> instances = new CopyOnWriteArrayList<>();
    private final HttpClient http =
            HttpClient.newBuilder().version(HttpClient.Version.HTTP_1_1).build();

    private ServeFleet(WaymarkScript waymark, Path agents, ServeProcess worker) {
        this.waymark = waymark;
        this.agents = agents;
        this.worker = worker;
    }

    /**
     * Starts a worker with these agents, and instances of the server.
     *
     * @param files the files of the agents, by name
     * @param models the base URL of the model service
     */
    static ServeFleet start(WaymarkScript waymark, Map<String, String> files, String models, int instances)
            throws IOException, InterruptedException {
        Path agents = Files.createTempDirectory("waymark-served-");
        for (Map.Entry<String, String> file : files.entrySet()) {
            Files.writeString(agents.resolve(file.getKey()), file.getValue());
        }
        ServeFleet threads = new ServeFleet(waymark, agents, ServeProcess.worker(waymark, agents, models));
        try {
            for (int i = 0; i < instances; i++) {
                threads.instances.add(threads.newInstance());
            }
            return threads;
        } catch (IOException | InterruptedException e) {
            threads.close();
            throw e;
        }
    }

    ServeProcess newInstance() throws IOException, InterruptedException {
        return ServeProcess.serve(waymark, agents);
    }

    ServeProcess instance() {
        return instances.get(0);
    }

    /** Kills the oldest instance, and starts a new one. Streams of the killed instance reconnect to the next one. */
    void replaceOldest() throws IOException, InterruptedException {
        instances.remove(0).close();
        instances.add(newInstance());
    }

    /** Opens the stream of a thread at the oldest instance. */
    StreamClient open(String thread, BiConsumer<String, JsonNode> events) {
        return new StreamClient(http, () -> instance().address(), thread, events).open();
    }

    /** Opens the stream of a thread, from the beginning, at this instance. */
    StreamClient openAt(ServeProcess instance, String thread) {
        return new StreamClient(http, instance::address, thread, (name, event) -> {}).open();
    }

    /** Starts threads of an agent, and returns their ids. */
    List<String> begin(int number, String agent) throws Exception {
        List<CompletableFuture<HttpResponse<String>>> answers = new ArrayList<>();
        for (int i = 0; i < number; i++) {
            answers.add(post("/v1/threads", Map.of("agent", agent, "message", "Go"), Map.of()));
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

    CompletableFuture<HttpResponse<String>> post(String path, Map<String, String> body, Map<String, String> headers)
            throws IOException {
        HttpRequest.Builder request = HttpRequest.newBuilder(
                        URI.create(instance().address() + path))
                .header("Content-Type", "application/json")
                .POST(HttpRequest.BodyPublishers.ofString(JSON.writeValueAsString(body)));
        headers.forEach(request::header);
        return http.sendAsync(request.build(), HttpResponse.BodyHandlers.ofString());
    }

    /** The document at this path. */
    JsonNode get(String path) throws IOException, InterruptedException {
        HttpRequest request = HttpRequest.newBuilder(URI.create(instance().address() + path))
                .timeout(Duration.ofMinutes(1))
                .build();
        return JSON.readTree(
                http.send(request, HttpResponse.BodyHandlers.ofString()).body());
    }

    @Override
    public void close() throws IOException {
        instances.forEach(ServeProcess::close);
        worker.close();
        try (Stream<Path> files = Files.walk(agents)) {
            for (Path file : files.sorted(Comparator.reverseOrder()).toList()) {
                Files.delete(file);
            }
        }
    }
}
