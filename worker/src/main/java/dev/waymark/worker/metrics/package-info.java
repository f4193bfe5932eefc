/** Metrics of a worker. Must not depend on activities or on the workflow. */
@NullMarked
package dev.waymark.worker.metrics;

import org.jspecify.annotations.NullMarked;
