package dev.waymark.contract.work;

import dev.waymark.contract.WireNames;
import io.temporal.workflow.QueryMethod;
import io.temporal.workflow.WorkflowInterface;
import io.temporal.workflow.WorkflowMethod;

/**
 * Returns the partial replies of one worker's model calls to clients, which have no other connection to workers. A
 * query is answered from the worker's memory and is not stored. Each worker has its own task queue for this workflow,
 * and the first client that needs the workflow starts it there. Its payloads have no codec: their parts of a
 * conversation are encrypted like other payloads of its thread, see {@link WordsReport}.
 */
@WorkflowInterface
public interface WordsWorkflow {
    /** Ends at once. Servers answer queries of ended workflows until their retention is over. */
    @WorkflowMethod(name = WireNames.WORDS_TYPE)
    void end();

    @QueryMethod(name = WireNames.WORDS_QUERY, description = "New words of model calls that this worker runs.")
    WordsReport words(WordsRequest request);
}
