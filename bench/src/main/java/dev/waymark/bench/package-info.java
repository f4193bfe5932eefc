/** Benchmarks against peers and limits. Must not be known by any other module. */
@NullMarked
package dev.waymark.bench;

import org.jspecify.annotations.NullMarked;
