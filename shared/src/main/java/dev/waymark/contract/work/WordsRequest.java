package dev.waymark.contract.work;

import java.util.List;

/** Asks a worker what is new in model calls that it runs. */
public record WordsRequest(List<Call> calls) {
    /** The maximum number of calls; a worker answers for no more. */
    public static final int MOST_CALLS = 200;

    public WordsRequest {
        calls = calls == null ? List.of() : calls.stream().limit(MOST_CALLS).toList();
    }

    /**
     * A model call, and what the reader knows of its reply.
     *
     * @param step the number of the model call in the thread
     * @param attempt the attempt whose text the reader knows; 0 if it knows none
     * @param characters the length of the known text
     * @param reasoning the length of the known reasoning
     * @param running the number of running calls that the reader was told last
     */
    public record Call(String thread, String runId, int step, int attempt, int characters, int reasoning, int running) {
        public Call {
            thread = thread == null ? "" : thread;
            runId = runId == null ? "" : runId;
        }
    }
}
