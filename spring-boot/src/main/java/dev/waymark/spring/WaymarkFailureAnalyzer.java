package dev.waymark.spring;

import org.springframework.boot.diagnostics.AbstractFailureAnalyzer;
import org.springframework.boot.diagnostics.FailureAnalysis;

/** Prints one clear line in place of a stack trace. */
final class WaymarkFailureAnalyzer extends AbstractFailureAnalyzer<WaymarkStartException> {

    @Override
    protected FailureAnalysis analyze(Throwable rootFailure, WaymarkStartException cause) {
        return new FailureAnalysis(cause.getMessage(), cause.action(), cause);
    }
}
