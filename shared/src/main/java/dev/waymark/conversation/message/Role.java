package dev.waymark.conversation.message;

import com.fasterxml.jackson.annotation.JsonProperty;

/** Who said a message. Tool results are said by the user's side, as both providers' wires have it. */
public enum Role {
    @JsonProperty("user")
    USER,
    @JsonProperty("assistant")
    ASSISTANT;

    /** The name on every wire. */
    public String wireName() {
        return this == USER ? "user" : "assistant";
    }
}
