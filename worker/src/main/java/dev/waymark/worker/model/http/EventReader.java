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

    /** How many characters of the reply are kept so far. */
    int size();

    /** How many parts the reply has so far. */
    int parts();

    /** Called at the end of the stream, whether or not the last event arrived. An incomplete reply is a failure. */
    Reply end() throws ModelFailure, JsonProcessingException;
}
