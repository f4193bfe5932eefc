package dev.waymark.server.mcp;

import com.fasterxml.jackson.databind.JsonNode;
import dev.waymark.server.http.HttpProblem;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.function.Function;

/** Messages that end with an error if reading fails, so that every request gets an answer. */
record AnsweredMessages(MessageSource messages, JsonNode id, Function<RuntimeException, HttpProblem> failures)
        implements MessageSource {
    @Override
    public CompletableFuture<Part> next(Duration most) {
        return messages.next(most).exceptionally(failure -> {
            Throwable cause = failure instanceof CompletionException wrapped && wrapped.getCause() != null
                    ? wrapped.getCause()
                    : failure;
            RuntimeException known =
                    cause instanceof RuntimeException runtime ? runtime : new IllegalStateException(cause);
            return new Part(List.of(RpcProblem.of(known, failures).answer(id)), true);
        });
    }

    @Override
    public void close() {
        messages.close();
    }
}
