package dev.waymark.contract;

import com.fasterxml.jackson.annotation.JsonCreator;
import com.fasterxml.jackson.annotation.JsonIgnoreProperties;
import com.fasterxml.jackson.annotation.JsonInclude;
import com.fasterxml.jackson.annotation.JsonProperty;
import dev.waymark.conversation.Conversation;
import java.util.Objects;
import java.util.Optional;

/**
 * The state at the end of a run, which is too large for the input of the next one: where it is, and how to tell that it
 * is that state. It names no digest of the packed state, because another build may write the same state differently.
 *
 * @param runId the run that ended with it
 * @param facts the number of facts in it
 * @param messages the number of messages in its transcript, with the transcript's {@code digest}
 * @param decisions a digest of who decided what about the thread's calls, if anybody did
 */
@JsonIgnoreProperties(ignoreUnknown = true)
@JsonInclude(JsonInclude.Include.NON_ABSENT)
public record CarriedReference(
        @JsonProperty("runId") String runId,
        @JsonProperty("facts") int facts,
        @JsonProperty("messages") int messages,
        @JsonProperty("digest") String digest,
        @JsonProperty("decisions") Optional<String> decisions) {
    @JsonCreator
    public CarriedReference {
        Objects.requireNonNull(runId, "runId");
        digest = digest == null ? "" : digest;
        decisions = decisions == null ? Optional.empty() : decisions;
    }

    /** The last state of this run. */
    public static CarriedReference of(String runId, Conversation last) {
        return new CarriedReference(
                runId,
                last.counters().facts(),
                last.transcript().count(),
                last.transcript().digest(),
                DecisionsDigest.of(last));
    }

    /** Whether this is the state. */
    public boolean isOf(Conversation state) {
        return of(runId, state).equals(this);
    }
}
