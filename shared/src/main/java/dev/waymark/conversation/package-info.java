/**
 * The rules of a conversation: a pure decider that folds facts into state and decides what should happen next.
 *
 * <p>Must not know Temporal, clocks, threads, I/O, randomness, run ids, or any package of Waymark outside of
 * {@code conversation}. Its packages, from the bottom: values; messages; the parts of an agent that the rules need
 * (policy); calls; facts; the parts of the state; and, here, the state as a whole and the rules that apply facts to it.
 */
@NullMarked
package dev.waymark.conversation;

import org.jspecify.annotations.NullMarked;
