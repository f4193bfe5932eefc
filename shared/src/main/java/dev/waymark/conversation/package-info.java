/**
 * The rules of a conversation: a pure decider that folds facts into state and says what should happen next.
 *
 * <p>It must not know Temporal, clocks, threads, I/O, randomness, run ids, or any other package of Waymark but its own values and messages.
 */
@NullMarked
package dev.waymark.conversation;

import org.jspecify.annotations.NullMarked;
