/**
 * The values that the rules of a conversation use: JSON, money, tokens, digests, persistent collections.
 *
 * <p>Must not know conversations, nor any other package of Waymark.
 */
@NullMarked
package dev.waymark.conversation.value;

import org.jspecify.annotations.NullMarked;
