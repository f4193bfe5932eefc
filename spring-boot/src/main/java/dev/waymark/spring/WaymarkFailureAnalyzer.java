package dev.waymark.spring;

import org.springframework.boot.diagnostics.AbstractFailureAnalyzer;
import org.springframework.boot.diagnostics.FailureAnalysis;

/** Lets Spring Boot print what is wrong and what to do about it, instead of a stack trace. */
final class WaymarkFailureAnalyzer extends AbstractFailureAnalyzer<WaymarkStartException> {

    @Override
    protected FailureAnalysis analyze(Throwable rootFailure, WaymarkStartException cause) {
        return new FailureAnalysis(cause.getMessage(), cause.action(), cause);
    }
}
