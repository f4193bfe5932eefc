/**
 * Reads input from outside the worker, with limits on size and memory.
 *
 * <p>Must not know who sends the input or what it means.
 */
@NullMarked
package dev.waymark.worker.inbound;

import org.jspecify.annotations.NullMarked;
