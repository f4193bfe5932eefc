/** The parts of a thread's state. Each part has an {@code Edit}, a mutable copy for applying a fact, which only the rules use. */
@NullMarked
package dev.waymark.conversation.state;

import org.jspecify.annotations.NullMarked;
