package dev.waymark.contract.message;

import com.fasterxml.jackson.annotation.JsonCreator;

/**
 * The immediate answer to an accepted update. {@code fact} is the number of the resulting fact. A client reads the
 * history from this fact on to find the outcome.
 */
public record Ack(int fact, boolean duplicate) {
    @JsonCreator
    public Ack {}
}
