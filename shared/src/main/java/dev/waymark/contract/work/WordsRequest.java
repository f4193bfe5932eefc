package dev.waymark.contract.work;

import java.util.List;

/** Asks a worker for new text of model calls that it runs. */
public record WordsRequest(List<Call> calls) {
    /** The maximum number of calls; a worker answers for no more. */
    public static final int MOST_CALLS = 200;

    public WordsRequest {
        calls = calls == null ? List.of() : calls.stream().limit(MOST_CALLS).toList();
    }

    /**
     * A model call, and how much of its reply the reader has.
     *
     * @param step the number of the model call in the thread
     * @param attempt the attempt whose text the reader has; 0 if it has none
     * @param characters the length of the known text
     * @param reasoning the length of the known reasoning
     * @param running the number of running calls that was last reported to the reader
     */
    public record Call(String thread, String runId, int step, int attempt, int characters, int reasoning, int running) {
        public Call {
            thread = thread == null ? "" : thread;
            runId = runId == null ? "" : runId;
        }
    }
}
