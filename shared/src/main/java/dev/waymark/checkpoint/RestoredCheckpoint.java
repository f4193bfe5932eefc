package dev.waymark.checkpoint;

import dev.waymark.conversation.Conversation;
import dev.waymark.conversation.value.Json;
import java.util.Optional;

/**
 * A conversation as a checkpoint holds it.
 *
 * @param document the checkpoint itself
 * @param thread the id that it names, of a thread or of a session
 */
public record RestoredCheckpoint(CheckpointFormat format, Json document, Conversation state, Optional<String> thread) {}
