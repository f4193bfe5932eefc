package dev.waymark.conversation.call;

import com.fasterxml.jackson.annotation.JsonCreator;
import com.fasterxml.jackson.annotation.JsonIgnoreProperties;
import com.fasterxml.jackson.annotation.JsonInclude;
import com.fasterxml.jackson.annotation.JsonProperty;
import dev.waymark.conversation.value.Budget;
import java.util.Objects;
import java.util.Optional;

/**
 * The parent of a subagent's thread.
 *
 * @param callId the id of the parent's call that this thread executes
 * @param depth the number of ancestors
 * @param budget what this thread may spend, if an ancestor has a limit
 */
@JsonIgnoreProperties(ignoreUnknown = true)
@JsonInclude(JsonInclude.Include.NON_ABSENT)
public record Parent(
        @JsonProperty("callId") String callId,
        @JsonProperty("depth") int depth,
        @JsonProperty("budget") Optional<Budget> budget) {
    @JsonCreator
    public Parent {
        Objects.requireNonNull(callId, "callId");
        budget = budget == null ? Optional.empty() : budget;
    }
}
