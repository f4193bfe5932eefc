/**
 * The workflow of a thread: its input, its signals, and the answers to its queries. Must not know how a worker executes
 * it.
 */
@NullMarked
package dev.waymark.contract.thread;

import org.jspecify.annotations.NullMarked;
