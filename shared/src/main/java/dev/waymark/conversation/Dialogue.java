package dev.waymark.conversation;

import com.fasterxml.jackson.annotation.JsonIgnore;
import com.fasterxml.jackson.annotation.JsonIgnoreProperties;
import com.fasterxml.jackson.annotation.JsonInclude;
import com.fasterxml.jackson.annotation.JsonProperty;
import dev.waymark.conversation.message.Queued;
import dev.waymark.conversation.message.Transcript;
import java.time.Instant;
import java.util.List;
import java.util.Objects;
import java.util.Optional;

/**
 * The turn, the transcript, and the queue.
 *
 * @param queue messages that enter the transcript with the next model call
 * @param turn the newest turn
 * @param ended the newest ended turn, with its outcome
 * @param modelCalled whether a reply or a summary of the model is awaited
 * @param gauge the size of the conversation, if it is to be summarized
 */
@JsonIgnoreProperties(ignoreUnknown = true)
@JsonInclude(JsonInclude.Include.NON_ABSENT)
public record Dialogue(
        @JsonProperty("transcript") Transcript transcript,
        @JsonProperty("queue") List<Queued> queue,
        @JsonProperty("turn") Turn turn,
        @JsonProperty("ended") Optional<Turn> ended,
        @JsonProperty("modelCalled") boolean modelCalled,
        @JsonProperty("gauge") Optional<TokenEstimate> gauge) {
    public Dialogue {
        Objects.requireNonNull(transcript, "transcript");
        Objects.requireNonNull(turn, "turn");
        queue = List.copyOf(queue);
    }

    static Dialogue silent(Instant at) {
        return new Dialogue(Transcript.EMPTY, List.of(), Turn.none(at), Optional.empty(), false, Optional.empty());
    }

    /** Whether there is nothing to ask a model about. */
    @JsonIgnore
    boolean isBlank() {
        return transcript.isEmpty() && queue.isEmpty();
    }

    /** Whether the model is writing a summary in this step, instead of a reply. */
    boolean isSummarising(int step) {
        return modelCalled && estimate().isSummary(step);
    }

    TokenEstimate estimate() {
        return gauge.orElse(TokenEstimate.UNREAD);
    }

    /** A mutable copy of this part, for applying a fact. */
    final class Edit {
        Transcript transcript = Dialogue.this.transcript;
        List<Queued> queue = Dialogue.this.queue;
        Turn turn = Dialogue.this.turn;
        Optional<Turn> ended = Dialogue.this.ended;
        boolean modelCalled = Dialogue.this.modelCalled;
        Optional<TokenEstimate> gauge = Dialogue.this.gauge;

        /** Whether there is nothing to ask a model about. */
        boolean isBlank() {
            return transcript.isEmpty() && queue.isEmpty();
        }

        TokenEstimate estimate() {
            return gauge.orElse(TokenEstimate.UNREAD);
        }

        Dialogue done() {
            return new Dialogue(transcript, queue, turn, ended, modelCalled, gauge);
        }
    }
}
