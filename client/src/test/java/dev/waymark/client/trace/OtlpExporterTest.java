package dev.waymark.client.trace;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.fasterxml.jackson.databind.JsonNode;
import com.google.protobuf.UnknownFieldSet;
import com.sun.net.httpserver.HttpServer;
import dev.waymark.contract.PayloadJson;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

class OtlpExporterTest {
    private static final Span SPAN = new Span(
            "0af7651916cd43dd8448eb211c80319c",
            "b7ad6b7169203331",
            Optional.of("00f067aa0ba902b7"),
            "chat model",
            Span.Kind.CLIENT,
            Instant.parse("2026-11-22T10:00:00.001Z"),
            Instant.parse("2026-11-22T10:00:01Z"),
            Map.of("gen_ai.usage.input_tokens", 41L),
            Optional.of("ModelFailed"));

    record Request(String type, String key, byte[] body) {}

    private final List<Request> requests = new CopyOnWriteArrayList<>();
    private final List<Integer> answers = new CopyOnWriteArrayList<>();
    private HttpServer collector;

    @BeforeEach
    void start() throws IOException {
        collector = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
        collector.createContext("/v1/traces", exchange -> {
            requests.add(new Request(
                    exchange.getRequestHeaders().getFirst("Content-Type"),
                    exchange.getRequestHeaders().getFirst("api-key"),
                    exchange.getRequestBody().readAllBytes()));
            exchange.sendResponseHeaders(answers.isEmpty() ? 200 : answers.remove(0), -1);
            exchange.close();
        });
        collector.start();
    }

    @AfterEach
    void stop() {
        collector.stop(0);
    }

    private Map<String, String> environment(String... more) {
        List<String> all = new ArrayList<>(List.of(more));
        java.util.LinkedHashMap<String, String> variables = new java.util.LinkedHashMap<>();
        variables.put(
                "OTEL_EXPORTER_OTLP_ENDPOINT",
                "http://127.0.0.1:" + collector.getAddress().getPort());
        for (int i = 0; i < all.size(); i += 2) {
            variables.put(all.get(i), all.get(i + 1));
        }
        return variables;
    }

    @Test
    void json_followsTheProtocol() throws Exception {
        OtlpExporter.of(
                        Optional.empty(),
                        environment(
                                "OTEL_EXPORTER_OTLP_PROTOCOL",
                                "http/json",
                                "OTEL_EXPORTER_OTLP_HEADERS",
                                "api-key=a%20b, x=y"))
                .take(List.of(SPAN));

        assertThat(requests)
                .singleElement()
                .returns("application/json", Request::type)
                .returns("a b", Request::key);
        JsonNode span = PayloadJson.MAPPER.readTree(requests.get(0).body()).at("/resourceSpans/0/scopeSpans/0/spans/0");
        assertThat(span).isEqualTo(PayloadJson.MAPPER.readTree("""
                        {"traceId": "0af7651916cd43dd8448eb211c80319c", "spanId": "b7ad6b7169203331",
                         "parentSpanId": "00f067aa0ba902b7", "name": "chat model", "kind": 3,
                         "startTimeUnixNano": "1795341600001000000", "endTimeUnixNano": "1795341601000000000",
                         "attributes": [{"key": "gen_ai.usage.input_tokens", "value": {"intValue": "41"}}],
                         "status": {"code": 2, "message": "ModelFailed"}}"""));
    }

    @Test
    void protobuf_hasTheSameSpans_inRequestsOfLimitedSize() throws Exception {
        OtlpExporter.of(Optional.empty(), environment())
                .take(IntStream.range(0, 600).mapToObj(i -> SPAN).toList());

        assertThat(requests).hasSize(2).extracting(Request::type).containsOnly("application/x-protobuf");
        List<UnknownFieldSet> spans = new ArrayList<>();
        for (Request request : requests) {
            UnknownFieldSet resource = UnknownFieldSet.parseFrom(UnknownFieldSet.parseFrom(request.body())
                    .getField(1)
                    .getLengthDelimitedList()
                    .get(0));
            UnknownFieldSet scope = UnknownFieldSet.parseFrom(
                    resource.getField(2).getLengthDelimitedList().get(0));
            for (var span : scope.getField(2).getLengthDelimitedList()) {
                spans.add(UnknownFieldSet.parseFrom(span));
            }
        }
        assertThat(spans).hasSize(600);
        assertThat(spans.get(0).getField(1).getLengthDelimitedList().get(0).size())
                .isEqualTo(16);
        assertThat(spans.get(0).getField(2).getLengthDelimitedList().get(0).size())
                .isEqualTo(8);
        assertThat(spans.get(0).getField(5).getLengthDelimitedList().get(0).toStringUtf8())
                .isEqualTo("chat model");
        assertThat(spans.get(0).getField(7).getFixed64List()).containsExactly(1795341600001000000L);
    }

    @Test
    void busyCollector_isRetried_andARefusalIsNot() {
        answers.addAll(List.of(503, 429));
        OtlpExporter.of(Optional.empty(), environment()).take(List.of(SPAN));
        assertThat(requests).hasSize(3);

        answers.add(400);
        assertThatThrownBy(
                        () -> OtlpExporter.of(Optional.empty(), environment()).take(List.of(SPAN)))
                .isInstanceOf(CollectorException.class)
                .hasMessageEndingWith("/v1/traces: HTTP 400");
        assertThat(requests).hasSize(4);
    }

    @Test
    void invalidSettings_areRefused() {
        assertThatThrownBy(() -> OtlpExporter.of(Optional.of("localhost:4317"), Map.of()))
                .hasMessage("the collector's address must be an http or https URL: localhost:4317");
        assertThatThrownBy(
                        () -> OtlpExporter.of(Optional.empty(), Map.of("OTEL_EXPORTER_OTLP_TRACES_PROTOCOL", "grpc")))
                .hasMessage("the protocol must be http/protobuf or http/json: grpc");
    }
}
