/** Metrics of a worker, and the HTTP endpoint that serves them. Must not depend on activities or on the workflow. */
@NullMarked
package dev.waymark.worker.metrics;

import org.jspecify.annotations.NullMarked;
