/**
 * The documented checkpoint formats, each a view of a conversation.
 *
 * <p>Must not know where the conversation came from: it only uses Timeline from {@code history}.
 */
@NullMarked
package dev.waymark.checkpoint;

import org.jspecify.annotations.NullMarked;
