package dev.waymark.worker.tool.http;

import static org.assertj.core.api.Assertions.assertThat;

import dev.waymark.agent.Endpoint;
import dev.waymark.agent.Endpoint.Method;
import dev.waymark.agent.ToolSpec;
import dev.waymark.conversation.value.Json;
import dev.waymark.worker.tool.ToolThread;
import io.temporal.api.enums.v1.EventType;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** HTTP requests as tools of agents, run by a complete worker. */
@Timeout(120)
@Tag("full")
class HttpToolThreadTest {
    private static final Json SCHEMA = Json.of(Map.of(
            "type",
            "object",
            "required",
            List.of("cents"),
            "properties",
            Map.of("cents", Map.of("type", "integer"), "card", Map.of("type", "string"))));

    private final ToolThread thread = new ToolThread();

    private static ToolSpec.Builder charge(Method method, String url) {
        return ToolSpec.http("charge", Endpoint.of(method, url).allowingPrivate())
                .describedAs("Charges", SCHEMA);
    }

    private long claims() {
        return thread.history().getEvents().stream()
                .filter(event -> event.getEventType() == EventType.EVENT_TYPE_WORKFLOW_EXECUTION_UPDATE_ACCEPTED)
                .count();
    }

    @Test
    void sideEffectingTool_isClaimedAndSendsAKeyForEachCall() throws Exception {
        try (RecordingServer server = RecordingServer.with(
                (exchange, request) -> RecordingServer.send(exchange, 200, "charged " + request.body()))) {
            String text = thread.run(
                    charge(Method.POST, server.url("/charges")).build(), Map.of("cents", 5), Map.of("cents", 5));

            assertThat(text).isEqualTo("charged {\"cents\":5}|charged {\"cents\":5}");
            assertThat(claims()).isEqualTo(2);
            assertThat(server.requests().stream()
                            .map(request -> request.headers().getFirst("Idempotency-Key"))
                            .distinct())
                    .hasSize(2)
                    .allMatch(key -> key.matches("[0-9a-f]{64}"));
        }
    }

    @Test
    void safeTool_isNotClaimedAndSendsNoKey() throws Exception {
        try (RecordingServer server =
                RecordingServer.with((exchange, request) -> RecordingServer.send(exchange, 200, "found"))) {
            String text = thread.run(
                    charge(Method.GET, server.url("/charges/{cents}"))
                            .safeToRetry()
                            .build(),
                    Map.of("cents", 5));

            assertThat(text).isEqualTo("found");
            assertThat(claims()).isZero();
            assertThat(server.requests().get(0).target()).isEqualTo("/charges/5");
            assertThat(server.requests().get(0).headers()).doesNotContainKey("Idempotency-key");
        }
    }

    @Test
    void mismatchingArguments_areReportedToTheModelAndNotSent() throws Exception {
        try (RecordingServer server =
                RecordingServer.with((exchange, request) -> RecordingServer.send(exchange, 200, "charged"))) {
            String text = thread.run(
                    charge(Method.POST, server.url("/{card}/charges")).build(),
                    Map.of("cents", 5),
                    Map.of("cents", 5, "card", ".."));

            assertThat(text)
                    .isEqualTo("Invalid input for tool \"charge\": card is part of the URL: expected text, a number,"
                            + " true or false, found nothing|Invalid input for tool \"charge\": . and .. are not allowed"
                            + " as path segments");
            assertThat(server.requests()).isEmpty();
        }
    }

    @Test
    void otherStatus_isAnErrorThatTheModelSees() throws Exception {
        try (RecordingServer server =
                RecordingServer.with((exchange, request) -> RecordingServer.send(exchange, 402, "no money"))) {
            assertThat(thread.run(charge(Method.POST, server.url("/")).build(), Map.of("cents", 5)))
                    .isEqualTo("Tool error: status 402: no money");
        }
    }

    @Test
    void privateAddress_isRefused() throws Exception {
        try (RecordingServer server =
                RecordingServer.with((exchange, request) -> RecordingServer.send(exchange, 200, "reached"))) {
            ToolSpec tool = ToolSpec.http("charge", Endpoint.of(Method.POST, server.url("/")))
                    .describedAs("Charges", SCHEMA)
                    .build();

            assertThat(thread.run(tool, Map.of("cents", 5)))
                    .isEqualTo("Tool error: its address is private, and the tool does not set allow_private: true");
            assertThat(server.requests()).isEmpty();
        }
    }

    /** A server that never answers the first request. */
    private static RecordingServer losingTheFirst(AtomicInteger effects) {
        return RecordingServer.with((exchange, request) -> {
            if (effects.incrementAndGet() > 1) {
                RecordingServer.send(exchange, 200, "charged");
            }
        });
    }

    @Test
    void lostAnswer_isUnknownAndARepeatedCallKeepsItsKey() throws Exception {
        AtomicInteger effects = new AtomicInteger();
        try (RecordingServer server = losingTheFirst(effects)) {
            String text = thread.run(
                    charge(Method.POST, server.url("/")).honoursKey().build(), Map.of("cents", 5), Map.of("cents", 5));

            assertThat(text)
                    .startsWith("{\"error\":\"Tool 'charge' (call tu_1) was requested but its execution did not"
                            + " complete durably")
                    .endsWith("|charged");
            assertThat(server.requests()).hasSize(2);
            assertThat(server.requests().stream()
                            .map(request -> request.headers().getFirst("Idempotency-Key"))
                            .distinct())
                    .hasSize(1);
        }
    }

    @Test
    void lostAnswer_withoutEffect_isSentAgainWithItsKey() throws Exception {
        AtomicInteger effects = new AtomicInteger();
        try (RecordingServer server = losingTheFirst(effects)) {
            String text = thread.run(
                    charge(Method.POST, server.url("/"))
                            .honoursKey()
                            .timeout(Duration.ofSeconds(6))
                            .verify("echo", "{\"landed\": false}")
                            .build(),
                    Map.of("cents", 5));

            assertThat(text).isEqualTo("charged");
            assertThat(claims()).isEqualTo(2);
            assertThat(server.requests().stream()
                            .map(request -> request.headers().getFirst("Idempotency-Key"))
                            .distinct())
                    .hasSize(1);
        }
    }

    @Test
    void lostAnswer_withEffect_isVerified() throws Exception {
        AtomicInteger effects = new AtomicInteger();
        try (RecordingServer server = losingTheFirst(effects)) {
            String text = thread.run(
                    charge(Method.POST, server.url("/"))
                            .timeout(Duration.ofSeconds(6))
                            .verify("echo", "{\"landed\": true, \"result\": \"charged before\"}")
                            .build(),
                    Map.of("cents", 5));

            assertThat(text).isEqualTo("charged before");
            assertThat(effects).hasValue(1);
        }
    }

    @ParameterizedTest
    @ValueSource(ints = {408, 500, 502, 504, 0})
    void effectBeforeAnInconclusiveEnd_isVerifiedAndHappensOnce(int status) throws Exception {
        AtomicInteger effects = new AtomicInteger();
        try (RecordingServer server = RecordingServer.with((exchange, request) -> {
            effects.incrementAndGet();
            if (status > 0) {
                RecordingServer.send(exchange, status, "upstream");
            } else {
                exchange.close();
            }
        })) {
            ToolSpec tool = charge(Method.POST, server.url("/"))
                    .timeout(Duration.ofSeconds(2))
                    .verify("echo", "{\"landed\": true, \"result\": \"charged before\"}")
                    .build();

            assertThat(thread.run(tool, Map.of("cents", 5))).isEqualTo("charged before");
            assertThat(effects).hasValue(1);
        }
    }

    @Test
    void serverError_withoutVerification_isUnknownAndARepeatedCallKeepsItsKey() throws Exception {
        try (RecordingServer server =
                RecordingServer.with((exchange, request) -> RecordingServer.send(exchange, 504, "upstream"))) {
            String text =
                    thread.run(charge(Method.POST, server.url("/")).build(), Map.of("cents", 5), Map.of("cents", 5));

            assertThat(text).startsWith("{\"error\":\"Tool 'charge' (call tu_1)");
            assertThat(thread.history().getHistory().toString()).contains("status 504: upstream");
            assertThat(server.requests().stream()
                            .map(request -> request.headers().getFirst("Idempotency-Key"))
                            .distinct())
                    .hasSize(1);
        }
    }

    /** No variable can be set in a running JVM, so an existing one serves as the secret. */
    @Test
    void secret_echoedByTheServer_isNotInHistory() throws Exception {
        String secret = System.getenv("PATH");
        try (RecordingServer server = RecordingServer.with((exchange, request) -> RecordingServer.send(
                exchange,
                request.body().contains("6") ? 422 : 200,
                request.headers().getFirst("X-Token") + " " + request.target()))) {
            String text = thread.run(
                    ToolSpec.http(
                                    "charge",
                                    Endpoint.of(Method.POST, server.url("/x"))
                                            .allowingPrivate()
                                            .withHeader("X-Token", "Bearer ${PATH}"))
                            .describedAs("Charges", SCHEMA)
                            .build(),
                    Map.of("cents", 5),
                    Map.of("cents", 6));

            assertThat(server.requests().get(0).headers().getFirst("X-Token")).isEqualTo("Bearer " + secret);
            assertThat(text).isEqualTo("Bearer ${PATH} /x|Tool error: status 422: Bearer ${PATH} /x");
            assertThat(thread.history().getHistory().toString()).doesNotContain(secret);
        }
    }
}
