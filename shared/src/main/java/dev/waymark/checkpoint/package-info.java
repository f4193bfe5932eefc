/**
 * The documented checkpoint formats, each a view of a conversation.
 *
 * <p>Must not know where the conversation came from: it only uses Timeline from {@code history}.
 *
 * <p>Begin with {@link CheckpointFormat}, a view of a conversation for each format; {@link CheckpointReader} reads them back.
 */
@NullMarked
package dev.waymark.checkpoint;

import org.jspecify.annotations.NullMarked;
