package dev.waymark.client.failure;

import java.util.Optional;

/**
 * What a caller can do about a failure. Programs switch on {@link #action}; {@link #toString} is for people.
 *
 * @param thread the thread in question, if any
 * @param detail a number or name that belongs to the action, or the text of {@link Action#ADVICE}
 */
public record Remedy(Action action, Optional<String> thread, Optional<String> detail) {
    /** Nothing can be done, or the message already says what to do. */
    public static final Remedy NONE = new Remedy(Action.NONE, Optional.empty(), Optional.empty());

    /** What the caller can do, as a constant for programs. {@link #ADVICE} is advice that exists only as text. */
    public enum Action {
        NONE(""),
        ADVICE(""),
        START_SERVER("Start a Temporal server, or connect to another address"),
        CHECK_CONNECTION("Check the address and the namespace"),
        START_WORKER("The message is kept. Start a worker, then wait for the result"),
        START_WORKER_AND_LOOK(
                "A worker that starts soon may still take it. Look at the thread before sending it again"),
        WAIT_FOR_RESULT("The turn continues. Wait for its result"),
        NAME_AGENT("Name an agent"),
        NAME_CALL("Name one of these calls"),
        USE_ANOTHER_THREAD("Repeat the same request, or use another key or thread id"),
        OMIT_AGENT_OR_USE_ANOTHER_THREAD("Leave the agent out, or use another thread id"),
        SAVE_OR_ALLOW_LOSS("Save the thread, allow its loss, or use a server that keeps its threads"),
        RAISE_ITERATIONS("Raise the limit of iterations"),
        ANSWER_OR_SAY("Answer in the thread itself"),
        ANSWER_OR_RESUME_ELSEWHERE("Answer in the thread itself, or resume under another thread id"),
        START_THREAD("Start the thread with a message"),
        SAY("Send the thread a message"),
        SAY_MORE("Send the thread another message"),
        DECIDE("Approve or deny the call"),
        DECIDE_AFTER_RESUME("Resume without an answer, and decide then"),
        LIST_PENDING("List the open requests"),
        MAKE_KEY("Create a key pair"),
        LIST_THREADS("List the threads"),
        LIST_SCHEDULES("List the schedules"),
        LIST_VERSIONS("List the versions of the thread"),
        SHOW_THREAD("Look at the thread"),
        RESTORE_THREAD("Restore the thread from the saver by running it"),
        RESTORE_WITH_AGENT("Nothing was changed. Restore the thread by running it with an agent that a worker has"),
        CLOSE_OR_TERMINATE("Close it first, or have it terminated"),
        FORGET_THREAD("Forget that thread"),
        RESUME_THREAD("Resume the thread to continue it"),
        SHOW_SUCCESSOR("Look at that thread, and continue there"),
        AWAIT_SUCCESSOR("That thread is being started. If it does not appear, resume under its id"),
        FORK_INSTEAD("That thread was deleted. A fork leaves the open calls alone"),
        FORK_FOR_COPY("A fork is a copy that leaves the call alone"),
        RESUME_CHECKPOINT("Resume from the checkpoint instead"),
        USE_ONE_VERSION("Use a checkpoint of one version");

        private final String words;

        Action(String words) {
            this.words = words;
        }
    }

    /** A remedy without details. */
    public static Remedy of(Action action) {
        return new Remedy(action, Optional.empty(), Optional.empty());
    }

    /** A remedy for this thread, without details. */
    public static Remedy of(Action action, String thread) {
        return new Remedy(action, Optional.of(thread), Optional.empty());
    }

    /** A remedy with advice as text, which must not mention the commands of a particular program. */
    public static Remedy advice(String words) {
        return words.isEmpty() ? NONE : new Remedy(Action.ADVICE, Optional.empty(), Optional.of(words));
    }

    /** Returns this remedy with a detail, such as a limit, a file or another thread. */
    public Remedy withDetail(String value) {
        return new Remedy(action, thread, Optional.of(value));
    }

    /** The remedy in words, without the commands of a particular program. */
    @Override
    public String toString() {
        return action == Action.ADVICE ? detail.orElse("") : action.words;
    }
}
