/**
 * The soak test: a mixed load on two workers that are killed and one that survives, while the server is killed and
 * connections are cut. Started by {@code bench/soak}.
 *
 * <p>Must not know how a worker keeps its guarantees.
 */
@NullMarked
package dev.waymark.bench.soak;

import org.jspecify.annotations.NullMarked;
