/**
 * Messages: their sides, parts and order, and the running digest over them.
 *
 * <p>Must not know turns, calls or facts; the only other package of Waymark that it uses is {@code value}.
 */
@NullMarked
package dev.waymark.conversation.message;

import org.jspecify.annotations.NullMarked;
