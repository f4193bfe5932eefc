package dev.waymark.contract.thread;

import com.fasterxml.jackson.annotation.JsonCreator;

/**
 * The answer to the {@code state} query. It is compared with a projection of the first {@code historyLength} events and
 * of the commands of the workflow task with which these events end. {@code state} is the digest of everything except
 * the transcript.
 */
public record StateReport(String digest, long historyLength, int rules, String state, int facts) {
    @JsonCreator
    public StateReport {}
}
