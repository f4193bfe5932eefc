/**
 * Messages: who said what, in which parts, in which order, and the running digest over all of it.
 *
 * <p>It must not know turns, calls or facts: of Waymark, only the values.
 */
@NullMarked
package dev.waymark.conversation.message;

import org.jspecify.annotations.NullMarked;
