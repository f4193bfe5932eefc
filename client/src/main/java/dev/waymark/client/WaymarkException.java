package dev.waymark.client;

import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * A request that led to nothing, and what can be done about it.
 *
 * <p>{@link #type} is what programs in any language switch on; the subclasses are for those in Java. {@link #getMessage}
 * says what is wrong with which value, {@link #remedy} what to do. How a turn ended is never an exception but an
 * {@link AgentResult}.
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

    public String type() {
        return type;
    }

    /** What to do about it. */
    public Remedy remedy() {
        return remedy;
    }

    /** The thread that goes on without this request, if there is one. */
    public Optional<String> thread() {
        return Optional.ofNullable(thread);
    }

    /** There is no such thread, version, call or file, or nothing open to act on. */
    public static final class NotFound extends WaymarkException {
        private static final long serialVersionUID = 1L;

        public NotFound(String message, Remedy remedy) {
            super("NotFound", message, remedy, null, null);
        }

        public NotFound(String message, String advice) {
            this(message, Remedy.advice(advice));
        }
    }

    /** The thread has ended and takes no more. */
    public static final class Closed extends WaymarkException {
        private static final long serialVersionUID = 1L;

        public Closed(String message, Remedy remedy) {
            super("Closed", message, remedy, null, null);
        }

        public Closed(String message, String advice) {
            this(message, Remedy.advice(advice));
        }
    }

    /** No Temporal server answers. */
    public static final class ServerUnreachable extends WaymarkException {
        private static final long serialVersionUID = 1L;

        public ServerUnreachable(String message, Remedy remedy, @Nullable Throwable cause) {
            super("ServerUnreachable", message, remedy, null, cause);
        }
    }

    /** The saver does not have the newest checkpoint of a thread. {@link #type} says why. */
    public static final class NotSaved extends WaymarkException {
        private static final long serialVersionUID = 1L;

        public NotSaved(String type, String message, Remedy remedy) {
            super(type, message, remedy, null, null);
        }
    }

    /** The thread would not survive its server, which keeps everything in memory. */
    public static final class VolatileStore extends WaymarkException {
        private static final long serialVersionUID = 1L;

        public VolatileStore(String message, Remedy remedy) {
            super("VolatileStore", message, remedy, null, null);
        }
    }

    /** A message or an answer is larger than a thread takes. */
    public static final class TooLarge extends WaymarkException {
        private static final long serialVersionUID = 1L;

        public TooLarge(String message, Remedy remedy) {
            super("TooLarge", message, remedy, null, null);
        }

        public TooLarge(String message, String advice) {
            this(message, Remedy.advice(advice));
        }
    }

    /** The request makes no sense as it is, or the thread refused it. {@link #type} says why. */
    public static final class Refused extends WaymarkException {
        private static final long serialVersionUID = 1L;

        public Refused(String type, String message, Remedy remedy) {
            super(type, message, remedy, null, null);
        }

        public Refused(String type, String message, String advice) {
            this(type, message, Remedy.advice(advice));
        }
    }

    /** No worker took the work in time. */
    public static final class NoWorker extends WaymarkException {
        private static final long serialVersionUID = 1L;

        public NoWorker(String message, Remedy remedy, String thread) {
            super("NoWorker", message, remedy, thread, null);
        }
    }

    /** It took longer than the caller would wait. The turn goes on. */
    public static final class TimedOut extends WaymarkException {
        private static final long serialVersionUID = 1L;

        public TimedOut(String message, Remedy remedy, String thread) {
            super("TimedOut", message, remedy, thread, null);
        }
    }

    /** A turn that was asserted to be complete asks a person something. */
    public static final class Interrupted extends WaymarkException {
        private static final long serialVersionUID = 1L;

        public Interrupted(String question, String thread) {
            super("Interrupted", "Agent interrupted: " + question, Remedy.NONE, thread, null);
        }
    }

    /** A turn that was asserted to be complete failed, was stopped, or hit a limit. */
    public static final class NotComplete extends WaymarkException {
        private static final long serialVersionUID = 1L;

        public NotComplete(String type, String message, String thread) {
            super(type, message, Remedy.NONE, thread, null);
        }
    }
}
