package dev.waymark.contract;

/**
 * The names of workflow types, activities, queries and failures; signals are in {@link
 * dev.waymark.conversation.fact.SignalNames}. Histories contain them and other programs use
 * them, so existing names never change.
 */
public final class WireNames {
    public static final String WORKFLOW_TYPE = "Agent";
    public static final String TASK_QUEUE = "waymark";

    /** Workflows of this type record which thread continues a closed one. No worker polls their task queue. */
    public static final String CONTINUATION_TYPE = "Continuation";

    public static final String CONTINUATION_QUEUE = "waymark-continuations";

    /** A workflow of this type returns the agents of the worker that runs it. It is not a thread. */
    public static final String AGENTS_TYPE = "Agents";

    /** Returns the agents of the worker that runs it. No tool can have this name. */
    public static final String AGENTS_ACTIVITY = "worker.agents";

    /**
     * Workflows of this type end at once. Their query returns partial replies of the worker that polls their task
     * queue.
     */
    public static final String WORDS_TYPE = "Words";

    public static final String WORDS_QUERY = "words";

    /** The prefix of the task queues of {@link #WORDS_TYPE}, one for each worker. The workflow's id is the queue's name. */
    public static final String WORDS_QUEUE_PREFIX = "waymark-words-";

    public static final String MODEL_ACTIVITY = "model";
    public static final String AGENT_ACTIVITY = "agent";
    public static final String VERIFY_ACTIVITY = "verify";
    /** Asks an agent's rules whether a call may run. No tool can have this name. */
    public static final String JUDGE_ACTIVITY = "approval.rules";
    /** Follows or cancels the task of a call's server. No tool can have this name. */
    public static final String TASK_ACTIVITY = "remote.task";
    /** Announces to a receiver that a request waits, or that something has ended. No tool can have this name. */
    public static final String ANNOUNCE_ACTIVITY = "announcement.send";
    /** Fetches a part of the previous run's last state. No tool can have this name. */
    public static final String STATE_ACTIVITY = "carried.state";

    public static final String STATUS_QUERY = "status";
    public static final String PENDING_QUERY = "pending";
    public static final String CALLS_QUERY = "calls";
    public static final String CHECKPOINT_QUERY = "checkpoint";
    public static final String STATE_QUERY = "state";

    /**
     * A gRPC header of the in-memory development server in its answer to {@code GetSystemInfo}: the saver that clients
     * use by default, in UTF-8.
     */
    public static final String DEFAULT_SAVER_HEADER = "waymark-default-saver-bin";

    /** The maximum length of a thread's id, in bytes of UTF-8. */
    public static final int MAX_THREAD_BYTES = 900;

    private static final String RESERVED = "__temporal_";

    private WireNames() {}

    /** The id of the thread that executes a call of this thread. */
    public static String subagentThread(String thread, String callId) {
        return thread + "/" + callId;
    }

    /**
     * The task queue for the calls of models with a limit.
     *
     * @param taskQueue the task queue of the threads
     * @param limit {@code PROVIDER:MODEL} or {@code PROVIDER}
     */
    public static String limitedQueue(String taskQueue, String limit) {
        return taskQueue + "~model~" + limit;
    }

    /**
     * Whether Temporal reserves this name. Its SDK drops most such signals before a workflow sees them, so readers of
     * history must skip them too.
     */
    public static boolean isReserved(String signal) {
        return signal.startsWith(RESERVED);
    }
}
