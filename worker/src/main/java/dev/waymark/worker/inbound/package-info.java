/**
 * Reads what comes from outside the worker within limits of size and memory. Must not know who sends it, or what it means.
 */
@NullMarked
package dev.waymark.worker.inbound;

import org.jspecify.annotations.NullMarked;
