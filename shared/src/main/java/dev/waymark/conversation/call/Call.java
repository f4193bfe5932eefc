package dev.waymark.conversation.call;

import com.fasterxml.jackson.annotation.JsonIgnore;
import com.fasterxml.jackson.annotation.JsonInclude;
import com.fasterxml.jackson.annotation.JsonProperty;
import com.fasterxml.jackson.annotation.JsonUnwrapped;
import dev.waymark.conversation.decision.CallApproval;
import dev.waymark.conversation.decision.CallSettlement;
import dev.waymark.conversation.decision.PendingItem;
import dev.waymark.conversation.message.Part;
import dev.waymark.conversation.value.Budget;
import dev.waymark.conversation.value.CallVerdict;
import dev.waymark.conversation.value.Json;
import dev.waymark.conversation.value.Problem;
import dev.waymark.conversation.value.Sha256;
import java.time.Instant;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.function.Consumer;

/**
 * A tool call. A thread keeps it, unless it was harmless and a summary replaced its message.
 *
 * @param args the arguments to run with; after an approval, the approved ones
 * @param requested the arguments that the model chose, if a person changed them
 * @param digest the digest of the arguments, if they were deleted and the digest may still be needed
 * @param since the time of the last status change
 * @param wakeAt when the waiting time of the status ends, if it has one
 * @param result the result, until it is committed to the transcript; for a call that asks a question, an answer that
 *     arrived before it was known whether the call waits for an answer or for approval
 * @param clearance what decides whether it may run
 * @param execution what was done so far
 */
public record Call(
        String id,
        String tool,
        Json args,
        Optional<Json> requested,
        Optional<String> digest,
        int turn,
        Status status,
        Instant since,
        Optional<Instant> wakeAt,
        Optional<String> question,
        Optional<String> result,
        @JsonUnwrapped Clearance clearance,
        @JsonUnwrapped Execution execution) {
    /** The status of a call. {@code docs/call-life.md} lists the possible transitions. The names are stored. */
    public enum Status {
        /** Will run, now or at {@code wakeAt}. */
        @JsonProperty("issued")
        ISSUED(Waits.FOR_RULES),
        /** Waits for an identical call with side effects in the same reply. */
        @JsonProperty("held")
        HELD(Waits.FOR_ANOTHER),
        /** The agent's rules are asked whether it may run. */
        @JsonProperty("judging")
        JUDGING(Waits.FOR_ACTIVITY),
        /** Waits for approval by a person, until {@code wakeAt} if that is set. */
        @JsonProperty("awaiting")
        AWAITING(Waits.FOR_PEOPLE),
        /** Dispatched to a worker. If it needs a claim, it has not run yet. */
        @JsonProperty("dispatched")
        DISPATCHED(Waits.FOR_ACTIVITY),
        /** Claimed by an execution, which may take effect from now on. */
        @JsonProperty("claimed")
        CLAIMED(Waits.FOR_ACTIVITY),
        /** The tool's server works on it as a task. A worker must follow the task. */
        @JsonProperty("remote")
        REMOTE(Waits.FOR_RULES),
        /** A worker repeatedly asks the tool's server for the status of the task. */
        @JsonProperty("following")
        FOLLOWING(Waits.FOR_ACTIVITY),
        /** Executed by a subagent's thread. */
        @JsonProperty("delegated")
        DELEGATED(Waits.FOR_ACTIVITY),
        /** The outcome of the claimed execution is unknown. It may still run, or report, until {@code wakeAt}. */
        @JsonProperty("unknown")
        UNKNOWN(Waits.FOR_RULES),
        /** No execution of the call is running, and the outcome must be determined. */
        @JsonProperty("doubted")
        DOUBTED(Waits.FOR_RULES),
        /** Its {@code verify} is running. */
        @JsonProperty("verifying")
        VERIFYING(Waits.FOR_ACTIVITY),
        /** The outcome is unknown, and a person must settle it. */
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
        /** The outcome is unknown, and the model was told so. */
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
     * Allows one execution of a dispatch to take effect.
     *
     * @param token the fencing token, larger than the tokens of all earlier claims for the same tool and arguments; 0
     *     for a claim that this thread did not grant
     */
    public record Claim(
            String execution,
            Instant at,

            @JsonInclude(JsonInclude.Include.NON_DEFAULT) long token) {
        private static final String ELSEWHERE = "checkpoint";

        public Claim {
            Objects.requireNonNull(execution, "execution");
            Objects.requireNonNull(at, "at");
        }

        public Claim(String execution, Instant at) {
            this(execution, at, 0);
        }

        /** The claim of an execution that only a checkpoint mentions. */
        public static Claim elsewhere(Instant at) {
            return new Claim(ELSEWHERE, at);
        }

        @JsonIgnore
        public boolean isElsewhere() {
            return execution.equals(ELSEWHERE);
        }
    }

    public Call {
        Objects.requireNonNull(id, "id");
        Objects.requireNonNull(tool, "tool");
        Objects.requireNonNull(args, "args");
        Objects.requireNonNull(status, "status");
        Objects.requireNonNull(since, "since");
    }

    public static Call issued(Part.ToolUse use, int turn, Instant at) {
        return new Call(
                use.id(),
                use.name(),
                use.input(),
                Optional.empty(),
                Optional.empty(),
                turn,
                Status.ISSUED,
                at,
                Optional.empty(),
                Optional.empty(),
                Optional.empty(),
                Clearance.NONE,
                Execution.NONE);
    }

    /** A copy that will run, but not before this time if it is given. */
    public Call issued(Optional<Instant> notBefore, Instant at) {
        return become(Status.ISSUED, at, edit -> edit.wakeAt = notBefore);
    }

    /** A copy with this mark, or without one. */
    public Call fromFile(Optional<FromFile> mark) {
        return but(edit -> edit.clearance.fromFile = mark);
    }

    /** A copy that records whether a call of a file may have run before. Has no effect on other calls. */
    public Call withMayHaveRun(boolean perhaps) {
        return fromFile(fromFile().map(mark -> new FromFile(mark.onlyEffects(), perhaps)));
    }

    /** Whether the call comes from a file and may have run before. It still needs a decision. */
    @JsonIgnore
    public boolean mayHaveRunBefore() {
        return fromFile().filter(FromFile::mayHaveRun).isPresent();
    }

    /** Whether a person approved the call in this thread. What a checkpoint says does not count. */
    @JsonIgnore
    public boolean isApprovedHere() {
        return approval()
                .filter(CallApproval::approved)
                .filter(decision -> !decision.stated())
                .isPresent();
    }

    public Call judging(Instant at) {
        return become(Status.JUDGING, at, edit -> {});
    }

    /**
     * A copy with the verdict of the agent's rules about its arguments. A later verdict about the same arguments does
     * not replace the first one, and only adds what was not known yet.
     */
    public Call judged(CallVerdict given) {
        CallVerdict standing = verdict().orElse(given);
        return but(edit -> {
            edit.clearance.verdict = Optional.of(
                    standing.comparedWith(given.compared().or(standing::compared))
                            .about(Optional.empty()));
            edit.clearance.definition = definition().or(() -> given.definition().map(ToolDefinition::of));
        });
    }

    /** A copy without a verdict of the agent's rules. */
    public Call unjudged() {
        return but(edit -> edit.clearance.verdict = Optional.empty());
    }

    /** A copy that a grant lets run. */
    public Call granted(int number) {
        return but(edit -> edit.clearance.grant = Optional.of(number));
    }

    /** A copy that no grant lets run. */
    public Call withoutGrant() {
        return but(edit -> edit.clearance.grant = Optional.empty());
    }

    /**
     * A copy of a call that did not run, because its tool's definition has changed. Drops its approval and its grant.
     */
    public Call redefined(String digest) {
        return but(edit -> {
            edit.clearance.approval = Optional.empty();
            edit.clearance.grant = Optional.empty();
            edit.execution.suspension = Optional.empty();
            edit.clearance.definition = Optional.of(
                    definition().map(known -> known.changedTo(digest)).orElseGet(() -> ToolDefinition.of(digest)));
        });
    }

    /** Whether the agent's rules say this about the call with its arguments. */
    public boolean isJudged(CallVerdict.Then then) {
        return verdict().filter(given -> given.then() == then).isPresent();
    }

    public Call held(Instant at) {
        return become(Status.HELD, at, edit -> {});
    }

    /** Marks a call that may have run elsewhere and has no result. Keeps the time of the last status change. */
    public Call begunElsewhere(Status standing) {
        return become(standing, since, edit -> {});
    }

    public Call endedEarlier(Instant when) {
        return but(edit -> edit.since = when);
    }

    public Call repeating(int earlier) {
        return but(edit -> edit.execution.repeat = earlier);
    }

    public Call awaiting(Optional<Instant> deadline, Instant at) {
        return become(Status.AWAITING, at, edit -> {
            edit.wakeAt = deadline;
            edit.clearance.grant = Optional.empty();
        });
    }

    /**
     * A copy with a decision. If the arguments change, drops the verdict and the suspension, which apply only to the
     * earlier arguments.
     */
    public Call decided(CallApproval decision, Json approvedArgs, Instant at) {
        return become(Status.ISSUED, at, edit -> {
            edit.clearance.approval = Optional.of(decision);
            edit.args = approvedArgs;
            edit.requested = Optional.of(requested.orElse(args)).filter(chosen -> !chosen.equals(approvedArgs));
            edit.clearance.verdict = approvedArgs.equals(args) ? verdict() : Optional.empty();
            edit.clearance.definition =
                    decision.approved() ? definition().map(ToolDefinition::withApproval) : definition();
            edit.execution.suspension = approvedArgs.equals(args) ? suspension() : Optional.empty();
        });
    }

    /**
     * Counts a dispatch made before a reset or elsewhere, so that the call keeps its key even if other calls end first.
     */
    public Call withUsedKey() {
        return but(edit -> edit.execution.dispatches = Math.max(1, dispatches()));
    }

    /** Removes an existing claim: a call is dispatched only if no execution of it is running. */
    public Call dispatched(int dispatch, Instant at) {
        return become(Status.DISPATCHED, at, edit -> {
            edit.execution.dispatches = dispatch;
            edit.execution.claim = Optional.empty();
            edit.execution.evidence = Optional.empty();
        });
    }

    public Call delegated(Optional<Budget> reserved, Instant at) {
        return become(Status.DELEGATED, at, edit -> edit.execution.subagent = Optional.of(Delegation.begun(reserved)));
    }

    public Call delegating(Delegation known) {
        return but(edit -> edit.execution.subagent = Optional.of(known));
    }

    public Call claimed(Claim by, Instant at) {
        return become(Status.CLAIMED, at, edit -> edit.execution.claim = Optional.of(by));
    }

    /** Replaces the claim without changing the status; the outcome of this execution is unknown too. */
    public Call claimedLater(Claim by) {
        return but(edit -> edit.execution.claim = Optional.of(by));
    }

    public Call withoutClaim() {
        return but(edit -> edit.execution.claim = Optional.empty());
    }

    /** Records what was observed of an execution with an unknown outcome. */
    public Call seen(String what) {
        return but(edit -> edit.execution.evidence = Optional.of(Problem.cut(what, Execution.MAX_EVIDENCE_LENGTH)));
    }

    /** Records what a person decided about the unknown outcome. */
    public Call settled(CallSettlement how) {
        return but(edit -> edit.execution.settlement = Optional.of(how));
    }

    /** Drops a person's decision about the outcome, because the outcome must be determined again. */
    public Call withoutSettlement() {
        return settlement().isEmpty() ? this : but(edit -> edit.execution.settlement = Optional.empty());
    }

    /** Whether a person said that the call did not take effect. */
    @JsonIgnore
    public boolean isSettledAsNotDone() {
        return settlement()
                .filter(how -> how.outcome() == CallSettlement.Outcome.NOT_DONE)
                .isPresent();
    }

    /**
     * Whether this execution holds the claim and has not reported its outcome. A person may have stated the outcome.
     */
    public boolean awaitsReportOf(String execution) {
        boolean isClaimed =
                claim().filter(known -> known.execution().equals(execution)).isPresent();
        return isClaimed
                && switch (status) {
                    case ISSUED, JUDGING, AWAITING, CLAIMED, UNKNOWN, DOUBTED, VERIFYING, UNSETTLED, CANCELLED, LOST ->
                        true;
                    case FAILED -> isSettledAsNotDone();
                    case HELD, DISPATCHED, REMOTE, FOLLOWING, DELEGATED, ASKING, COMPLETED, DENIED -> false;
                };
    }

    public Call unknown(Instant fence, Instant at) {
        return become(Status.UNKNOWN, at, edit -> edit.wakeAt = Optional.of(fence));
    }

    public Call doubted(Instant at) {
        return become(Status.DOUBTED, at, edit -> {});
    }

    public Call verifying(Instant at) {
        return become(Status.VERIFYING, at, edit -> {});
    }

    public Call unsettled(Instant at) {
        return become(Status.UNSETTLED, at, edit -> {});
    }

    public Call asking(String words, Instant at) {
        return become(Status.ASKING, at, edit -> edit.question = Optional.of(words));
    }

    /** A copy whose request expires at this time, if it has a time limit. */
    public Call expiring(Optional<Instant> until) {
        return until.equals(wakeAt) ? this : but(edit -> edit.wakeAt = until);
    }

    /** A copy whose request begins now. */
    public Call withRestartedWait(Optional<Instant> until, Instant at) {
        return but(edit -> {
            edit.since = at;
            edit.wakeAt = until;
        });
    }

    /** A copy with this suspension, or with none. */
    public Call suspended(Optional<Suspension> how) {
        return but(edit -> edit.execution.suspension = how);
    }

    public Call remote(Instant at) {
        return become(Status.REMOTE, at, edit -> {});
    }

    public Call following(Instant at) {
        return become(Status.FOLLOWING, at, edit -> {});
    }

    /** The server's id of the task, if the server works on the call as a task. */
    @JsonIgnore
    public Optional<String> task() {
        return suspension().flatMap(Suspension::task);
    }

    public Call answeredEarly(String text) {
        return but(edit -> edit.result = Optional.of(text));
    }

    public Call withoutResult() {
        return but(edit -> edit.result = Optional.empty());
    }

    public Call ended(Status how, String text, Instant at) {
        return become(how, at, edit -> {
            edit.result = Optional.of(text);
            edit.execution.subagent = subagent().map(Delegation::abandoned);
            edit.execution.suspension = Optional.empty();
        });
    }

    /** Ends the wait and removes the claim, since no execution of the call is running. */
    public Call awake() {
        return but(edit -> {
            edit.wakeAt = Optional.empty();
            edit.execution.claim = Optional.empty();
        });
    }

    public Call committed() {
        return but(edit -> edit.result = Optional.empty());
    }

    /**
     * A copy for a deleted conversation, without arguments, texts and names. If the tool has side effects, the copy
     * keeps the digest of the arguments, since a late report about the effect may arrive.
     */
    public Call forgotten(boolean effect) {
        return but(edit -> {
            edit.digest = effect ? Optional.of(argsDigest()) : digest;
            edit.args = Json.EMPTY_OBJECT;
            edit.requested = Optional.empty();
            edit.question = question.map(words -> "");
            edit.execution.evidence = Optional.empty();
            edit.execution.settlement = settlement().map(CallSettlement::forgotten);
            edit.clearance.verdict = verdict().map(CallVerdict::forgotten);
            edit.result = Optional.empty();
            edit.clearance.approval = approval().map(CallApproval::forgotten);
        });
    }

    /** Whether the call has no result yet. */
    @JsonIgnore
    public boolean isOpen() {
        return status.waits != Waits.NOT;
    }

    /** Whether the call completed, failed or was denied, and no execution can report anything later. */
    @JsonIgnore
    public boolean hasOwnResult() {
        return status == Status.COMPLETED
                || (status == Status.FAILED && !isSettledAsNotDone())
                || status == Status.DENIED;
    }

    /** Whether only a person can continue the call. */
    @JsonIgnore
    public boolean waitsForPerson() {
        return waitsForPersonHere()
                || (status == Status.DELEGATED
                        && subagent().filter(Delegation::waitsForPerson).isPresent());
    }

    /** Whether this thread itself asks a person about the call. */
    @JsonIgnore
    public boolean waitsForPersonHere() {
        return status.waits == Waits.FOR_PEOPLE;
    }

    /** Whether a worker or a subagent has the call, or a worker is checking it. */
    @JsonIgnore
    public boolean isInFlight() {
        return status.waits == Waits.FOR_ACTIVITY;
    }

    /**
     * Whether the status says that the call may have taken effect, here or elsewhere, and that its outcome is not
     * known.
     */
    @JsonIgnore
    public boolean wasBegun() {
        return switch (status) {
            case CLAIMED, REMOTE, FOLLOWING, DELEGATED, UNKNOWN, DOUBTED, VERIFYING, UNSETTLED -> true;
            case ISSUED, HELD, JUDGING, AWAITING, DISPATCHED, ASKING, COMPLETED, FAILED, DENIED, CANCELLED, LOST ->
                false;
        };
    }

    /** Whether an execution did not report its outcome, even if the outcome may still become known. */
    @JsonIgnore
    public boolean isOutcomeUnknown() {
        return switch (status) {
            case UNKNOWN, DOUBTED, VERIFYING, UNSETTLED, LOST -> true;
            case ISSUED,
                    HELD,
                    JUDGING,
                    AWAITING,
                    DISPATCHED,
                    CLAIMED,
                    REMOTE,
                    FOLLOWING,
                    DELEGATED,
                    ASKING,
                    COMPLETED,
                    FAILED,
                    DENIED,
                    CANCELLED -> false;
        };
    }

    @JsonIgnore
    public boolean isHeld() {
        return status == Status.HELD;
    }

    /** The tool and the arguments, which are equal for identical calls. */
    public Identity identity() {
        return new Identity(tool, args);
    }

    public record Identity(String tool, Json args) {}

    /**
     * Whether all of these open calls wait for people, directly or because they are held by an identical call. False if
     * there are none.
     */
    public static boolean allWaitForPeople(List<Call> open) {
        return !open.isEmpty() && open.stream().allMatch(call -> call.waitsForPerson() || call.isHeld());
    }

    /** The result for the model, if the call has ended and the result is not in the transcript yet. */
    @JsonIgnore
    public Optional<Part.ToolResult> toolResult() {
        return result.filter(text -> !isOpen())
                .map(text -> new Part.ToolResult(
                        id, text, status != Status.COMPLETED, requested.map(chosen -> ToolTexts.argsChanged(args))));
    }

    /**
     * Whether the call asks without a known question. In a checkpoint, a call that waits for approval looks the same.
     */
    @JsonIgnore
    public boolean lacksQuestion() {
        return status == Status.ASKING && question.orElse("").isEmpty();
    }

    /** The request of this call, which waits for a person. */
    public PendingItem request(Optional<AgentPolicy> policy) {
        boolean asks = status == Status.ASKING;
        boolean unknown = status == Status.UNSETTLED;
        boolean approval = !asks && !unknown;
        AgentPolicy.ToolPolicy ofTool =
                policy.map(known -> known.policyOf(tool())).orElse(AgentPolicy.ToolPolicy.NONE);
        return new PendingItem(
                "",
                id(),
                asks ? PendingItem.Kind.QUESTION : unknown ? PendingItem.Kind.UNKNOWN : PendingItem.Kind.APPROVAL,
                tool(),
                asks ? question() : Optional.empty(),
                asks ? Optional.empty() : Optional.of(args()),
                asks ? Optional.empty() : Optional.of(requestDigest()),
                unknown && ofTool.mayRerunOnDecision(),
                since(),
                unknown ? evidence() : Optional.empty(),
                asks ? Optional.empty() : policy.flatMap(AgentPolicy::signers).map(signers -> signers.of(id())),
                List.of(),
                fromFile().isPresent(),
                approval && mayHaveRunBefore(),
                approval && ofTool.ruled() && isJudged(CallVerdict.Then.ASK)
                        ? verdict().map(CallVerdict::ofRules)
                        : Optional.empty(),
                asks ? suspension().flatMap(Suspension::form).map(InputForm::request) : Optional.empty(),
                approval ? definition().map(ToolDefinition::digest) : Optional.empty(),
                approval && definition().filter(ToolDefinition::changed).isPresent(),
                policy.flatMap(AgentPolicy::approvals).flatMap(by -> wakeAt()),
                Optional.empty());
    }

    private String requestDigest() {
        return definition()
                .filter(ToolDefinition::changed)
                .map(tool -> tool.digestWith(argsDigest()))
                .orElseGet(this::argsDigest);
    }

    /** The digest that decisions and claims refer to: the hexadecimal SHA-256 of the arguments as canonical JSON. */
    public String argsDigest() {
        return digest.orElseGet(() -> Sha256.hex(args.canonical()));
    }

    public Optional<CallApproval> approval() {
        return clearance.approval();
    }

    public Optional<FromFile> fromFile() {
        return clearance.fromFile();
    }

    public Optional<CallVerdict> verdict() {
        return clearance.verdict();
    }

    public Optional<Integer> grant() {
        return clearance.grant();
    }

    public Optional<ToolDefinition> definition() {
        return clearance.definition();
    }

    public int dispatches() {
        return execution.dispatches();
    }

    public int repeat() {
        return execution.repeat();
    }

    public Optional<Claim> claim() {
        return execution.claim();
    }

    public Optional<String> evidence() {
        return execution.evidence();
    }

    public Optional<CallSettlement> settlement() {
        return execution.settlement();
    }

    public Optional<Delegation> subagent() {
        return execution.subagent();
    }

    public Optional<Suspension> suspension() {
        return execution.suspension();
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

    private final class Edit {
        private Json args = Call.this.args;
        private Optional<Json> requested = Call.this.requested;
        private Optional<String> digest = Call.this.digest;
        private Status status = Call.this.status;
        private Instant since = Call.this.since;
        private Optional<Instant> wakeAt = Call.this.wakeAt;
        private Optional<String> question = Call.this.question;
        private Optional<String> result = Call.this.result;
        private final Clearance.Edit clearance = Call.this.clearance.new Edit();
        private final Execution.Edit execution = Call.this.execution.new Edit();

        Call done() {
            return new Call(
                    id,
                    tool,
                    args,
                    requested,
                    digest,
                    turn,
                    status,
                    since,
                    wakeAt,
                    question,
                    result,
                    clearance.done(),
                    execution.done());
        }
    }
}
