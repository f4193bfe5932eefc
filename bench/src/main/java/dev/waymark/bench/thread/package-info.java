/** Benchmarks of the cost of one thread that is encrypted or very long. Must not depend on the other benchmarks. */
@NullMarked
package dev.waymark.bench.thread;

import org.jspecify.annotations.NullMarked;
