package dev.waymark.conversation.message;

import com.fasterxml.jackson.annotation.JsonProperty;

/** The side that a message comes from. Tool results belong to the user's side, as they do in the providers' formats. */
public enum Role {
    @JsonProperty("user")
    USER,
    @JsonProperty("assistant")
    ASSISTANT;

    /** The name in all formats. */
    public String wireName() {
        return this == USER ? "user" : "assistant";
    }
}
