/**
 * Reads input from outside of the worker, with limits on size and memory.
 *
 * <p>It must not know who sends the input, nor what it means.
 */
@NullMarked
package dev.waymark.worker.inbound;

import org.jspecify.annotations.NullMarked;
