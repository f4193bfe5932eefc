/** Benchmarks against limits and other frameworks. Must not be used by any other module. */
@NullMarked
package dev.waymark.bench;

import org.jspecify.annotations.NullMarked;
