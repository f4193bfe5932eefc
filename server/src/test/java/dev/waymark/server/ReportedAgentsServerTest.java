package dev.waymark.server;

import static dev.waymark.server.ServedThreads.ANN;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import com.fasterxml.jackson.databind.JsonNode;
import dev.waymark.worker.server.DevServer;
import dev.waymark.worker.server.TemporalBinary;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The agents that workers report, on Temporal's development server. */
@Tag("full")
@Tag("server")
class ReportedAgentsServerTest {
    private static final List<String> NAMES = List.of("asker", "assistant", "billing", "guide", "shopper");

    @TempDir
    private Path directory;

    private static DevServer temporal() throws Exception {
        Optional<Path> binary = TemporalBinary.find();
        assumeTrue(binary.isPresent(), "no temporal command");
        return DevServer.temporal(binary.orElseThrow(), Optional.empty(), 0, 0);
    }

    private static JsonNode agents(HttpCaller caller) throws Exception {
        HttpCaller.Answer answer = caller.get("/v1/agents");
        assertThat(answer.status()).isEqualTo(200);
        return HttpCaller.checked("AgentList", answer.body()).path("agents");
    }

    @Test
    void worker_reportsItsAgents_andTheirThreadsStart() throws Exception {
        try (ServedThreads threads = ServedThreads.on(temporal(), directory, Map.of())) {
            HttpCaller caller = HttpCaller.of(threads.serveAgentsOfWorkers(), ANN);

            JsonNode agents =
                    await().atMost(Duration.ofMinutes(1)).until(() -> agents(caller), list -> !list.isEmpty());

            assertThat(agents.findValuesAsText("name")).isEqualTo(NAMES);
            assertThat(agents.get(1).path("description").asText()).isEqualTo("Says hello");
            assertThat(agents.get(1).has("lacks")).isFalse();
            String thread = caller.start("assistant", "Hi");
            await().atMost(Duration.ofMinutes(1))
                    .until(() -> caller.get("/v1/threads/" + thread).text("status"), "complete"::equals);
            assertThat(caller.get("/v1/threads").body().at("/threads").findValuesAsText("thread"))
                    .containsExactly(thread);
        }
    }

    @Test
    void agents_withoutWorker_areEmptyUntilOneStarts() throws Exception {
        DevServer temporal = temporal();
        try (ServedThreads lonely =
                ServedThreads.withoutWorker(temporal, Files.createDirectory(directory.resolve("a")))) {
            HttpCaller caller = HttpCaller.of(lonely.serveAgentsOfWorkers(), ANN);
            long begun = System.nanoTime();
            assertThat(agents(caller)).isEmpty();
            assertThat(Duration.ofNanos(System.nanoTime() - begun)).isLessThan(Duration.ofSeconds(10));

            try (ServedThreads ignored = ServedThreads.on(temporal, directory, Map.of())) {
                await().atMost(Duration.ofMinutes(1))
                        .until(() -> agents(caller).findValuesAsText("name"), NAMES::equals);
            }
        }
    }
}
