package dev.waymark.contract.carry;

import com.fasterxml.jackson.annotation.JsonCreator;
import com.fasterxml.jackson.annotation.JsonIgnoreProperties;
import com.fasterxml.jackson.annotation.JsonProperty;

/**
 * A part of a state's JSON.
 *
 * @param index from 0
 * @param count the number of chunks of the state
 * @param whole the digest of the state's JSON
 * @param bytes the part, packed
 */
@JsonIgnoreProperties(ignoreUnknown = true)
public record StateChunk(
        @JsonProperty("index") int index,
        @JsonProperty("count") int count,
        @JsonProperty("whole") String whole,
        @JsonProperty("bytes") String bytes) {
    @JsonCreator
    public StateChunk {
        whole = whole == null ? "" : whole;
        bytes = bytes == null ? "" : bytes;
    }
}
