package dev.waymark.server;

import static dev.waymark.server.ServedThreads.ANN;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import com.fasterxml.jackson.databind.JsonNode;
import dev.waymark.server.mcp.McpSettings;
import io.temporal.api.testservice.v1.SleepRequest;
import io.temporal.serviceclient.TestServiceStubs;
import io.temporal.serviceclient.TestServiceStubsOptions;
import java.nio.file.Path;
import java.time.Clock;
import java.time.Duration;
import java.time.Instant;
import java.time.ZoneOffset;
import java.util.Map;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** A call over MCP that waits for a day. Time is skipped on Temporal, and the clock of the server is set. */
@Tag("full")
@Timeout(120)
class McpDayTest {
    private static final byte[] KEY = new byte[McpSettings.LEAST_KEY_BYTES];
    private static final String CHARGE = "{'message':'Charge'}";
    private static final String APPROVED = "{'action':'accept','content':{'decision':'approve'}}";

    @TempDir
    private Path directory;

    private Instant now = Instant.parse("2026-11-26T08:00:00Z");
    private ServedThreads threads;
    private TestServiceStubs time;

    @BeforeEach
    void start() throws Exception {
        threads = ServedThreads.inMemory(directory, Map.of());
        time = TestServiceStubs.newServiceStubs(TestServiceStubsOptions.newBuilder()
                .setTarget(threads.temporalAddress())
                .validateAndBuildWithDefaults());
    }

    @AfterEach
    void stop() throws Exception {
        time.shutdownNow();
        threads.close();
    }

    private void skip(Duration much) {
        time.blockingStub()
                .unlockTimeSkippingWithSleep(SleepRequest.newBuilder()
                        .setDuration(com.google.protobuf.Duration.newBuilder().setSeconds(much.toSeconds()))
                        .build());
        now = now.plus(much);
    }

    /** Starts a server that has only the key in common with the earlier one. */
    private ApiServer serve() throws Exception {
        return threads.serve(McpSettings.withKey(KEY).withClock(Clock.fixed(now, ZoneOffset.UTC)));
    }

    private static JsonNode awaitTask(McpCaller client, String id, String status) {
        return await().atMost(Duration.ofMinutes(1))
                .until(
                        () -> client.task(id),
                        task -> task.path("status").asText().equals(status));
    }

    private static void assertChargedOnce(HttpCaller caller, String thread) throws Exception {
        JsonNode calls = caller.list(thread, "calls");
        assertThat(calls).hasSize(1);
        assertThat(calls.get(0).path("status").asText()).isEqualTo("completed");
    }

    @Test
    void taskWaitingADay_isDecidedByAnotherClientAtAnotherServer() throws Exception {
        String id;
        String key;
        try (ApiServer first = serve()) {
            McpCaller client = McpCaller.withTasks(HttpCaller.of(first, ANN));
            id = client.call("billing", CHARGE).path("taskId").asText();
            key = awaitTask(client, id, "input_required")
                    .path("inputRequests")
                    .fieldNames()
                    .next();
        }
        for (int hour = 0; hour < 24; hour++) {
            skip(Duration.ofHours(1));
        }

        try (ApiServer second = serve()) {
            McpCaller other = McpCaller.withTasks(HttpCaller.of(second, ANN));
            JsonNode waiting = awaitTask(other, id, "input_required");
            Instant created = Instant.parse(waiting.path("createdAt").asText());

            assertThat(waiting.path("inputRequests").has(key)).isTrue();
            other.update(id, key, APPROVED);
            JsonNode done = awaitTask(other, id, "completed");

            assertThat(done.at("/result/content/0/text").asText()).isEqualTo("Charged.");
            assertThat(Instant.parse(done.path("createdAt").asText())).isEqualTo(created);
            assertThat(Duration.between(
                            created, Instant.parse(done.path("lastUpdatedAt").asText())))
                    .isGreaterThanOrEqualTo(Duration.ofHours(24));
            assertChargedOnce(other.http(), id);
        }
    }

    @Test
    void requestState_isValidOnAnyServerForOneDay() throws Exception {
        JsonNode required;
        JsonNode late;
        try (ApiServer first = serve()) {
            McpCaller client = McpCaller.withForms(HttpCaller.of(first, ANN));
            required = client.call("billing", CHARGE);
            late = client.call("billing", CHARGE);
            assertThat(required.path("resultType").asText()).isEqualTo("input_required");
        }
        skip(Duration.ofHours(23));

        try (ApiServer second = serve()) {
            McpCaller client = McpCaller.withForms(HttpCaller.of(second, ANN));
            JsonNode result = client.fillIn("billing", CHARGE, required, APPROVED);

            assertThat(result.at("/content/0/text").asText()).isEqualTo("Charged.");
            assertChargedOnce(
                    client.http(),
                    result.path("_meta").path("dev.waymark/thread").asText());
        }
        skip(Duration.ofHours(2));

        try (ApiServer third = serve()) {
            McpCaller client = McpCaller.withForms(HttpCaller.of(third, ANN));
            String key = late.path("inputRequests").fieldNames().next();
            JsonNode params = McpCaller.json("{'name':'billing','arguments':" + CHARGE + ",'requestState':"
                    + late.path("requestState") + ",'inputResponses':{'" + key + "':" + APPROVED + "}}");

            assertThat(client.send("tools/call", params).at("/error/data/type").asText())
                    .isEqualTo("RequestStateExpired");
        }
    }
}
