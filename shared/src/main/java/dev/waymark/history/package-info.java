/**
 * Reads histories: turns events into the facts that the workflow applied, in its order and at its times, and keeps every
 * state in between.
 *
 * <p>It is the only reader of {@code HistoryEvent}. It must not know any rule of the conversation: what a fact does is
 * the core's business.
 */
@NullMarked
package dev.waymark.history;

import org.jspecify.annotations.NullMarked;
