/**
 * Values that the rules of a conversation are made of: JSON, money, tokens, digests, persistent collections.
 *
 * <p>It must not know conversations, or any other package of Waymark.
 */
@NullMarked
package dev.waymark.conversation.value;

import org.jspecify.annotations.NullMarked;
