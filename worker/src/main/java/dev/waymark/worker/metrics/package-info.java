/** Metrics of a worker, and the HTTP endpoint that serves them. */
@NullMarked
package dev.waymark.worker.metrics;

import org.jspecify.annotations.NullMarked;
