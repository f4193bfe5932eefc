package dev.waymark.server;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.waymark.client.AgentClient;
import dev.waymark.connect.Connection;
import dev.waymark.contract.PayloadJson;
import dev.waymark.contract.WireNames;
import dev.waymark.contract.message.Ack;
import dev.waymark.contract.message.InboundDecoder;
import dev.waymark.contract.message.Refusal;
import dev.waymark.conversation.fact.Fact;
import dev.waymark.conversation.fact.ThreadFact;
import dev.waymark.conversation.value.Json;
import dev.waymark.conversation.value.Sha256;
import dev.waymark.server.api.AgentCatalog;
import dev.waymark.server.http.HttpSettings;
import dev.waymark.server.identity.StaticTokens;
import dev.waymark.worker.server.InMemoryServer;
import io.grpc.CallOptions;
import io.grpc.Channel;
import io.grpc.ClientCall;
import io.grpc.ClientInterceptor;
import io.grpc.ForwardingClientCall.SimpleForwardingClientCall;
import io.grpc.Metadata;
import io.grpc.MethodDescriptor;
import io.grpc.Status;
import io.temporal.api.common.v1.Payload;
import io.temporal.api.common.v1.WorkflowExecution;
import io.temporal.api.failure.v1.ApplicationFailureInfo;
import io.temporal.api.failure.v1.Failure;
import io.temporal.api.update.v1.Input;
import io.temporal.api.update.v1.Outcome;
import io.temporal.api.update.v1.UpdateRef;
import io.temporal.api.workflowservice.v1.UpdateWorkflowExecutionRequest;
import io.temporal.api.workflowservice.v1.UpdateWorkflowExecutionResponse;
import java.net.http.HttpRequest;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicReference;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/**
 * The answers of the API to valid and hostile bodies, and the updates that it sends. The id of an update with an
 * idempotency key is a digest of its content, so a repeated request is recognized only if every byte is the same.
 */
@Tag("full")
@Timeout(300)
class HostileRequestsTest {
    private static final Path BODIES = Path.of("../shared/src/test/resources/message/bodies.jsonl");
    private static final Path GOLDEN = Path.of("src/test/resources/message/answers.jsonl");
    private static final Pattern REPEATED = Pattern.compile("@\\{(.+?)\\*(\\d+)}");
    private static final List<String> OPERATIONS =
            List.of("say", "answer", "approve", "deny", "settle", "budget", "stop", "close");
    private static final int LONGEST_SHOWN = 400;
    /** A fact that the thread has not reached, so the client does not compare the message with a recorded one. */
    private static final int LATE_FACT = 9_999;

    @TempDir
    private Path directory;

    private final AtomicReference<UpdateWorkflowExecutionRequest> sent = new AtomicReference<>();

    /** {@code -Dbodies.record=true} writes the file. Lines may be added, and never change. */
    @Test
    void bodies_ofEveryOperation_areAnsweredAsRecorded() throws Exception {
        InMemoryServer temporal = InMemoryServer.start(0);
        try (ServedThreads threads = ServedThreads.on(temporal, directory, Map.of());
                Connection connection = Connection.to(temporal.address(), new Thread());
                AgentClient client = AgentClient.on(connection, WireNames.TASK_QUEUE);
                ApiServer server = ApiServer.start(
                        client,
                        HttpSettings.at("127.0.0.1", 0).withLimits(1_000_000, 200, 1_000_000),
                        new AgentCatalog(Optional.empty()),
                        Optional.of(StaticTokens.of(threads.tokens())))) {
            HttpCaller ann = HttpCaller.of(threads.serve(), ServedThreads.ANN);
            String thread = ann.start("billing", "Charge");
            ann.awaitPending(thread, 1);
            List<String> lines = new ArrayList<>();
            for (String line : Files.readAllLines(BODIES)) {
                JsonNode body = PayloadJson.MAPPER.readTree(line);
                if (OPERATIONS.contains(body.path("verb").asText())) {
                    lines.add(answer(ann.at(server), thread, body));
                }
            }
            if (Boolean.getBoolean("bodies.record")) {
                Files.createDirectories(GOLDEN.getParent());
                Files.write(GOLDEN, lines);
            }

            List<String> golden = Files.readAllLines(GOLDEN);
            assertThat(lines).hasSameSizeAs(golden);
            for (int i = 0; i < lines.size(); i++) {
                assertThat(lines.get(i)).isEqualTo(golden.get(i));
            }
        }
    }

    private String answer(HttpCaller caller, String thread, JsonNode body) throws Exception {
        String verb = body.path("verb").asText();
        String text = REPEATED.matcher(body.path("body").asText())
                .replaceAll(match -> Matcher.quoteReplacement(match.group(1).repeat(Integer.parseInt(match.group(2)))));
        sent.set(UpdateWorkflowExecutionRequest.getDefaultInstance());
        HttpCaller who = caller.as(verb.equals("budget") ? ServedThreads.OPERATOR : ServedThreads.ANN);
        HttpCaller.Answer answer = who.send(who.request("/v1/threads/" + thread + "/" + verb)
                .header("Content-Type", "application/json")
                .header("Idempotency-Key", "k")
                .POST(HttpRequest.BodyPublishers.ofString(text)));
        ObjectNode line = PayloadJson.MAPPER.createObjectNode();
        line.put("verb", verb).set("body", body.path("body"));
        line.put("status", answer.status());
        for (String field : List.of("code", "detail", "remedy")) {
            if (answer.body().has(field)) {
                line.put(field, shown(answer.text(field).replace(thread, "THREAD")));
            }
        }
        if (sent.get().hasRequest()) {
            Input input = sent.get().getRequest().getInput();
            line.put("update", sent.get().getRequest().getMeta().getUpdateId());
            Fact fact = InboundDecoder.read(input.getName(), input.getArgs().getPayloads(0));
            line.put("fact", fact.type() + " " + shown(canonical(fact)));
        }
        return line.toString();
    }

    private static String canonical(Fact fact) {
        return Json.of(PayloadJson.MAPPER.convertValue(fact, Object.class)).canonical();
    }

    private static String shown(String text) {
        return text.length() <= LONGEST_SHOWN ? text : Sha256.hex(text);
    }

    /** Answers updates like a thread that accepts all messages that can be read. */
    private final class Thread implements ClientInterceptor {
        @Override
        public <Q, A> ClientCall<Q, A> interceptCall(MethodDescriptor<Q, A> method, CallOptions options, Channel next) {
            if (!"UpdateWorkflowExecution".equals(method.getBareMethodName())) {
                return next.newCall(method, options);
            }
            return new SimpleForwardingClientCall<>(next.newCall(method, options)) {
                private Listener<A> caller;

                @Override
                public void start(Listener<A> listener, Metadata headers) {
                    caller = listener;
                }

                @Override
                public void request(int messages) {}

                @Override
                public void halfClose() {}

                @Override
                @SuppressWarnings("unchecked")
                public void sendMessage(Q message) {
                    UpdateWorkflowExecutionRequest request = (UpdateWorkflowExecutionRequest) message;
                    sent.set(request);
                    caller.onHeaders(new Metadata());
                    caller.onMessage((A) accepted(request));
                    caller.onClose(Status.OK, new Metadata());
                }
            };
        }

        private UpdateWorkflowExecutionResponse accepted(UpdateWorkflowExecutionRequest request) {
            Input input = request.getRequest().getInput();
            Payload payload = input.getArgs().getPayloads(0);
            Fact fact = InboundDecoder.read(input.getName(), payload);
            Outcome outcome = fact instanceof ThreadFact.MessageIgnored ignored
                    ? Outcome.newBuilder()
                            .setFailure(Failure.newBuilder()
                                    .setMessage(new Refusal(ignored.problem()).getMessage())
                                    .setApplicationFailureInfo(
                                            ApplicationFailureInfo.newBuilder().setType(Refusal.class.getName())))
                            .build()
                    : Outcome.newBuilder()
                            .setSuccess(PayloadJson.dataConverter()
                                    .toPayloads(new Ack(LATE_FACT, false))
                                    .orElseThrow())
                            .build();
            return UpdateWorkflowExecutionResponse.newBuilder()
                    .setUpdateRef(UpdateRef.newBuilder()
                            .setWorkflowExecution(WorkflowExecution.newBuilder().setRunId("RUN")))
                    .setOutcome(outcome)
                    .build();
        }
    }
}
