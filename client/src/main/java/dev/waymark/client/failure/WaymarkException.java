package dev.waymark.client.failure;

import dev.waymark.client.AgentResult;
import dev.waymark.conversation.value.ProblemType;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * A failed request, and what can be done about it.
 *
 * <p>{@link #type} is for programs in any language; the subclasses are for Java. {@link #getMessage} says what is wrong
 * with which value, {@link #remedy} what to do. A turn that fails or is stopped is an {@link AgentResult}, not an
 * exception.
 */
public class WaymarkException extends RuntimeException {
    private static final long serialVersionUID = 1L;

    private final String type;
    private final Remedy remedy;
    private final @Nullable String thread;

    protected WaymarkException(
            String type, String message, Remedy remedy, @Nullable String thread, @Nullable Throwable cause) {
        super(message, cause);
        this.type = type;
        this.remedy = remedy;
        this.thread = thread;
    }

    /** The type of the problem, such as {@code NotFound}. */
    public String type() {
        return type;
    }

    /** What the caller can do about the problem. */
    public Remedy remedy() {
        return remedy;
    }

    /** The thread in which the caller can look for the outcome of the request, if there is one. */
    public Optional<String> thread() {
        return Optional.ofNullable(thread);
    }

    /** The status with which an HTTP server answers a request that failed for this reason, such as 404. */
    public int httpStatus() {
        return switch (type) {
            case ProblemType.BAD_INPUT, ProblemType.CORRUPTION -> 400;
            case ProblemType.SIGNATURE_REQUIRED -> 403;
            case ProblemType.KEY_PROBLEM, ProblemType.UNKNOWN_RULES, ProblemType.FOREIGN_THREAD -> 500;
            default -> 409;
        };
    }

    /** The thread, version, call or file does not exist, or nothing open matches the request. */
    public static final class NotFound extends WaymarkException {
        private static final long serialVersionUID = 1L;

        public NotFound(String message, Remedy remedy) {
            super(ProblemType.NOT_FOUND, message, remedy, null, null);
        }

        public NotFound(String message, String advice) {
            this(message, Remedy.advice(advice));
        }

        @Override
        public int httpStatus() {
            return 404;
        }
    }

    /** The thread was forgotten: its key is destroyed, so nobody can read it. Its id can be used again. */
    public static final class Forgotten extends WaymarkException {
        private static final long serialVersionUID = 1L;

        public Forgotten(String message) {
            super(ProblemType.FORGOTTEN, message, Remedy.NONE, null, null);
        }

        @Override
        public int httpStatus() {
            return 410;
        }
    }

    /** The thread has ended and accepts no more requests. */
    public static final class Closed extends WaymarkException {
        private static final long serialVersionUID = 1L;

        public Closed(String message, Remedy remedy) {
            super(ProblemType.CLOSED, message, remedy, null, null);
        }

        public Closed(String message, String advice) {
            this(message, Remedy.advice(advice));
        }
    }

    /** The Temporal server or the store of threads' keys does not answer, or refuses this client. */
    public static final class ServerUnreachable extends WaymarkException {
        private static final long serialVersionUID = 1L;

        public ServerUnreachable(String message, Remedy remedy, @Nullable Throwable cause) {
            super(ProblemType.SERVER_UNREACHABLE, message, remedy, null, cause);
        }

        @Override
        public int httpStatus() {
            return 503;
        }
    }

    /** The saver does not have the newest checkpoint of a thread. {@link #type} says why. */
    public static final class NotSaved extends WaymarkException {
        private static final long serialVersionUID = 1L;

        public NotSaved(String type, String message, Remedy remedy) {
            super(type, message, remedy, null, null);
        }
    }

    /** The thread would be lost with its server, which keeps everything in memory. */
    public static final class VolatileStore extends WaymarkException {
        private static final long serialVersionUID = 1L;

        public VolatileStore(String message, Remedy remedy) {
            super(ProblemType.VOLATILE_STORE, message, remedy, null, null);
        }
    }

    /** A part of the request exceeds a size limit, such as a message, an answer, a thread id or a checkpoint. */
    public static final class TooLarge extends WaymarkException {
        private static final long serialVersionUID = 1L;

        public TooLarge(String message, Remedy remedy) {
            super(ProblemType.TOO_LARGE, message, remedy, null, null);
        }

        public TooLarge(String message, String advice) {
            this(message, Remedy.advice(advice));
        }

        @Override
        public int httpStatus() {
            return 413;
        }
    }

    /** The request is invalid, or the thread refused it. {@link #type} says why. */
    public static final class Refused extends WaymarkException {
        /** Another request with other content has used the key or the id of this one. */
        private static final long serialVersionUID = 1L;

        public Refused(String type, String message, Remedy remedy) {
            super(type, message, remedy, null, null);
        }

        public Refused(String type, String message, String advice) {
            this(type, message, Remedy.advice(advice));
        }
    }

    /** No worker took the work in time. {@link #isAccepted} says what that means for the request. */
    public static final class NoWorker extends WaymarkException {
        private static final long serialVersionUID = 1L;

        private final boolean accepted;

        public NoWorker(String message, Remedy remedy, String thread, boolean accepted) {
            super(ProblemType.NO_WORKER, message, remedy, thread, null);
            this.accepted = accepted;
        }

        /**
         * Whether the thread has accepted the request, so that any worker that starts continues it, and only the wait
         * is over. If not, the request may be lost: look at the thread, or send it again with the same id.
         */
        public boolean isAccepted() {
            return accepted;
        }

        @Override
        public int httpStatus() {
            return 503;
        }
    }

    /**
     * The thread has recorded the request, but its outcome cannot be read here, because the thread has rules that this
     * version does not know. The turn continues.
     */
    public static final class OutcomeUnreadable extends WaymarkException {
        private static final long serialVersionUID = 1L;

        public OutcomeUnreadable(String message, String thread, Throwable cause) {
            super(ProblemType.UNKNOWN_RULES, message, Remedy.NONE, thread, cause);
        }
    }

    /** The timeout of the caller has passed. The turn continues. */
    public static final class TimedOut extends WaymarkException {
        private static final long serialVersionUID = 1L;

        public TimedOut(String message, Remedy remedy, String thread) {
            super(ProblemType.TIMED_OUT, message, remedy, thread, null);
        }

        @Override
        public int httpStatus() {
            return 504;
        }
    }

    /** The Java thread of the caller was interrupted, and still is. A turn continues. */
    public static final class WaitInterrupted extends WaymarkException {
        private static final long serialVersionUID = 1L;

        public WaitInterrupted(InterruptedException cause) {
            super(ProblemType.WAIT_INTERRUPTED, "interrupted while waiting", Remedy.NONE, null, cause);
        }
    }

    /**
     * The result was asserted to be complete, but the turn waits for a person (type {@link ProblemType#INTERRUPTED}), failed, was
     * stopped or cancelled, or hit a limit.
     */
    public static final class NotComplete extends WaymarkException {
        private static final long serialVersionUID = 1L;

        public NotComplete(String type, String message, String thread) {
            super(type, message, Remedy.NONE, thread, null);
        }
    }
}
