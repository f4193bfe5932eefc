package dev.waymark.conversation;

import com.fasterxml.jackson.annotation.JsonCreator;
import com.fasterxml.jackson.annotation.JsonIgnore;
import com.fasterxml.jackson.annotation.JsonIgnoreProperties;
import com.fasterxml.jackson.annotation.JsonInclude;
import com.fasterxml.jackson.annotation.JsonProperty;
import dev.waymark.conversation.message.Part;
import dev.waymark.conversation.value.Budget;
import dev.waymark.conversation.value.Json;
import dev.waymark.conversation.value.Problem;
import dev.waymark.conversation.value.Sha256;
import java.time.Instant;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.function.Consumer;

/**
 * One call of a tool, for as long as the thread lives.
 *
 * @param args what runs: with an approval, what was approved
 * @param dispatches how often it was handed to a worker
 * @param repeat how many calls of the same tool and arguments had a known outcome before this one ran. Executions of one
 *     call, however many, share it, and with it their idempotency key.
 * @param result held only until it is committed to the transcript. Of a call that asks, an answer that came before it
 *     was known whether the call may be answered.
 * @param since when the status began
 * @param wakeAt when the status changes by itself
 * @param claim the execution that was allowed to take effect, if one was
 * @param digest of the arguments, where these are forgotten and it may still be asked for
 * @param evidence what was seen of an execution whose outcome is not known, such as {@code HTTP 504}
 * @param subagent what is known of the thread that carries it out, if one does or did
 */
@JsonIgnoreProperties(ignoreUnknown = true)
@JsonInclude(JsonInclude.Include.NON_ABSENT)
public record Call(
        @JsonProperty("id") String id,
        @JsonProperty("tool") String tool,
        @JsonProperty("args") Json args,
        @JsonProperty("turn") int turn,
        @JsonProperty("status") Status status,
        @JsonProperty("dispatches") int dispatches,

        @JsonProperty("repeat") @JsonInclude(JsonInclude.Include.NON_DEFAULT)
        int repeat,

        @JsonProperty("question") Optional<String> question,
        @JsonProperty("result") Optional<String> result,
        @JsonProperty("since") Instant since,
        @JsonProperty("wakeAt") Optional<Instant> wakeAt,
        @JsonProperty("claim") Optional<Claim> claim,
        @JsonProperty("approval") Optional<CallApproval> approval,
        @JsonProperty("digest") Optional<String> digest,
        @JsonProperty("subagent") Optional<Delegation> subagent,
        @JsonProperty("evidence") Optional<String> evidence) {
    /** More than this is not kept of what was seen. */
    private static final int MAX_EVIDENCE_LENGTH = 500;

    /** Where a call stands. {@code docs/call-life.md} has which status may follow which. The names are stored. */
    public enum Status {
        /** It is to run, now or at {@code wakeAt}. */
        @JsonProperty("issued")
        ISSUED(Waits.FOR_RULES),
        /** Another call of its reply is the same, has side effects and comes first. */
        @JsonProperty("held")
        HELD(Waits.FOR_ANOTHER),
        /** A person has to approve it first, until {@code wakeAt} if that is set. */
        @JsonProperty("awaiting")
        AWAITING(Waits.FOR_PEOPLE),
        /** A worker has it. If it has to be claimed, it has not run yet. */
        @JsonProperty("dispatched")
        DISPATCHED(Waits.FOR_ACTIVITY),
        /** A worker may have it take effect from here on. */
        @JsonProperty("claimed")
        CLAIMED(Waits.FOR_ACTIVITY),
        /** A subagent's thread has it. */
        @JsonProperty("delegated")
        DELEGATED(Waits.FOR_ACTIVITY),
        /** Nobody knows how the execution that claimed it ended. It may still run, or be heard of, until {@code wakeAt}. */
        @JsonProperty("unknown")
        UNKNOWN(Waits.FOR_RULES),
        /** Nothing of it runs any more; whether it took effect is to be found out. */
        @JsonProperty("doubted")
        DOUBTED(Waits.FOR_RULES),
        /** Its {@code verify} runs. */
        @JsonProperty("verifying")
        VERIFYING(Waits.FOR_ACTIVITY),
        /** Nobody knows whether it took effect, and a person has to say. */
        @JsonProperty("unsettled")
        UNSETTLED(Waits.FOR_PEOPLE),
        /** Its {@code question} waits for an answer. */
        @JsonProperty("asking")
        ASKING(Waits.FOR_PEOPLE),
        @JsonProperty("completed")
        COMPLETED(Waits.NOT),
        @JsonProperty("failed")
        FAILED(Waits.NOT),
        @JsonProperty("denied")
        DENIED(Waits.NOT),
        @JsonProperty("cancelled")
        CANCELLED(Waits.NOT),
        /** Whether it took effect is not known, and the model was told so. */
        @JsonProperty("lost")
        LOST(Waits.NOT);

        private final Waits waits;

        Status(Waits waits) {
            this.waits = waits;
        }
    }

    private enum Waits {
        NOT,
        FOR_RULES,
        FOR_ANOTHER,
        FOR_ACTIVITY,
        FOR_PEOPLE
    }

    /**
     * That one execution of a dispatch may take effect, and no other.
     *
     * @param token the fencing token: larger than that of every claim of the same tool and arguments before; 0 where the
     *     thread's rules know none
     */
    @JsonIgnoreProperties(ignoreUnknown = true)
    public record Claim(
            @JsonProperty("execution") String execution,
            @JsonProperty("at") Instant at,

            @JsonProperty("token") @JsonInclude(JsonInclude.Include.NON_DEFAULT)
            long token) {
        private static final String ELSEWHERE = "checkpoint";

        @JsonCreator
        public Claim {
            Objects.requireNonNull(execution, "execution");
            Objects.requireNonNull(at, "at");
        }

        Claim(String execution, Instant at) {
            this(execution, at, 0);
        }

        /** The claim of an execution that only a checkpoint tells of. */
        static Claim elsewhere(Instant at) {
            return new Claim(ELSEWHERE, at);
        }

        boolean isElsewhere() {
            return execution.equals(ELSEWHERE);
        }
    }

    @JsonCreator
    public Call {
        Objects.requireNonNull(id, "id");
        Objects.requireNonNull(tool, "tool");
        Objects.requireNonNull(args, "args");
        Objects.requireNonNull(status, "status");
        Objects.requireNonNull(since, "since");
        question = question == null ? Optional.empty() : question;
        result = result == null ? Optional.empty() : result;
        wakeAt = wakeAt == null ? Optional.empty() : wakeAt;
        claim = claim == null ? Optional.empty() : claim;
        approval = approval == null ? Optional.empty() : approval;
        digest = digest == null ? Optional.empty() : digest;
        subagent = subagent == null ? Optional.empty() : subagent;
        evidence = evidence == null ? Optional.empty() : evidence;
    }

    static Call issued(Part.ToolUse use, int turn, Instant at) {
        return new Call(
                use.id(),
                use.name(),
                use.input(),
                turn,
                Status.ISSUED,
                0,
                0,
                Optional.empty(),
                Optional.empty(),
                at,
                Optional.empty(),
                Optional.empty(),
                Optional.empty(),
                Optional.empty(),
                Optional.empty(),
                Optional.empty());
    }

    /** To be run, from this time on if one is given. */
    Call issued(Optional<Instant> notBefore, Instant at) {
        return become(Status.ISSUED, at, edit -> edit.wakeAt = notBefore);
    }

    Call held(Instant at) {
        return become(Status.HELD, at, edit -> {});
    }

    /** Whatever ran of it ran elsewhere, and nothing was heard of it. */
    Call begunElsewhere(Status standing) {
        return become(standing, since, edit -> {});
    }

    Call endedEarlier(Instant when) {
        return but(edit -> edit.since = when);
    }

    Call repeating(int earlier) {
        return but(edit -> edit.repeat = earlier);
    }

    Call awaiting(Optional<Instant> deadline, Instant at) {
        return become(Status.AWAITING, at, edit -> edit.wakeAt = deadline);
    }

    Call decided(CallApproval decision, Json approvedArgs, Instant at) {
        return become(Status.ISSUED, at, edit -> {
            edit.approval = Optional.of(decision);
            edit.args = approvedArgs;
        });
    }

    /** A claim that was there is over: whoever hands a call out has made sure that nothing of it runs. */
    Call dispatched(int dispatch, Instant at) {
        return become(Status.DISPATCHED, at, edit -> {
            edit.dispatches = dispatch;
            edit.claim = Optional.empty();
            edit.evidence = Optional.empty();
        });
    }

    Call delegated(Optional<Budget> reserved, Instant at) {
        return become(Status.DELEGATED, at, edit -> edit.subagent = Optional.of(Delegation.begun(reserved)));
    }

    Call delegating(Delegation known) {
        return but(edit -> edit.subagent = Optional.of(known));
    }

    Call claimed(Claim by, Instant at) {
        return become(Status.CLAIMED, at, edit -> edit.claim = Optional.of(by));
    }

    /** Another claim, of which more can be heard no more than of the one before. */
    Call claimedLater(Claim by) {
        return but(edit -> edit.claim = Optional.of(by));
    }

    Call withoutClaim() {
        return but(edit -> edit.claim = Optional.empty());
    }

    /** Of an execution whose outcome is not known, what was seen of it. */
    Call seen(String what) {
        return but(edit -> edit.evidence = Optional.of(Problem.cut(what, MAX_EVIDENCE_LENGTH)));
    }

    /** Whether this execution, of whose end nobody has heard, is the one that holds the claim. */
    boolean awaitsWordOf(String execution) {
        boolean isClaimed =
                claim.filter(known -> known.execution().equals(execution)).isPresent();
        return isClaimed
                && switch (status) {
                    case ISSUED, AWAITING, CLAIMED, UNKNOWN, DOUBTED, VERIFYING, UNSETTLED, CANCELLED, LOST -> true;
                    case HELD, DISPATCHED, DELEGATED, ASKING, COMPLETED, FAILED, DENIED -> false;
                };
    }

    Call unknown(Instant fence, Instant at) {
        return become(Status.UNKNOWN, at, edit -> edit.wakeAt = Optional.of(fence));
    }

    Call doubted(Instant at) {
        return become(Status.DOUBTED, at, edit -> {});
    }

    Call verifying(Instant at) {
        return become(Status.VERIFYING, at, edit -> {});
    }

    Call unsettled(Instant at) {
        return become(Status.UNSETTLED, at, edit -> {});
    }

    Call asking(String words, Instant at) {
        return become(Status.ASKING, at, edit -> edit.question = Optional.of(words));
    }

    Call answeredEarly(String text) {
        return but(edit -> edit.result = Optional.of(text));
    }

    Call withoutResult() {
        return but(edit -> edit.result = Optional.empty());
    }

    Call ended(Status how, String text, Instant at) {
        return become(how, at, edit -> {
            edit.result = Optional.of(text);
            edit.subagent = subagent.map(Delegation::abandoned);
        });
    }

    /** The time that it waited for has come, and nothing of it runs any more. */
    Call awake() {
        return but(edit -> {
            edit.wakeAt = Optional.empty();
            edit.claim = Optional.empty();
        });
    }

    Call committed() {
        return but(edit -> edit.result = Optional.empty());
    }

    /**
     * All that a forgotten conversation leaves of a call: that there was one, how it ended, and, where it may have
     * effects that are heard of later, the digest of its arguments.
     */
    Call forgotten(boolean effect) {
        return but(edit -> {
            edit.digest = effect ? Optional.of(argsDigest()) : digest;
            edit.args = Json.EMPTY_OBJECT;
            edit.question = question.map(words -> "");
            edit.evidence = Optional.empty();
            edit.result = Optional.empty();
            edit.approval = approval.map(decision -> new CallApproval(
                    decision.approved(), decision.edited(), Optional.empty(), Optional.empty(), decision.at()));
        });
    }

    /** It still lacks its one result. */
    @JsonIgnore
    public boolean isOpen() {
        return status.waits != Waits.NOT;
    }

    /** Nothing but a person can bring it on. */
    @JsonIgnore
    public boolean waitsForPerson() {
        return status.waits == Waits.FOR_PEOPLE
                || (status == Status.DELEGATED
                        && subagent.filter(Delegation::waitsForPerson).isPresent());
    }

    /** A worker has it, or a subagent. */
    @JsonIgnore
    public boolean isInFlight() {
        return status.waits == Waits.FOR_ACTIVITY;
    }

    /** Something of it may run, or has run, here or where it came from. */
    @JsonIgnore
    public boolean wasBegun() {
        return switch (status) {
            case CLAIMED, DELEGATED, UNKNOWN, DOUBTED, VERIFYING, UNSETTLED -> true;
            case ISSUED, HELD, AWAITING, DISPATCHED, ASKING, COMPLETED, FAILED, DENIED, CANCELLED, LOST -> false;
        };
    }

    /** It comes after another call that is the same. */
    @JsonIgnore
    public boolean isHeld() {
        return status == Status.HELD;
    }

    /** What identical calls have in common: the tool and the arguments. */
    Identity identity() {
        return new Identity(tool, args);
    }

    record Identity(String tool, Json args) {}

    /** Whether these calls are all that a turn waits for, and nothing but a person can bring any of them on. */
    static boolean onlyAsk(List<Call> open) {
        return !open.isEmpty() && open.stream().allMatch(call -> call.waitsForPerson() || call.isHeld());
    }

    /** The result as the model sees it, if there is one that the transcript does not hold yet. */
    @JsonIgnore
    public Optional<Part.ToolResult> toolResult() {
        return result.filter(text -> !isOpen()).map(text -> new Part.ToolResult(id, text, status != Status.COMPLETED));
    }

    /** A person is asked, and the words are not known: in a checkpoint, a call that waits for its approval is the same. */
    @JsonIgnore
    boolean asksNothing() {
        return status == Status.ASKING && question.orElse("").isEmpty();
    }

    /** What a decision or a claim is bound to: hex of the SHA-256 over the arguments as canonical JSON. */
    public String argsDigest() {
        return digest.orElseGet(() -> Sha256.hex(args.canonical()));
    }

    private Call become(Status next, Instant at, Consumer<Edit> change) {
        return but(edit -> {
            edit.status = next;
            edit.since = at;
            edit.wakeAt = Optional.empty();
            change.accept(edit);
        });
    }

    private Call but(Consumer<Edit> change) {
        Edit edit = new Edit();
        change.accept(edit);
        return edit.done();
    }

    /** A copy on which something is changed. */
    private final class Edit {
        private Json args = Call.this.args;
        private Status status = Call.this.status;
        private int dispatches = Call.this.dispatches;
        private int repeat = Call.this.repeat;
        private Optional<String> question = Call.this.question;
        private Optional<String> result = Call.this.result;
        private Instant since = Call.this.since;
        private Optional<Instant> wakeAt = Call.this.wakeAt;
        private Optional<Claim> claim = Call.this.claim;
        private Optional<CallApproval> approval = Call.this.approval;
        private Optional<String> digest = Call.this.digest;
        private Optional<Delegation> subagent = Call.this.subagent;
        private Optional<String> evidence = Call.this.evidence;

        Call done() {
            return new Call(
                    id,
                    tool,
                    args,
                    turn,
                    status,
                    dispatches,
                    repeat,
                    question,
                    result,
                    since,
                    wakeAt,
                    claim,
                    approval,
                    digest,
                    subagent,
                    evidence);
        }
    }
}
