package dev.waymark.spring;

import java.util.Optional;

/** The current span of the application, in whose trace new threads are. */
@FunctionalInterface
interface CallerSpan {
    /** In the form of W3C Trace Context. */
    Optional<String> traceparent();
}
