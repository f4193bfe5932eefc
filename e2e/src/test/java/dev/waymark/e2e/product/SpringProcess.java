package dev.waymark.e2e.product;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.waymark.fixtures.process.FreePort;
import dev.waymark.testkit.process.ChildProcess;
import java.io.IOException;
import java.net.ConnectException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;

/** A Spring Boot application in a separate process. */
public final class SpringProcess implements AutoCloseable {
    /** The file in the project that the output is appended to. */
    public static final String LOG = "application.log";

    private static final Duration MOST = Duration.ofMinutes(3);

    private final HttpClient http = HttpClient.newHttpClient();
    private final ChildProcess process;
    private final String address;

    private SpringProcess(ChildProcess process, String address) {
        this.process = process;
        this.address = address;
    }

    /**
     * Starts the application, and returns when it reports that it is up. Its output is appended to
     * {@code application.log} in the project.
     */
    public static SpringProcess start(Path project, Path jar, Map<String, String> environment, String... arguments)
            throws IOException {
        int port = FreePort.next();
        List<String> words = new ArrayList<>(List.of(
                ChildProcess.javaCommand(),
                "-XX:TieredStopAtLevel=1",
                "-jar",
                jar.toString(),
                "--server.port=" + port));
        words.addAll(List.of(arguments));
        ChildProcess process = ChildProcess.of(words)
                .in(project)
                .environment(environment)
                .outputTo(project.resolve(LOG))
                .start();
        SpringProcess started = new SpringProcess(process, "http://127.0.0.1:" + port);
        try {
            await().atMost(MOST)
                    .pollInterval(Duration.ofMillis(200))
                    .ignoreException(ConnectException.class)
                    .until(() -> {
                        assertThat(started.process.handle().isAlive()).isTrue();
                        return started.get("/actuator/health").contains("\"status\":\"UP\"");
                    });
        } catch (RuntimeException | Error e) {
            started.close();
            throw e;
        }
        return started;
    }

    /** Sends a request without waiting for the response, which never comes if the application is killed before. */
    public CompletableFuture<HttpResponse<String>> post(String path, String type, String body) {
        HttpRequest request = HttpRequest.newBuilder(URI.create(address + path))
                .header("Content-Type", type)
                .POST(HttpRequest.BodyPublishers.ofString(body))
                .build();
        return http.sendAsync(request, HttpResponse.BodyHandlers.ofString());
    }

    /** Waits for the response, and returns its body. */
    public String get(String path) throws IOException, InterruptedException {
        HttpRequest request =
                HttpRequest.newBuilder(URI.create(address + path)).timeout(MOST).build();
        return http.send(request, HttpResponse.BodyHandlers.ofString()).body();
    }

    /** Kills the application with SIGKILL. */
    public void kill() {
        process.kill();
    }

    /** Sends SIGTERM, which drains the application, and returns whether it ended within three minutes. */
    public boolean ends() throws InterruptedException {
        process.handle().destroy();
        return process.exitCodeWithin(MOST).isPresent();
    }

    @Override
    public void close() {
        process.close();
    }
}
