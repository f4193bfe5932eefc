/** Benchmarks of a single thread: an encrypted one, and a very long one. Must not depend on the other benchmarks. */
@NullMarked
package dev.waymark.bench.thread;

import org.jspecify.annotations.NullMarked;
