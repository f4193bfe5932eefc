package dev.waymark.client.connection;

import dev.waymark.client.failure.Remedy;
import dev.waymark.client.failure.WaymarkException;
import dev.waymark.codec.KeyProblem;
import dev.waymark.codec.KeyStoreException;
import dev.waymark.codec.ThreadForgottenException;
import dev.waymark.connect.ConnectionException;
import dev.waymark.connect.ServerAnswer;
import dev.waymark.contract.PreviousRunGoneException;
import dev.waymark.conversation.state.UnknownRulesException;
import dev.waymark.conversation.value.ProblemType;
import dev.waymark.history.ForeignThreadException;
import io.grpc.StatusRuntimeException;
import io.temporal.client.WorkflowServiceException;
import java.util.Optional;
import java.util.function.Supplier;

/** Converts errors of the Temporal server to exceptions for callers. */
public final class ServerFailures {
    private final String address;
    private final boolean isInMemory;

    /** @param isInMemory whether the server loses its threads when it stops */
    public ServerFailures(String address, boolean isInMemory) {
        this.address = address;
        this.isInMemory = isInMemory;
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
        for (Throwable cause = failure; cause != null; cause = cause.getCause()) {
            if (cause instanceof InterruptedException interrupted) {
                return Optional.of(Sleeper.interrupted(interrupted));
            }
        }
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
                    ProblemType.PREVIOUS_RUN_GONE,
                    String.valueOf(problem.getMessage()),
                    "Continue from a checkpoint, if a saver has one, under another thread id"));
        }
        if (failure instanceof UnknownRulesException problem) {
            return Optional.of(new WaymarkException.Refused(
                    ProblemType.UNKNOWN_RULES, String.valueOf(problem.getMessage()), Remedy.NONE));
        }
        if (failure instanceof ForeignThreadException problem) {
            return Optional.of(new WaymarkException.Refused(
                    ProblemType.FOREIGN_THREAD, String.valueOf(problem.getMessage()), Remedy.NONE));
        }
        return Optional.empty();
    }

    public WaymarkException translate(StatusRuntimeException e) {
        String words = Optional.ofNullable(e.getStatus().getDescription()).orElse("no reason given");
        ServerAnswer answer = ServerAnswer.of(e);
        if (isInMemory && answer == ServerAnswer.GONE) {
            return new WaymarkException.NotFound(
                    "the in-memory server was started anew, and no longer has the thread: " + address,
                    Remedy.advice("Run it again: if it was saved, it is restored"));
        }
        if (isInMemory && (answer == ServerAnswer.LATE || answer == ServerAnswer.UNREACHABLE)) {
            return unreachable(
                    "the in-memory server no longer answers: " + address
                            + " (when it stops, it loses all that is not saved)",
                    e);
        }
        return switch (answer) {
            case GONE ->
                new WaymarkException.NotFound(
                        "not found on the server: " + words, Remedy.of(Remedy.Action.CHECK_CONNECTION));
            case REFUSED -> unreachable("the server refused this client: " + address + " (" + words + ")", e);
            case INVALID, TAKEN, UNSUPPORTED ->
                new WaymarkException.Refused(ProblemType.BAD_INPUT, "the server rejected the request: " + words, "");
            case NOT_READY ->
                new WaymarkException.ServerUnreachable(
                        "the thread is not ready: " + address + " ("
                                + e.getStatus().getCode() + ", " + words + ")",
                        Remedy.advice("Try again. If that does not help, look at the log of the workers"),
                        e);
            case BUSY -> failed("the server is too busy", words, e);
            case FAILED -> failed("the server failed", words, e);
            case LATE, UNREACHABLE ->
                unreachable(
                        "the server does not answer: " + address + " ("
                                + e.getStatus().getCode() + ", " + words + ")",
                        e);
        };
    }

    private WaymarkException failed(String what, String words, StatusRuntimeException e) {
        return new WaymarkException.ServerUnreachable(
                what + ": " + address + " (" + e.getStatus().getCode() + ", " + words + ")",
                Remedy.advice("Try again. If that does not help, look at the log of the server"),
                e);
    }

    static WaymarkException unreadable(KeyProblem problem) {
        return new WaymarkException.Refused(
                ProblemType.KEY_PROBLEM,
                String.valueOf(problem.getMessage()),
                "Set WAYMARK_CODEC_KEYS to the keys of the thread's worker");
    }

    private static WaymarkException withoutKeyStore(KeyStoreException problem) {
        return new WaymarkException.ServerUnreachable(
                String.valueOf(problem.getMessage()), Remedy.advice(KeyStoreException.ADVICE), problem);
    }

    public static WaymarkException unreachable(ConnectionException problem) {
        return new WaymarkException.ServerUnreachable(
                String.valueOf(problem.getMessage()),
                problem.advice().map(Remedy::advice).orElse(Remedy.of(Remedy.Action.START_SERVER)),
                problem);
    }

    public static WaymarkException unreachable(String message, Throwable cause) {
        return new WaymarkException.ServerUnreachable(message, Remedy.of(Remedy.Action.START_SERVER), cause);
    }
}
