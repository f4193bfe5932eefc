/**
 * The parts of a thread's state. Each part has an {@code Edit}, a mutable copy with which the rules apply a fact. Must
 * not know facts, nor the rules.
 *
 * <p>Begin with {@link CallBook}, the part with all calls; {@link Dialogue} has what was said.
 */
@NullMarked
package dev.waymark.conversation.state;

import org.jspecify.annotations.NullMarked;
