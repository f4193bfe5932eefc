package dev.waymark.worker.model.http;

import com.fasterxml.jackson.core.JsonProcessingException;
import dev.waymark.conversation.message.Reply;
import dev.waymark.model.ModelFailure;

/** Puts a reply together from the events of one stream. */
public interface EventReader {
    /**
     * Takes the data of an event.
     *
     * @return whether this was the last one
     */
    boolean read(String data) throws ModelFailure, JsonProcessingException;

    /** How many characters have been kept for the reply. */
    int size();

    /** How many parts the reply has so far. */
    int parts();

    /** The stream has ended, with its last event or without. A reply that is not whole is a failure. */
    Reply end() throws ModelFailure, JsonProcessingException;
}
