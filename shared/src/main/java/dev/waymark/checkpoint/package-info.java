/**
 * The documented checkpoint formats, each a view of a conversation.
 *
 * <p>It must not know where the conversation came from: of {@code history} it sees Timeline and nothing else.
 */
@NullMarked
package dev.waymark.checkpoint;

import org.jspecify.annotations.NullMarked;
