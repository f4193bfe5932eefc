package dev.waymark.worker.model.http;

import com.fasterxml.jackson.core.JsonProcessingException;
import dev.waymark.conversation.message.Reply;
import dev.waymark.model.ModelFailure;

/** Assembles a reply from the events of a stream. */
public interface EventReader {
    /**
     * Handles the data of an event.
     *
     * @return whether it was the last event
     */
    boolean read(String data) throws ModelFailure, JsonProcessingException;

    /** Whether the service has begun to reply, even if the reply is still empty. */
    boolean hasBegun();

    /** The number of characters of the reply so far. */
    int size();

    /** The number of parts of the reply so far. */
    int parts();

    /** Called at the end of the stream, whether or not the last event arrived. An incomplete reply is a failure. */
    Reply end() throws ModelFailure, JsonProcessingException;
}
