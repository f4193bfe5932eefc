/**
 * The calls of a thread: their status and effects, and the parts of an agent's definition that decide about them. Must not
 * know facts, nor the rules.
 */
@NullMarked
package dev.waymark.conversation.call;

import org.jspecify.annotations.NullMarked;
