/**
 * The documented checkpoint formats, each a view of a conversation.
 *
 * <p>Must not know where the conversation came from: it only uses timelines.
 *
 * <p>Begin with {@link CheckpointViews}, which has a view for each format; {@link CheckpointReader} reads them back.
 */
@NullMarked
package dev.waymark.checkpoint;

import org.jspecify.annotations.NullMarked;
