/**
 * The Java API that programs use to start, answer and inspect threads.
 *
 * <p>Must not know how a run is executed, nor anything about terminals: it waits by reading history, and reports
 * through values and exceptions.
 */
@NullMarked
package dev.waymark.client;

import org.jspecify.annotations.NullMarked;
