package dev.waymark.client.connection;

import dev.waymark.client.failure.Remedy;
import dev.waymark.client.failure.WaymarkException;
import dev.waymark.codec.KeyProblem;
import dev.waymark.codec.ThreadForgottenException;
import dev.waymark.contract.carry.PreviousRunGoneException;
import dev.waymark.conversation.value.Problem;
import dev.waymark.keystore.KeyStoreException;
import io.grpc.StatusRuntimeException;
import io.temporal.client.WorkflowServiceException;
import java.util.Optional;
import java.util.function.Supplier;

/** Converts errors of the Temporal server to exceptions for callers. */
public final class ServerFailures {
    private final String address;

    public ServerFailures(String address) {
        this.address = address;
    }

    public <T> T translated(Supplier<T> request) {
        try {
            return request.get();
        } catch (WorkflowServiceException e) {
            for (Throwable cause = e.getCause(); cause != null; cause = cause.getCause()) {
                Optional<WaymarkException> known = known(cause);
                if (known.isPresent()) {
                    throw known.get();
                }
            }
            throw e;
        } catch (RuntimeException e) {
            throw known(e).<RuntimeException>map(known -> known).orElse(e);
        }
    }

    private Optional<WaymarkException> known(Throwable failure) {
        if (failure instanceof StatusRuntimeException status) {
            return Optional.of(translate(status));
        }
        if (failure instanceof KeyProblem problem) {
            return Optional.of(unreadable(problem));
        }
        if (failure instanceof ThreadForgottenException problem) {
            return Optional.of(new WaymarkException.Forgotten(String.valueOf(problem.getMessage())));
        }
        if (failure instanceof KeyStoreException problem) {
            return Optional.of(withoutKeyStore(problem));
        }
        if (failure instanceof PreviousRunGoneException problem) {
            return Optional.of(new WaymarkException.Refused(
                    PreviousRunGoneException.TYPE,
                    String.valueOf(problem.getMessage()),
                    "Continue from a checkpoint, if a saver has one, under another thread id"));
        }
        return Optional.empty();
    }

    public WaymarkException translate(StatusRuntimeException e) {
        String words = Optional.ofNullable(e.getStatus().getDescription()).orElse("no reason given");
        return switch (e.getStatus().getCode()) {
            case NOT_FOUND ->
                new WaymarkException.NotFound(
                        "not found on the server: " + words, Remedy.of(Remedy.Action.CHECK_CONNECTION));
            case PERMISSION_DENIED, UNAUTHENTICATED ->
                unreachable("the server refused this client: " + address + " (" + words + ")", e);
            case INVALID_ARGUMENT ->
                new WaymarkException.Refused(Problem.BAD_INPUT, "the server rejected the request: " + words, "");
            default ->
                unreachable(
                        "the server does not answer: " + address + " ("
                                + e.getStatus().getCode() + ", " + words + ")",
                        e);
        };
    }

    static WaymarkException unreadable(KeyProblem problem) {
        return new WaymarkException.Refused(
                KeyProblem.TYPE,
                String.valueOf(problem.getMessage()),
                "Set WAYMARK_CODEC_KEYS to the keys of the thread's worker");
    }

    private static WaymarkException withoutKeyStore(KeyStoreException problem) {
        return new WaymarkException.ServerUnreachable(
                String.valueOf(problem.getMessage()), Remedy.advice(KeyStoreException.ADVICE), problem);
    }

    public static WaymarkException unreachable(String message, Throwable cause) {
        return new WaymarkException.ServerUnreachable(message, Remedy.of(Remedy.Action.START_SERVER), cause);
    }
}
