/**
 * Chaos tests: disrupt the workers of agents at every point of a call, and compare the histories with the effects that
 * happened. Used by the crash matrix of the tests and by {@code bench/chaos}.
 *
 * <p>Must not know how a worker keeps its guarantees.
 */
@NullMarked
package dev.waymark.bench.chaos;

import org.jspecify.annotations.NullMarked;
