/** What one thread costs that is encrypted, or very long. */
@NullMarked
package dev.waymark.bench.thread;

import org.jspecify.annotations.NullMarked;
