package dev.waymark.worker.workflow;

import dev.waymark.contract.work.WordsReport;
import dev.waymark.contract.work.WordsRequest;
import dev.waymark.contract.work.WordsWorkflow;
import java.util.function.Function;

/** Passes queries on to the worker that executes it. */
public final class WordsWorkflowImpl implements WordsWorkflow {
    private final Function<WordsRequest, WordsReport> worker;

    public WordsWorkflowImpl(Function<WordsRequest, WordsReport> worker) {
        this.worker = worker;
    }

    @Override
    public void end() {}

    @Override
    public WordsReport words(WordsRequest request) {
        return worker.apply(request);
    }
}
