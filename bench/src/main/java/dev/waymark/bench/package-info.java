/** Benchmarks against peers and limits. No other module may depend on it. */
@NullMarked
package dev.waymark.bench;

import org.jspecify.annotations.NullMarked;
