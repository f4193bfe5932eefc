/**
 * Reads histories: turns events into the facts that the workflow applied, in the same order and with the same times,
 * and keeps every state in between.
 *
 * <p>The only reader of {@code HistoryEvent}. Must not know the rules of the conversation: {@code conversation} decides
 * what a fact does.
 *
 * <p>Begin with {@link Projector}, which turns one event after the other into facts; {@link ThreadHistoryReader} reads a thread over all of its runs.
 */
@NullMarked
package dev.waymark.history;

import org.jspecify.annotations.NullMarked;
