package dev.waymark.contract.work;

import com.fasterxml.jackson.annotation.JsonInclude;
import dev.waymark.conversation.message.Reply;
import dev.waymark.conversation.value.Spent;
import java.time.Instant;
import java.util.List;
import java.util.Optional;

/**
 * The part of a reply that has arrived so far, in the heartbeat details of the {@code model} activity. It is not stored
 * in history. Each attempt starts with an empty text. After a failed attempt, the server still shows the attempt's last
 * text, so the text has the attempt's number.
 *
 * @param step the number of the model call in the thread
 * @param spent the spending of the call so far, including earlier attempts; the next attempt adds to it
 * @param failed the models that failed in this call, once per failure; several times for one failure after which the
 *     model should not be tried again
 * @param unusable the fallbacks that cannot answer this call
 * @param withoutReasoning the models whose service refused to read earlier reasoning in this call
 * @param saved the whole reply, while the activity still runs its calls; the next attempt returns it, so that it is
 *     paid for once
 * @param from the number of characters before {@code text}, since only the end of a long reply is sent
 * @param reasoning the reasoning that the model shows
 * @param queue the task queue of the worker's {@link WordsWorkflow}, which has the text as it arrives; empty for
 *     workers that have none
 * @param running the calls of the reply that the activity runs now
 * @param failingSince when the call failed first, if its agent limits the time of retries
 */
public record PartialReply(
        int step,
        int attempt,
        int from,
        String text,

        @JsonInclude(JsonInclude.Include.NON_EMPTY) Optional<Piece> reasoning,

        Optional<Spent> spent,

        @JsonInclude(JsonInclude.Include.NON_EMPTY) List<String> failed,

        @JsonInclude(JsonInclude.Include.NON_EMPTY) List<String> unusable,

        @JsonInclude(JsonInclude.Include.NON_EMPTY) List<String> withoutReasoning,

        Optional<SavedReply> saved,
        Optional<String> queue,

        @JsonInclude(JsonInclude.Include.NON_EMPTY) List<RunningCall> running,

        Optional<Instant> failingSince) {
    public PartialReply {
        text = text == null ? "" : text;
        failed = failed == null ? List.of() : List.copyOf(failed);
        unusable = unusable == null ? List.of() : List.copyOf(unusable);
        withoutReasoning = withoutReasoning == null ? List.of() : List.copyOf(withoutReasoning);
        running = running == null ? List.of() : List.copyOf(running);
    }

    /** The partial text of a call in which no model has failed. */
    public PartialReply(int step, int attempt, int from, String text, Optional<Spent> spent) {
        this(
                step,
                attempt,
                from,
                text,
                Optional.empty(),
                spent,
                List.of(),
                List.of(),
                List.of(),
                Optional.empty(),
                Optional.empty(),
                List.of(),
                Optional.empty());
    }

    /** What readers show of a reply. */
    public static PartialReply shown(
            int step, int attempt, Piece said, Optional<Piece> reasoning, List<RunningCall> running) {
        return new PartialReply(
                step,
                attempt,
                said.from(),
                said.text(),
                reasoning,
                Optional.empty(),
                List.of(),
                List.of(),
                List.of(),
                Optional.empty(),
                Optional.empty(),
                running,
                Optional.empty());
    }

    /** Returns a copy whose readers can query this task queue. */
    public PartialReply askedAt(String taskQueue) {
        return new PartialReply(
                step,
                attempt,
                from,
                text,
                reasoning,
                spent,
                failed,
                unusable,
                withoutReasoning,
                saved,
                Optional.of(taskQueue),
                running,
                failingSince);
    }

    /** The text, and where it begins. */
    public Piece said() {
        return new Piece(from, text);
    }

    /** Text of a reply, and the number of characters before it. */
    public record Piece(int from, String text) {
        public Piece {
            text = text == null ? "" : text;
        }

        /** The number of characters up to the end of this text. */
        public int end() {
            return from + text.length();
        }

        /** The part after the first {@code known} characters of the reply; its text is empty if there is none. */
        public Piece after(int known) {
            int skipped = Math.min(Math.max(0, known - from), text.length());
            return new Piece(from + skipped, text.substring(skipped));
        }
    }

    /** A call of the reply that runs in the activity that called the model. */
    public record RunningCall(String callId, String tool) {}

    /**
     * A reply, and the model call that it answers.
     *
     * @param digest the digest of the conversation, as in {@link ModelInput}
     */
    public record SavedReply(String runId, String digest, Reply reply) {
        /** Whether this is the reply to this call of this run, which has the same step. */
        public boolean isFor(String run, ModelInput call) {
            return runId.equals(run) && digest.equals(call.digest());
        }
    }
}
