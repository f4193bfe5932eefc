package dev.waymark.contract.message;

import com.fasterxml.jackson.annotation.JsonCreator;
import com.fasterxml.jackson.annotation.JsonIgnoreProperties;
import com.fasterxml.jackson.annotation.JsonProperty;

/**
 * What an accepted update returns at once. {@code fact} is the number of the resulting fact, from which a client reads
 * history for the outcome.
 */
@JsonIgnoreProperties(ignoreUnknown = true)
public record Ack(
        @JsonProperty("fact") int fact,
        @JsonProperty("duplicate") boolean duplicate) {
    @JsonCreator
    public Ack {}
}
