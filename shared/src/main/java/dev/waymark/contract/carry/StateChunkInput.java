package dev.waymark.contract.carry;

import com.fasterxml.jackson.annotation.JsonCreator;
import com.fasterxml.jackson.annotation.JsonIgnoreProperties;
import com.fasterxml.jackson.annotation.JsonInclude;
import com.fasterxml.jackson.annotation.JsonProperty;
import dev.waymark.contract.CarriedReference;
import java.util.Objects;
import java.util.Optional;

/**
 * The input of the activity that fetches a chunk of the previous run's last state.
 *
 * @param index from 0
 * @param whole the digest of the state's JSON, from the chunks fetched so far; empty for the first chunk
 */
@JsonIgnoreProperties(ignoreUnknown = true)
@JsonInclude(JsonInclude.Include.NON_ABSENT)
public record StateChunkInput(
        @JsonProperty("state") CarriedReference state,
        @JsonProperty("index") int index,
        @JsonProperty("whole") Optional<String> whole) {
    @JsonCreator
    public StateChunkInput {
        Objects.requireNonNull(state, "state");
        whole = whole == null ? Optional.empty() : whole;
    }
}
