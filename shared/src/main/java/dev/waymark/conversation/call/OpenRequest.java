package dev.waymark.conversation.call;

import com.fasterxml.jackson.annotation.JsonCreator;
import com.fasterxml.jackson.annotation.JsonIgnoreProperties;
import com.fasterxml.jackson.annotation.JsonInclude;
import com.fasterxml.jackson.annotation.JsonProperty;
import dev.waymark.conversation.policy.AgentPolicy;
import dev.waymark.conversation.policy.Signers;
import dev.waymark.conversation.value.Json;
import dev.waymark.conversation.value.Problem;
import java.time.Instant;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;
import java.util.Objects;
import java.util.Optional;

/**
 * A request that waits for a person, in a thread or one of its subagents.
 *
 * @param callId the call's id; for a call of a subagent's thread, preceded by the id of the subagent call and a slash
 * @param args not set for a question
 * @param rerun whether a person may decide that the lost call runs again
 * @param evidence what was observed of a call with an unknown outcome
 * @param signers the people who may sign the decision, if it must be signed
 * @param fromFile whether only a file contains the call: no model made it in this thread
 * @param mayHaveRun whether a call of a file may have run before, although it waits for approval
 */
@JsonIgnoreProperties(ignoreUnknown = true)
@JsonInclude(JsonInclude.Include.NON_ABSENT)
public record OpenRequest(
        @JsonProperty("callId") String callId,
        @JsonProperty("kind") Kind kind,
        @JsonProperty("tool") String tool,
        @JsonProperty("question") Optional<String> question,
        @JsonProperty("args") Optional<Json> args,
        @JsonProperty("argsDigest") Optional<String> argsDigest,

        @JsonProperty("rerun") @JsonInclude(JsonInclude.Include.NON_DEFAULT)
        boolean rerun,

        @JsonProperty("since") Instant since,
        @JsonProperty("evidence") Optional<String> evidence,
        @JsonProperty("signers") Optional<Signers> signers,

        @JsonProperty("fromFile") @JsonInclude(JsonInclude.Include.NON_DEFAULT)
        boolean fromFile,

        @JsonProperty("mayHaveRun") @JsonInclude(JsonInclude.Include.NON_DEFAULT)
        boolean mayHaveRun) {
    private static final String WHY_NO_RERUN = "the lost execution may still take effect, because the tool"
            + " does not set honours_key, and no check has made the other system refuse it (verify_forbids)";

    /** The kind of decision. The names are stored and shown to users. */
    public enum Kind {
        @JsonProperty("question")
        QUESTION("question"),
        @JsonProperty("approval")
        APPROVAL("approval"),
        @JsonProperty("unknown")
        UNKNOWN("unknown");

        private final String wireName;

        Kind(String wireName) {
            this.wireName = wireName;
        }

        public String wireName() {
            return wireName;
        }
    }

    @JsonCreator
    public OpenRequest {
        Objects.requireNonNull(callId, "callId");
        Objects.requireNonNull(kind, "kind");
        Objects.requireNonNull(tool, "tool");
        Objects.requireNonNull(since, "since");
        question = question == null ? Optional.empty() : question;
        args = args == null ? Optional.empty() : args;
        argsDigest = argsDigest == null ? Optional.empty() : argsDigest;
        evidence = evidence == null ? Optional.empty() : evidence;
        signers = signers == null ? Optional.empty() : signers;
    }

    /** A request without evidence, for a decision that need not be signed. */
    public OpenRequest(
            String callId,
            Kind kind,
            String tool,
            Optional<String> question,
            Optional<Json> args,
            Optional<String> argsDigest,
            boolean rerun,
            Instant since) {
        this(
                callId,
                kind,
                tool,
                question,
                args,
                argsDigest,
                rerun,
                since,
                Optional.empty(),
                Optional.empty(),
                false,
                false);
    }

    /** The request of a call that waits for a person. */
    public static OpenRequest of(Call call, Optional<AgentPolicy> terms) {
        AgentPolicy.ToolPolicy policy =
                terms.map(known -> known.policyOf(call.tool())).orElse(AgentPolicy.ToolPolicy.NONE);
        if (call.status() == Call.Status.ASKING) {
            return new OpenRequest(
                    call.id(),
                    Kind.QUESTION,
                    call.tool(),
                    call.question(),
                    Optional.empty(),
                    Optional.empty(),
                    false,
                    call.since(),
                    Optional.empty(),
                    Optional.empty(),
                    call.fromFile().isPresent(),
                    false);
        }
        boolean unknown = call.status() == Call.Status.UNSETTLED;
        return new OpenRequest(
                call.id(),
                unknown ? Kind.UNKNOWN : Kind.APPROVAL,
                call.tool(),
                Optional.empty(),
                Optional.of(call.args()),
                Optional.of(call.argsDigest()),
                unknown && policy.rerunOnWord(),
                call.since(),
                unknown ? call.evidence() : Optional.empty(),
                terms.flatMap(AgentPolicy::signers).map(signers -> signers.of(call.id())),
                call.fromFile().isPresent(),
                !unknown && call.mayHaveRunBefore());
    }

    /** How a person may settle the call; empty if its outcome is not in question. */
    public List<CallSettlement.Verdict> verdicts() {
        if (kind != Kind.UNKNOWN) {
            return List.of();
        }
        return Arrays.stream(CallSettlement.Verdict.values())
                .filter(verdict -> rerun || verdict != CallSettlement.Verdict.RERUN)
                .toList();
    }

    /** Why a person can't decide that the lost call runs again; empty if a person can, or nothing is to be settled. */
    public Optional<String> whyNoRerun() {
        return kind != Kind.UNKNOWN || rerun ? Optional.empty() : Optional.of(WHY_NO_RERUN);
    }

    /** This request under its id in the parent thread. */
    public OpenRequest below(String call) {
        return new OpenRequest(
                call + "/" + callId,
                kind,
                tool,
                question,
                args,
                argsDigest,
                rerun,
                since,
                evidence,
                signers,
                fromFile,
                mayHaveRun);
    }

    /**
     * Whether both are the same request, even if one was shortened. A request that is made again is a different one.
     */
    boolean isSame(OpenRequest other) {
        return callId.equals(other.callId)
                && kind == other.kind
                && argsDigest.equals(other.argsDigest)
                && since.equals(other.since);
    }

    /**
     * A copy whose question is cut to this many characters, and whose arguments are replaced by their length if they
     * are longer than that. The digest remains the digest of the full arguments.
     */
    OpenRequest shortened(int most) {
        return new OpenRequest(
                callId,
                kind,
                tool,
                question.map(words -> Problem.cut(words, most)),
                args.map(json -> json.canonical().length() <= most
                        ? json
                        : Json.of(Collections.singletonMap(
                                "truncated", json.canonical().length()))),
                argsDigest,
                rerun,
                since,
                evidence,
                signers,
                fromFile,
                mayHaveRun);
    }
}
