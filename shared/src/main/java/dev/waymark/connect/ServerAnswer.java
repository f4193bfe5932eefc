package dev.waymark.connect;

import io.grpc.Status;
import io.grpc.StatusRuntimeException;

/** What a failed call to a Temporal server means. The only place that interprets gRPC status codes. */
public enum ServerAnswer {
    /** The server does not have the thread, run, activity or namespace. */
    GONE(false),
    /** The server rejects the request itself, for example a page token that has expired. */
    INVALID(false),
    /** The name is already in use on the server. */
    TAKEN(false),
    /** The thread cannot answer now, for example a query when no worker polls. */
    NOT_READY(false),
    /** The server refuses this client. */
    REFUSED(false),
    /** The server does not implement the operation. The in-memory server implements only some. */
    UNSUPPORTED(false),
    /** The server has more callers than it can serve. */
    BUSY(true),
    /** The server did not answer in time. It may be busy or unreachable, or may have no answer yet. */
    LATE(true),
    /** The connection failed. */
    UNREACHABLE(true),
    /** The server failed internally. */
    FAILED(true);

    private final boolean mayPass;

    ServerAnswer(boolean mayPass) {
        this.mayPass = mayPass;
    }

    /** The meaning of this failure. */
    public static ServerAnswer of(StatusRuntimeException e) {
        return of(e.getStatus().getCode());
    }

    static ServerAnswer of(Status.Code code) {
        return switch (code) {
            case NOT_FOUND -> GONE;
            case INVALID_ARGUMENT, OUT_OF_RANGE -> INVALID;
            case ALREADY_EXISTS -> TAKEN;
            case FAILED_PRECONDITION -> NOT_READY;
            case PERMISSION_DENIED, UNAUTHENTICATED -> REFUSED;
            case UNIMPLEMENTED -> UNSUPPORTED;
            case RESOURCE_EXHAUSTED -> BUSY;
            // A server reports a request that exceeds its caller's deadline as cancelled.
            case DEADLINE_EXCEEDED, CANCELLED -> LATE;
            case UNAVAILABLE -> UNREACHABLE;
            case OK, UNKNOWN, ABORTED, INTERNAL, DATA_LOSS -> FAILED;
        };
    }

    /** Whether a retry may succeed. */
    public boolean mayPass() {
        return mayPass;
    }

    /** Whether this is what the failure means. */
    public boolean is(StatusRuntimeException e) {
        return of(e) == this;
    }
}
