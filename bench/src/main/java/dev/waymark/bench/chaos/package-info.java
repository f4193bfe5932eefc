/**
 * Agents whose workers are killed at every point of a call, and what is held against what really happened. It is there for
 * the crash matrix in the tests and for {@code bench/chaos}.
 *
 * <p>It must not know how a worker keeps its promises.
 */
@NullMarked
package dev.waymark.bench.chaos;

import org.jspecify.annotations.NullMarked;
