package dev.waymark.testkit.crash;

/**
 * Where a worker can be lost around a call of a tool. Most points are seen in what the worker and its server say to each
 * other, so they need nothing of the tool and the model; the others need {@link Crash#around}, and {@link #MID_EFFECT}
 * a {@link Crash#pass} in the tool itself.
 */
public enum CrashPoint {
    /** The server has the workflow's word that a {@code say} which came as an update is accepted. */
    MESSAGE_ACCEPTED,
    /** The server has the request to run a tool, and nobody has taken it up. */
    BEFORE_TOOL_POLL,
    /** A tool's activity is about to claim its call. One that needs no claim has just been received. */
    BEFORE_CLAIM,
    /** The claim is granted and nothing has happened yet. A tool that needs no claim is about to be run. */
    AFTER_CLAIM,
    /** Whatever the tool does has begun and has not ended. */
    MID_EFFECT,
    /** The tool is about to return. */
    AFTER_EFFECT,
    /** The tool's outcome is about to be sent to the server. */
    BEFORE_COMPLETION,
    /** The server has the tool's outcome. */
    AFTER_COMPLETION,
    /** A model is being asked. */
    MODEL_REQUESTED,
    /** A model has replied, and the server has not heard of it. */
    MODEL_REPLIED,
    /** The server has the workflow's word that an {@code approve} which came as an update is accepted. */
    APPROVAL_ACCEPTED,
    /** The server has the workflow's wish to continue as a new run. */
    CONTINUED_AS_NEW,
    /** The server has the workflow's wish to begin a subagent's thread. */
    SUBAGENT_STARTED
}
