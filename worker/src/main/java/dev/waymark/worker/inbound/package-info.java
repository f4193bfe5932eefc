/**
 * Reads input from outside of the worker, with limits of size and memory. Must not know who sends it, nor what it
 * means.
 */
@NullMarked
package dev.waymark.worker.inbound;

import org.jspecify.annotations.NullMarked;
