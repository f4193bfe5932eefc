package dev.waymark.server.mcp;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.NullNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.waymark.client.AgentClient;
import dev.waymark.connect.DaemonThreads;
import dev.waymark.contract.McpNames;
import dev.waymark.contract.PayloadJson;
import dev.waymark.server.api.AgentCatalog;
import dev.waymark.server.api.Failures;
import dev.waymark.server.http.HttpProblem;
import dev.waymark.server.identity.Caller;
import java.io.BufferedInputStream;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.function.Consumer;

/**
 * The transport for a program that has started this process: one message for each line of stdin and stdout. Ends with
 * stdin; threads continue.
 */
public final class McpPipe {
    private static final int LONGEST_LINE = 1024 * 1024;
    private static final int MOST_OPEN = 64;
    private static final int THREADS = 8;
    private static final Duration ROUND = Duration.ofSeconds(15);

    private final McpMethods methods;
    private final Caller caller;
    private final OutputStream out;
    private final ExecutorService workers;
    /** The open requests, by id. A request without a stream yet has a {@link Starting}. */
    private final Map<JsonNode, MessageSource> open = new ConcurrentHashMap<>();

    private McpPipe(McpMethods methods, Caller caller, OutputStream out, ExecutorService workers) {
        this.methods = methods;
        this.caller = caller;
        this.out = out;
        this.workers = workers;
    }

    /**
     * Serves until stdin ends.
     *
     * @param caller who has started this process, and what its client may do
     * @param unexpected receives internal failures, whose details are not shown to the client
     */
    public static void serve(
            AgentClient client,
            AgentCatalog agents,
            Caller caller,
            InputStream in,
            OutputStream out,
            Consumer<RuntimeException> unexpected)
            throws IOException {
        ExecutorService workers = Executors.newFixedThreadPool(THREADS, DaemonThreads.named("waymark-mcp"));
        McpMethods methods = new McpMethods(client, agents, workers, McpSettings.withRandomKey(), failure -> {
            HttpProblem problem = Failures.of(failure);
            if (problem.status() == 500) {
                unexpected.accept(failure);
            }
            return problem;
        });
        McpPipe pipe = new McpPipe(methods, caller, out, workers);
        try {
            pipe.read(new BufferedInputStream(in));
        } finally {
            workers.shutdownNow();
            pipe.open.values().forEach(MessageSource::close);
        }
    }

    private void read(InputStream in) throws IOException {
        ByteArrayOutputStream line = new ByteArrayOutputStream();
        boolean isTooLong = false;
        for (int next = in.read(); next >= 0; next = in.read()) {
            if (next != '\n') {
                isTooLong |= line.size() >= LONGEST_LINE;
                if (!isTooLong) {
                    line.write(next);
                }
            } else {
                if (isTooLong) {
                    refuse("TooLarge: a message has at most " + LONGEST_LINE + " bytes", McpNames.INVALID_REQUEST);
                } else if (line.size() > 0) {
                    received(line.toString(StandardCharsets.UTF_8));
                }
                line.reset();
                isTooLong = false;
            }
        }
    }

    private void refuse(String words, int code) {
        write(RpcProblem.invalidRequest(code, words).answer(NullNode.getInstance()));
    }

    private void received(String line) {
        if (line.isBlank()) {
            return;
        }
        JsonNode message;
        try {
            message = PayloadJson.MAPPER.readTree(line);
        } catch (JsonProcessingException e) {
            refuse("not JSON: " + e.getOriginalMessage(), McpNames.PARSE_ERROR);
            return;
        }
        if (message.path("method").asText().equals(McpNames.CANCELLED)) {
            Optional.ofNullable(open.remove(message.at("/params/requestId"))).ifPresent(MessageSource::close);
        } else if (message.has("id") && message.has("method") || !message.isObject()) {
            begin(message);
        }
    }

    private void begin(JsonNode message) {
        JsonNode id = message.path("id").isValueNode() ? message.path("id") : NullNode.getInstance();
        McpRequest request;
        try {
            request = McpRequest.read(caller, message, Optional.empty());
        } catch (RpcProblem problem) {
            write(problem.answer(id));
            return;
        }
        MessageSource starting = new Starting();
        if (open.size() >= MOST_OPEN) {
            write(RpcProblem.of(HttpProblem.tooManyRequests("more than " + MOST_OPEN + " open requests"))
                    .answer(id));
        } else if (open.putIfAbsent(id, starting) != null) {
            write(RpcProblem.invalidRequest(McpNames.INVALID_REQUEST, "another open request has this id")
                    .answer(id));
        } else {
            workers.execute(() -> answer(request, starting));
        }
    }

    private void answer(McpRequest request, MessageSource starting) {
        try {
            McpReply reply = methods.answer(request);
            if (reply instanceof McpReply.Finished finished) {
                if (open.remove(request.id(), starting)) {
                    write(finished.message());
                }
            } else if (reply instanceof McpReply.Coming coming) {
                if (open.replace(request.id(), starting, coming.messages())) {
                    forward(request.id(), coming.messages());
                } else {
                    coming.messages().close();
                }
            }
        } catch (RuntimeException e) {
            if (open.remove(request.id(), starting)) {
                write(methods.problem(e).answer(request.id()));
            }
        }
    }

    /** Writes the messages of a source as they come. Blocks no Java thread while there are none. */
    private void forward(JsonNode id, MessageSource messages) {
        messages.next(ROUND)
                .whenCompleteAsync(
                        (part, failure) -> {
                            boolean isWanted = open.get(id) == messages;
                            if (isWanted && failure == null) {
                                part.messages().forEach(this::write);
                            }
                            if (!isWanted || failure != null || part.isLast()) {
                                open.remove(id, messages);
                                messages.close();
                            } else {
                                forward(id, messages);
                            }
                        },
                        workers);
    }

    private void write(ObjectNode message) {
        byte[] line = (message + "\n").getBytes(StandardCharsets.UTF_8);
        synchronized (out) {
            try {
                out.write(line);
                out.flush();
            } catch (IOException e) {
                throw new UncheckedIOException(e);
            }
        }
    }

    /** Stands for a request that has no messages yet. */
    private static final class Starting implements MessageSource {
        @Override
        public CompletableFuture<Part> next(Duration most) {
            throw new IllegalStateException("the request has not started, so it has no messages");
        }

        @Override
        public void close() {
            // A cancelled request is not answered; the thread that it has started continues.
        }
    }
}
