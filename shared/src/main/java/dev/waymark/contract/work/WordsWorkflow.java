package dev.waymark.contract.work;

import dev.waymark.contract.WireNames;
import io.temporal.workflow.QueryMethod;
import io.temporal.workflow.WorkflowInterface;
import io.temporal.workflow.WorkflowMethod;

/**
 * Returns the words of the model calls of one worker to clients, which have no other connection to workers. A query is
 * answered from the worker's memory and is not stored. The worker has a task queue of its own for this workflow, and a
 * client that needs it starts it there once. Its payloads have no codec: what they say of a conversation is encrypted
 * like other payloads of its thread, see {@link WordsReport}.
 */
@WorkflowInterface
public interface WordsWorkflow {
    /** Ends at once. Servers answer queries of ended workflows until their retention is over. */
    @WorkflowMethod(name = WireNames.WORDS_TYPE)
    void end();

    @QueryMethod(name = WireNames.WORDS_QUERY, description = "New words of model calls that this worker runs.")
    WordsReport words(WordsRequest request);
}
