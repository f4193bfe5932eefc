package dev.waymark.testkit.crash;

/**
 * The points of a conversation at which a worker can be killed. Most are observed in the worker's calls to its server,
 * and need nothing from the tool and the model. The others need {@link Crash#around}, and {@link #MID_EFFECT} needs a
 * {@link Crash#pass} in the tool itself.
 */
public enum CrashPoint {
    /** The server has stored the workflow's acceptance of a {@code say} update. */
    MESSAGE_ACCEPTED,
    /** The server has the request to run a tool, and this worker has not received the task. */
    BEFORE_TOOL_POLL,
    /** The worker is about to claim a call, or has just received the task of a tool that needs no claim. */
    BEFORE_CLAIM,
    /** The claim is granted and nothing has happened yet, or a tool that needs no claim is about to run. */
    AFTER_CLAIM,
    /** The tool's effect has started and has not ended. */
    MID_EFFECT,
    /** The tool is about to return. */
    AFTER_EFFECT,
    /** The tool's outcome is about to be sent to the server, alone or with the reply that made the call. */
    BEFORE_COMPLETION,
    /** The server has the tool's outcome. */
    AFTER_COMPLETION,
    /** A model call has started. */
    MODEL_REQUESTED,
    /** A model has replied, and the server does not have the reply yet. */
    MODEL_REPLIED,
    /** The server has a reply in the details of a heartbeat, and the calls of the reply run in the same activity. */
    REPLY_SAVED,
    /** The server has stored the workflow's acceptance of an {@code approve} update. */
    APPROVAL_ACCEPTED,
    /** The server has the workflow's command to continue as new. */
    CONTINUED_AS_NEW,
    /** The server has the workflow's command to start a subagent's thread. */
    SUBAGENT_STARTED
}
