/**
 * The Java API that programs use to start, answer and inspect threads.
 *
 * <p>Must not know how a run is executed, nor anything about terminals: it waits by reading history, and reports
 * through values and exceptions.
 *
 * <p>Begin with {@link AgentClient}, the methods of a program; each leads to one class of this package.
 */
@NullMarked
package dev.waymark.client;

import org.jspecify.annotations.NullMarked;
