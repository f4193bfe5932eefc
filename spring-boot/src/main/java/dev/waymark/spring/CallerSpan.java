package dev.waymark.spring;

import java.util.Optional;

/** The current span of the application. New threads belong to its trace. */
@FunctionalInterface
interface CallerSpan {
    /** The span as a {@code traceparent} of W3C Trace Context. */
    Optional<String> traceparent();
}
