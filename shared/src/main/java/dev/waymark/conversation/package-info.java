/**
 * A conversation: its whole state as a fold of facts, and what one can ask of it. {@code rule} decides everything.
 *
 * <p>Must not know Temporal, clocks, threads, I/O, randomness, run ids, or any package of Waymark outside of {@code
 * conversation}. Its packages, from the bottom: values; messages; the parts of an agent that the rules need (policy);
 * calls; facts; the parts of the state; here, the state as a whole, and the steps that follow from it; at the top, the
 * rules.
 */
@NullMarked
package dev.waymark.conversation;

import org.jspecify.annotations.NullMarked;
