package dev.waymark.conversation;

import com.fasterxml.jackson.annotation.JsonCreator;
import com.fasterxml.jackson.annotation.JsonIgnoreProperties;
import com.fasterxml.jackson.annotation.JsonProperty;
import java.util.Objects;

/**
 * Where a subagent's thread comes from.
 *
 * @param callId the call of the parent's that it answers
 * @param depth how many threads are above it
 */
@JsonIgnoreProperties(ignoreUnknown = true)
public record Parent(
        @JsonProperty("callId") String callId,
        @JsonProperty("depth") int depth) {
    @JsonCreator
    public Parent {
        Objects.requireNonNull(callId, "callId");
    }
}
