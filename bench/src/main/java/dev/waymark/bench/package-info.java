/**
 * Benchmarks that check figures against limits, and the worker for the comparison with other frameworks. Must not be
 * used by any other module.
 */
@NullMarked
package dev.waymark.bench;

import org.jspecify.annotations.NullMarked;
