/**
 * The facts of a thread: everything that can happen to it. Must not know the state, which is the fold of these facts,
 * nor the rules.
 */
@NullMarked
package dev.waymark.conversation.fact;

import org.jspecify.annotations.NullMarked;
