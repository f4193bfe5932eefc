package dev.waymark.contract.thread;

import com.fasterxml.jackson.annotation.JsonCreator;
import com.fasterxml.jackson.annotation.JsonIgnoreProperties;
import com.fasterxml.jackson.annotation.JsonProperty;

/**
 * The answer to the {@code state} query. It is compared with a projection of the first {@code historyLength} events and
 * of the commands of the workflow task with which these events end. {@code state} is the digest of everything except
 * the transcript.
 */
@JsonIgnoreProperties(ignoreUnknown = true)
public record StateReport(
        @JsonProperty("digest") String digest,
        @JsonProperty("historyLength") long historyLength,
        @JsonProperty("rules") int rules,
        @JsonProperty("state") String state,
        @JsonProperty("facts") int facts) {
    @JsonCreator
    public StateReport {}
}
