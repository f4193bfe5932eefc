package dev.waymark.conversation;

/**
 * What may happen to the open calls of a checkpoint before somebody decides about each of them in the new thread. A
 * checkpoint is a file: nobody knows who chose its calls and their arguments.
 */
public enum FileCalls {
    /** They continue as calls of this thread would. For a conversation that this server knows, or if the caller says so. */
    CONTINUE,
    /** Calls without side effects continue. Others are at most checked; they run only after a decision. */
    CONTINUE_SAFE,
    /** Nothing happens to any call before it is decided: it does not run, is not checked, and starts no subagent. */
    WAIT
}
