package dev.waymark.conversation.decision;

/**
 * What may happen to the open calls of a checkpoint before somebody decides about each of them in the new thread. A
 * checkpoint is a file: it is unknown who chose its calls and their arguments.
 */
public enum FileCalls {
    /**
     * They continue like calls of this thread: for a conversation that this server knows, or if the caller allows it.
     */
    CONTINUE,
    /** Calls without side effects continue. Others are at most checked; they run only after a decision. */
    CONTINUE_SAFE,
    /** Nothing happens to any call before it is decided: it does not run, is not checked, and starts no subagent. */
    WAIT
}
