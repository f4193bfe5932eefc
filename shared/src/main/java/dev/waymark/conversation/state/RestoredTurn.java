package dev.waymark.conversation.state;

import dev.waymark.conversation.message.Message;
import dev.waymark.conversation.message.Transcript;
import dev.waymark.conversation.value.Json;
import dev.waymark.conversation.value.Problem;
import dev.waymark.conversation.value.ProblemType;
import dev.waymark.conversation.value.Usage;
import java.time.Instant;
import java.util.Optional;

/** The newest turn of a checkpoint, while a conversation is restored from it. Not thread-safe. */
public final class RestoredTurn {
    private int number = 1;
    private int iterations;
    private Usage usage = Usage.NONE;
    private Instant startedAt;
    private Optional<Turn.Status> status = Optional.empty();
    private String text = "";
    private String reason = "";
    private Optional<Json> structured = Optional.empty();

    public RestoredTurn(Instant startedAt) {
        this.startedAt = startedAt;
    }

    public int number() {
        return number;
    }

    public Usage usage() {
        return usage;
    }

    public void begun(int turn, int modelCalls, Usage used, Instant at) {
        number = Math.max(1, turn);
        iterations = modelCalls;
        usage = used;
        startedAt = at;
    }

    /** Sets the turn's status, its final reply, and why it ended if it failed. */
    public void standing(Turn.Status how, String reply, String why) {
        status = Optional.of(how);
        text = reply;
        reason = why;
    }

    public void structured(Json value) {
        structured = Optional.of(value);
    }

    /**
     * Returns the newest turn. If the checkpoint does not state a status, the status is derived from this transcript.
     */
    public Turn of(Transcript transcript, boolean callsAreOpen) {
        Optional<String> lastWords = transcript.finalReply().map(Message::text);
        Turn.Status now = status.orElseGet(() -> statusOf(transcript, lastWords.isPresent() && !callsAreOpen));
        if (now == Turn.Status.NONE) {
            return Turn.none(startedAt);
        }
        if (now == Turn.Status.COMPLETE && callsAreOpen) {
            throw new IllegalArgumentException("the turn is complete, but calls are open");
        }
        boolean failed = now != Turn.Status.COMPLETE && now != Turn.Status.RUNNING;
        return new Turn(
                        number,
                        now,
                        iterations,
                        usage,
                        status.isPresent() ? text : lastWords.orElse(text),
                        failed ? Optional.of(new Problem(ProblemType.RECORDED, reason)) : Optional.empty(),
                        startedAt)
                .structured(now == Turn.Status.COMPLETE ? structured : Optional.empty());
    }

    private static Turn.Status statusOf(Transcript transcript, boolean complete) {
        if (transcript.isEmpty()) {
            return Turn.Status.NONE;
        }
        return complete ? Turn.Status.COMPLETE : Turn.Status.RUNNING;
    }
}
