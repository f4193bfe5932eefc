package dev.waymark.rehearsal;

import com.fasterxml.jackson.annotation.JsonInclude;
import dev.waymark.conversation.value.Spent;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * The result of a rehearsal. Equal answers give an equal report, whether they were kept or requested now.
 *
 * @param threads the number of threads that were rehearsed
 * @param replies the number of their replies
 * @param stopped why the rehearsal stopped early, if it did
 * @param judge what the judge has done, if there was one
 * @param contains which parts of conversations the report contains, for people who share it
 */
@JsonInclude(JsonInclude.Include.NON_EMPTY)
public record RehearsalReport(
        int waymarkRehearsal,
        int threads,
        int replies,
        List<OfCandidate> candidates,
        List<Skipped> skipped,
        Optional<String> stopped,
        Optional<Judged> judge,
        String contains) {
    static final int FORMAT = 1;

    public RehearsalReport {
        candidates = List.copyOf(candidates);
        skipped = List.copyOf(skipped);
    }

    /** Whether there is a reply, and every candidate has answered at each reply. */
    public boolean isComplete() {
        return candidates.stream().allMatch(one -> lacks(one).isEmpty());
    }

    /** Why a candidate was not fully rehearsed, if it was not. */
    public Optional<String> lacks(OfCandidate of) {
        if (stopped.isPresent()) {
            return stopped;
        }
        if (of.failed() > 0) {
            return Optional.of(of.failed() + " replies got no answer");
        }
        return of.replies() == 0 ? Optional.of("there was no reply to rehearse") : Optional.empty();
    }

    /** The model that judged texts, the number of its answers, and what they cost. */
    public record Judged(String model, int answers, Spent spent) {}

    /** A thread that was not rehearsed, and why. */
    public record Skipped(String thread, String reason) {}

    /**
     * The replies of one candidate.
     *
     * @param replies the number of replies at which it answered
     * @param answers the number of answers, one for each vote
     * @param same the number of replies that are the same, including {@code near}
     * @param near the number of replies with nearly the same text
     * @param changed the number of replies that differ
     * @param failed the number of replies at which the model gave no answer
     * @param checks the number of checks, counted for each thread
     * @param failedChecks the number of checks that fail
     * @param recorded what the recorded replies cost with nothing cached
     * @param now what the candidate's replies cost with nothing cached, whether they were kept or asked for
     * @param shown the first replies that differ or failed, in full
     * @param shownChecks the first checks that fail
     * @param changes what changes, the worst first
     * @param differences the parts of the agents that differ from the recorded ones
     * @param newlySafe the tools that are now declared safe to retry, and were not before
     */
    @JsonInclude(JsonInclude.Include.NON_EMPTY)
    public record OfCandidate(
            String name,
            List<String> models,
            int replies,
            int answers,
            int same,
            int near,
            int changed,
            int failed,
            int checks,
            int failedChecks,
            Totals recorded,
            Totals now,
            List<Shown> shown,
            List<FailedCheck> shownChecks,
            List<Changes> changes,
            List<String> differences,
            List<String> newlySafe) {
        /** How many replies change something of this kind, counted for each tool. */
        int changing(ReplyChange.Kind kind) {
            return changes.stream()
                    .filter(each -> each.change().kind() == kind)
                    .mapToInt(Changes::replies)
                    .sum();
        }
    }

    /**
     * The number of replies that change this.
     *
     * @param change without its cause
     * @param of the number of recorded replies that call the tool or, if the change is not about a tool, call none
     * @param causes the number of these replies by cause, as far as it is known
     */
    @JsonInclude(JsonInclude.Include.NON_EMPTY)
    public record Changes(ReplyChange change, int replies, int of, Map<ReplyChange.Cause, Integer> causes) {}

    /** A check that fails for the replies of a thread, and why. */
    public record FailedCheck(String thread, String check, String reason) {}

    /** Tokens and dollars, and the time of all replies together. */
    public record Totals(Spent spent, long millis) {
        static final Totals NOTHING = new Totals(Spent.NOTHING, 0);

        Totals plus(Totals more) {
            return new Totals(spent.plus(more.spent), millis + more.millis);
        }
    }

    /**
     * A reply that differs from the recorded one, or at which the model gave no answer.
     *
     * @param place the event of the model call, in the form that other commands accept
     * @param same in how many votes the reply was the recorded one
     * @param context the newest message that the model was given
     * @param now the first answer that differs
     * @param then the continuation, a line for each step, and why it ends
     * @param problem why there is no answer
     * @param changes what the first answer that differs changes, the worst first
     * @param asked the newest text of a person
     */
    @JsonInclude(JsonInclude.Include.NON_EMPTY)
    public record Shown(
            String thread,
            String place,
            String agent,
            int turn,
            int same,
            int votes,
            String context,
            ShownReply recorded,
            Optional<ShownReply> now,
            List<String> then,
            Optional<String> problem,
            List<ReplyChange> changes,
            String asked) {}

    /** The parts of a reply that are shown. */
    @JsonInclude(JsonInclude.Include.NON_EMPTY)
    public record ShownReply(String text, List<ShownCall> calls, String end) {}

    /**
     * A call.
     *
     * @param then what happens to the call before it runs: {@code allow}, {@code ask}, {@code deny} or {@code refused}
     */
    @JsonInclude(JsonInclude.Include.NON_EMPTY)
    public record ShownCall(String tool, String args, String then, Optional<String> reason) {}
}
