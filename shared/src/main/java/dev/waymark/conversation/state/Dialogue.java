package dev.waymark.conversation.state;

import com.fasterxml.jackson.annotation.JsonIgnore;
import com.fasterxml.jackson.annotation.JsonInclude;
import com.fasterxml.jackson.annotation.JsonProperty;
import dev.waymark.conversation.message.Queued;
import dev.waymark.conversation.message.Transcript;
import dev.waymark.conversation.value.Json;
import dev.waymark.conversation.value.UntrustedWords;
import java.time.Instant;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;

/**
 * The turn, the transcript, and the queue.
 *
 * @param queue messages that enter the transcript with the next model call
 * @param turn the newest turn
 * @param ended the newest ended turn, with its outcome
 * @param modelCalled whether the thread waits for a reply or a summary of the model
 * @param tokenEstimate the estimated size of the conversation, for deciding when to summarize it
 * @param boundFrom the number of messages when the current prefix of the prompt began. A service may bind a model's
 *     reasoning to everything before it, so reasoning of older messages is no longer sent.
 * @param unreadable by the name of a model, empty for the agent's own: the number of messages when a service refused to
 *     read reasoning that should have been valid. Older reasoning is no longer sent to this model.
 * @param refused whether a service refused to read what was added since the last reply
 * @param heldSchema the schema for replies, if every request of the thread so far had it
 * @param untrusted what brought untrusted words into the conversation, if anything did
 */
public record Dialogue(
        Transcript transcript,
        List<Queued> queue,
        Turn turn,
        Optional<Turn> ended,
        boolean modelCalled,
        @JsonProperty("gauge") Optional<TokenEstimate> tokenEstimate,

        @JsonInclude(JsonInclude.Include.NON_DEFAULT) int boundFrom,

        @JsonInclude(JsonInclude.Include.NON_EMPTY) Map<String, Integer> unreadable,

        @JsonInclude(JsonInclude.Include.NON_DEFAULT) boolean refused,

        Optional<Json> heldSchema,
        Optional<UntrustedWords> untrusted) {
    public Dialogue {
        Objects.requireNonNull(transcript, "transcript");
        Objects.requireNonNull(turn, "turn");
        queue = List.copyOf(queue);
        unreadable = unreadable == null
                ? Collections.emptyMap()
                : Collections.unmodifiableMap(new LinkedHashMap<>(unreadable));
    }

    public static Dialogue silent(Instant at) {
        return new Dialogue(
                Transcript.EMPTY,
                List.of(),
                Turn.none(at),
                Optional.empty(),
                false,
                Optional.empty(),
                0,
                Collections.emptyMap(),
                false,
                Optional.empty(),
                Optional.empty());
    }

    /** Whether the transcript and the queue are empty, so that there is nothing to send to a model. */
    @JsonIgnore
    public boolean isBlank() {
        return transcript.isEmpty() && queue.isEmpty();
    }

    /** Whether the model is writing a summary in this step, instead of a reply. */
    public boolean isSummarizing(int step) {
        return modelCalled && estimate().isSummary(step);
    }

    public TokenEstimate estimate() {
        return tokenEstimate.orElse(TokenEstimate.UNREAD);
    }

    public Dialogue with(Transcript other) {
        Edit edit = new Edit();
        edit.transcript = other;
        return edit.done();
    }

    /** A mutable copy of this part, for applying a fact. */
    public final class Edit {
        public Transcript transcript = Dialogue.this.transcript;
        public List<Queued> queue = Dialogue.this.queue;
        public Turn turn = Dialogue.this.turn;
        public Optional<Turn> ended = Dialogue.this.ended;
        public boolean modelCalled = Dialogue.this.modelCalled;
        public Optional<TokenEstimate> tokenEstimate = Dialogue.this.tokenEstimate;
        public int boundFrom = Dialogue.this.boundFrom;
        public Map<String, Integer> unreadable = Dialogue.this.unreadable;
        public boolean refused = Dialogue.this.refused;
        public Optional<Json> heldSchema = Dialogue.this.heldSchema;
        public Optional<UntrustedWords> untrusted = Dialogue.this.untrusted;

        public boolean isBlank() {
            return transcript.isEmpty() && queue.isEmpty();
        }

        public TokenEstimate estimate() {
            return tokenEstimate.orElse(TokenEstimate.UNREAD);
        }

        /** Returns the original object if nothing was changed, so that the versions in a timeline share it. */
        public Dialogue done() {
            boolean isUnchanged = transcript == Dialogue.this.transcript
                    && queue == Dialogue.this.queue
                    && turn == Dialogue.this.turn
                    && ended == Dialogue.this.ended
                    && modelCalled == Dialogue.this.modelCalled
                    && tokenEstimate == Dialogue.this.tokenEstimate
                    && boundFrom == Dialogue.this.boundFrom
                    && unreadable == Dialogue.this.unreadable
                    && refused == Dialogue.this.refused
                    && heldSchema == Dialogue.this.heldSchema
                    && untrusted == Dialogue.this.untrusted;
            return isUnchanged
                    ? Dialogue.this
                    : new Dialogue(
                            transcript,
                            queue,
                            turn,
                            ended,
                            modelCalled,
                            tokenEstimate,
                            boundFrom,
                            unreadable,
                            refused,
                            heldSchema,
                            untrusted);
        }
    }
}
