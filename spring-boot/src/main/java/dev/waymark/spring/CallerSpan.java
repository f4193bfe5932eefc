package dev.waymark.spring;

import java.util.Optional;

/** Finds the application's current span. A thread that the application starts belongs to the trace of this span. */
@FunctionalInterface
interface CallerSpan {
    /** Returns the span as a {@code traceparent} of W3C Trace Context; empty if there is no current span. */
    Optional<String> traceparent();
}
