package dev.waymark.bench;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.json.JsonMapper;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;

/**
 * Measures the cost of clients that open streams of one long thread and read nothing: the heap of {@code ./waymark
 * serve}, and its response time for other requests.
 */
final class UnreadStreamsBenchmark {
    private static final int STREAMS = 50;
    private static final double MOST_MEBIBYTES = 100;
    private static final double MOST_MILLIS = 2_000;
    /** The smallest buffer, so that the kernel stores little of what the client does not read. */
    private static final int RECEIVE_BYTES = 4 * 1024;

    private static final int MESSAGE_CHARS = 200_000;
    private static final JsonMapper JSON = new JsonMapper();

    private final BenchReport report;
    private final WaymarkScript waymark;
    private final int messages;
    private final int seconds;
    private final HttpClient http =
            HttpClient.newBuilder().version(HttpClient.Version.HTTP_1_1).build();

    UnreadStreamsBenchmark(BenchServer server, BenchReport report, Path root, boolean quick) {
        this.report = report;
        this.waymark = new WaymarkScript(root, server.address());
        this.messages = quick ? 2 : 10;
        this.seconds = quick ? 2 : 20;
    }

    void run() throws Exception {
        report.title(BenchReport.text(
                "unread-streams: %d unread streams of a thread of %.1f MB", STREAMS, messages * MESSAGE_CHARS / 1e6));
        Path agents = Files.createTempDirectory("waymark-unread-");
        Files.writeString(agents.resolve("quiet.yaml"), "model: scripted:quiet.script.yaml\n");
        Files.writeString(agents.resolve("quiet.script.yaml"), "replies:\n" + "  - text: Hello.\n".repeat(messages));
        List<Socket> streams = new ArrayList<>();
        try (ServeProcess worker = ServeProcess.worker(waymark, agents, "http://127.0.0.1:1");
                ServeProcess serve = ServeProcess.serve(waymark, agents)) {
            String thread = begin(serve);
            double before = serve.liveMebibytes();
            for (int i = 0; i < STREAMS; i++) {
                streams.add(open(serve, thread));
            }
            double slowest = slowestAnswer(serve, thread);
            double after = serve.liveMebibytes();

            report.head("figure", "value");
            report.row("MiB of heap before", BenchReport.text("%.1f", before));
            report.row("MiB more with unread streams", report.within(after - before, MOST_MEBIBYTES, "%.1f"));
            report.row("ms for another request, most", report.within(slowest, MOST_MILLIS, "%.0f"));
        } finally {
            for (Socket each : streams) {
                each.close();
            }
        }
    }

    private String begin(ServeProcess serve) throws IOException, InterruptedException {
        String thread = post(serve, "/v1/threads", Map.of("agent", "quiet", "message", text()))
                .path("thread")
                .asText();
        awaitEnd(serve, thread);
        for (int i = 1; i < messages; i++) {
            post(serve, "/v1/threads/" + thread + "/say", Map.of("message", text()));
            awaitEnd(serve, thread);
        }
        return thread;
    }

    private static String text() {
        return "0123456789".repeat(MESSAGE_CHARS / 10);
    }

    private void awaitEnd(ServeProcess serve, String thread) throws IOException, InterruptedException {
        while (!get(serve, "/v1/threads/" + thread + "/result")
                .path("status")
                .asText()
                .equals("complete")) {
            TimeUnit.MILLISECONDS.sleep(100);
        }
    }

    private static Socket open(ServeProcess serve, String thread) throws IOException {
        URI address = URI.create(serve.address());
        Socket socket = new Socket();
        socket.setReceiveBufferSize(RECEIVE_BYTES);
        socket.connect(new InetSocketAddress(address.getHost(), address.getPort()));
        socket.getOutputStream()
                .write(("GET /v1/threads/" + thread + "/events HTTP/1.1\r\nHost: " + address.getAuthority()
                                + "\r\n\r\n")
                        .getBytes(StandardCharsets.US_ASCII));
        return socket;
    }

    /** Sends requests, one after the other, and returns how long the slowest one took, in milliseconds. */
    private double slowestAnswer(ServeProcess serve, String thread) throws IOException, InterruptedException {
        double slowest = 0;
        long end = System.nanoTime() + TimeUnit.SECONDS.toNanos(seconds);
        while (System.nanoTime() - end < 0) {
            long begin = System.nanoTime();
            get(serve, "/v1/threads/" + thread + "/pending");
            slowest = Math.max(slowest, (System.nanoTime() - begin) / 1e6);
        }
        return slowest;
    }

    private JsonNode get(ServeProcess serve, String path) throws IOException, InterruptedException {
        return send(HttpRequest.newBuilder(URI.create(serve.address() + path)));
    }

    private JsonNode post(ServeProcess serve, String path, Map<String, String> body)
            throws IOException, InterruptedException {
        return send(HttpRequest.newBuilder(URI.create(serve.address() + path))
                .header("Content-Type", "application/json")
                .POST(HttpRequest.BodyPublishers.ofString(JSON.writeValueAsString(body))));
    }

    private JsonNode send(HttpRequest.Builder request) throws IOException, InterruptedException {
        HttpResponse<String> response = http.send(request.build(), HttpResponse.BodyHandlers.ofString());
        if (response.statusCode() >= 400) {
            throw new IOException(response.statusCode() + " " + response.body());
        }
        return JSON.readTree(response.body());
    }
}
