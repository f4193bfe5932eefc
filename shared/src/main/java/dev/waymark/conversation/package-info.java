/**
 * The rules of a conversation: a pure decider that folds facts into state and decides what should happen next.
 *
 * <p>Must not know Temporal, clocks, threads, I/O, randomness, run ids, or any other package of Waymark except its own
 * values and messages.
 */
@NullMarked
package dev.waymark.conversation;

import org.jspecify.annotations.NullMarked;
