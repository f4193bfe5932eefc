/**
 * Messages: their sides, parts and order, and the running digest over them.
 *
 * <p>Must not know turns, calls or facts; of Waymark, it only uses the values.
 */
@NullMarked
package dev.waymark.conversation.message;

import org.jspecify.annotations.NullMarked;
