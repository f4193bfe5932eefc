/**
 * Benchmarks that check figures against limits, and the worker for the comparison with other frameworks. Must not be
 * used by any other module.
 *
 * <p>Begin with {@link Bench}, which lists the scenarios.
 */
@NullMarked
package dev.waymark.bench;

import org.jspecify.annotations.NullMarked;
