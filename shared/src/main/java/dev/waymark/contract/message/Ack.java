package dev.waymark.contract.message;

import com.fasterxml.jackson.annotation.JsonCreator;
import com.fasterxml.jackson.annotation.JsonIgnoreProperties;
import com.fasterxml.jackson.annotation.JsonProperty;

/**
 * The immediate answer to an accepted update. {@code fact} is the number of the resulting fact. A client reads the
 * history from this fact on to find the outcome.
 */
@JsonIgnoreProperties(ignoreUnknown = true)
public record Ack(
        @JsonProperty("fact") int fact,
        @JsonProperty("duplicate") boolean duplicate) {
    @JsonCreator
    public Ack {}
}
