package dev.waymark.history;

import com.google.common.util.concurrent.FutureCallback;
import com.google.common.util.concurrent.Futures;
import com.google.common.util.concurrent.ListenableFuture;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/** Converts asynchronous answers of the server to futures. */
public final class PendingAnswer {
    private PendingAnswer() {}

    /**
     * Returns the answer as a future that fails with the server's error. Cancelling the future cancels the request.
     *
     * @param reading runs in a thread of the connection, and must not block
     */
    public static <A, T> CompletableFuture<T> of(ListenableFuture<A> answer, Function<A, T> reading) {
        CompletableFuture<T> answered = new CompletableFuture<>();
        Futures.addCallback(
                answer,
                new FutureCallback<>() {
                    @Override
                    public void onSuccess(@Nullable A message) {
                        answered.complete(reading.apply(Objects.requireNonNull(message)));
                    }

                    @Override
                    public void onFailure(Throwable failure) {
                        answered.completeExceptionally(failure);
                    }
                },
                Runnable::run);
        answered.whenComplete((message, failure) -> answer.cancel(true));
        return answered;
    }
}
