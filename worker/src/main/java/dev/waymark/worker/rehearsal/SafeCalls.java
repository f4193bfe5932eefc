package dev.waymark.worker.rehearsal;

/** How a continuation gets the results of calls that are safe to retry. */
public enum SafeCalls {
    /** From the thread. A call that it did not record needs a scripted result. */
    RECORD,
    /** From the thread or a script; otherwise, the tool runs now. */
    LIVE,
    /** Not at all: the continuation ends before the first of them. */
    STOP
}
