package dev.waymark.contract;

import com.fasterxml.jackson.annotation.JsonCreator;
import com.fasterxml.jackson.annotation.JsonIgnoreProperties;
import com.fasterxml.jackson.annotation.JsonProperty;

/**
 * What an accepted update returns at once. {@code fact} is the number of the thread's fact that it became: whoever
 * waits for what comes of it reads history from there.
 */
@JsonIgnoreProperties(ignoreUnknown = true)
public record Ack(
        @JsonProperty("fact") int fact,
        @JsonProperty("duplicate") boolean duplicate) {
    @JsonCreator
    public Ack {}
}
