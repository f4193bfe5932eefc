package dev.waymark.bench.soak;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import dev.waymark.fixtures.process.FreePort;
import dev.waymark.testkit.process.ChildProcess;
import java.io.IOException;
import java.net.InetAddress;
import java.net.Socket;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.stream.Stream;
import org.awaitility.Awaitility;

/**
 * A real OpenTelemetry Collector that writes the received spans to a file. Built by {@code go install} in
 * bench/otelcol.
 */
final class OtelCollector implements AutoCloseable {
    private static final String NAME = "otelcol";
    private static final Duration PATIENCE = Duration.ofMinutes(1);
    private static final String CONFIGURATION = """
            receivers:
              otlp:
                protocols:
                  http:
                    endpoint: 127.0.0.1:%d
            exporters:
              file:
                path: %s
            service:
              telemetry:
                metrics:
                  level: none
              pipelines:
                traces:
                  receivers: [otlp]
                  exporters: [file]
            """;

    private final ChildProcess process;
    private final int port;
    private final Path received;

    private OtelCollector(ChildProcess process, int port, Path received) {
        this.process = process;
        this.port = port;
        this.received = received;
    }

    /** The ids of a span that the collector received. */
    record Received(String traceId, String spanId) {}

    /** Returns the program on PATH or in the directory of {@code go install}. */
    static Optional<Path> find() {
        Stream<Path> onPath = Stream.of(System.getenv("PATH").split(":")).map(Path::of);
        Stream<Path> byGo = Stream.of(Path.of(System.getProperty("user.home"), "go", "bin"));
        return Stream.concat(onPath, byGo)
                .map(directory -> directory.resolve(NAME))
                .filter(Files::isExecutable)
                .findFirst();
    }

    static OtelCollector start(Path program, Path directory) throws IOException {
        int port = FreePort.next();
        Path received = directory.resolve("received.jsonl");
        Path configuration = directory.resolve("otelcol.yaml");
        Files.writeString(configuration, CONFIGURATION.formatted(port, received));
        ChildProcess process = ChildProcess.of(program.toString(), "--config", "file:" + configuration)
                .mergingErrors()
                .start();
        OtelCollector collector = new OtelCollector(process, port, received);
        Awaitility.await().atMost(PATIENCE).until(collector::answers);
        return collector;
    }

    private boolean answers() {
        if (!process.handle().isAlive()) {
            throw new IllegalStateException("the collector has ended: " + process);
        }
        try (Socket socket = new Socket(InetAddress.getLoopbackAddress(), port)) {
            return socket.isConnected();
        } catch (IOException e) {
            return false;
        }
    }

    String tracesUrl() {
        return "http://127.0.0.1:" + port + "/v1/traces";
    }

    /** Stops the collector, so that the file is complete, and returns all spans in it, including repeated ones. */
    List<Received> stop() throws IOException, InterruptedException {
        process.terminate(PATIENCE);
        List<Received> all = new ArrayList<>();
        ObjectMapper mapper = new ObjectMapper();
        for (String line : Files.readAllLines(received)) {
            for (JsonNode span : mapper.readTree(line).findValues("spans").stream()
                    .flatMap(spans ->
                            Stream.iterate(0, i -> i < spans.size(), i -> i + 1).map(spans::get))
                    .toList()) {
                all.add(new Received(
                        span.get("traceId").textValue(), span.get("spanId").textValue()));
            }
        }
        return all;
    }

    @Override
    public void close() {
        process.close();
    }
}
