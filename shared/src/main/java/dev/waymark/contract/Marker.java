package dev.waymark.contract;

import com.fasterxml.jackson.annotation.JsonCreator;
import com.fasterxml.jackson.annotation.JsonIgnoreProperties;
import com.fasterxml.jackson.annotation.JsonInclude;
import com.fasterxml.jackson.annotation.JsonProperty;
import dev.waymark.conversation.Problem;
import java.util.Optional;

/**
 * What the workflow records in a side effect: whether the packed state fits into a new run. If it does not, and the run
 * can't grow either, {@code limitReached} says so: it is the one fact that has no event of its own.
 */
@JsonIgnoreProperties(ignoreUnknown = true)
@JsonInclude(JsonInclude.Include.NON_ABSENT)
public record Marker(
        @JsonProperty("fits") boolean fits,
        @JsonProperty("limitReached") Optional<Problem> limitReached) {
    @JsonCreator
    public Marker {
        limitReached = limitReached == null ? Optional.empty() : limitReached;
    }
}
