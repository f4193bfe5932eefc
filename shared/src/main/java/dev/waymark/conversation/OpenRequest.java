package dev.waymark.conversation;

import com.fasterxml.jackson.annotation.JsonCreator;
import com.fasterxml.jackson.annotation.JsonIgnoreProperties;
import com.fasterxml.jackson.annotation.JsonInclude;
import com.fasterxml.jackson.annotation.JsonProperty;
import dev.waymark.conversation.value.Json;
import dev.waymark.conversation.value.Problem;
import java.time.Instant;
import java.util.Collections;
import java.util.Objects;
import java.util.Optional;

/**
 * Something that waits for a person, in a thread or in one of those below it.
 *
 * @param callId as the thread's people name the call: one of a subagent's has the id of the call to the subagent and a
 *     slash before it
 * @param args not there for a question
 * @param rerun whether a lost call may be run again
 * @param evidence what was seen of a call whose outcome is not known
 * @param signers who has to sign the decision, if it has to be signed
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
        @JsonProperty("signers") Optional<Signers> signers) {
    /** What is wanted of the person. The names are stored, and printed. */
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

    /** Without evidence, and one that anybody may decide. */
    public OpenRequest(
            String callId,
            Kind kind,
            String tool,
            Optional<String> question,
            Optional<Json> args,
            Optional<String> argsDigest,
            boolean rerun,
            Instant since) {
        this(callId, kind, tool, question, args, argsDigest, rerun, since, Optional.empty(), Optional.empty());
    }

    /** What a call that waits for a person wants. */
    static OpenRequest of(Call call, Optional<AgentPolicy> terms, int rules) {
        AgentPolicy.Care care = terms.map(known -> known.careOf(call.tool())).orElse(AgentPolicy.Care.NONE);
        if (call.status() == Call.Status.ASKING) {
            return new OpenRequest(
                    call.id(),
                    Kind.QUESTION,
                    call.tool(),
                    call.question(),
                    Optional.empty(),
                    Optional.empty(),
                    false,
                    call.since());
        }
        boolean unknown = call.status() == Call.Status.UNSETTLED;
        return new OpenRequest(
                call.id(),
                unknown ? Kind.UNKNOWN : Kind.APPROVAL,
                call.tool(),
                Optional.empty(),
                Optional.of(call.args()),
                Optional.of(call.argsDigest()),
                unknown && care.rerunOnWord(rules),
                call.since(),
                unknown ? call.evidence() : Optional.empty(),
                terms.flatMap(AgentPolicy::signers).map(signers -> signers.of(call.id())));
    }

    /** What a signature under this decision has to say. */
    private static DecisionStatement statement(Signers signers, OpenRequest ask, Fact.ApprovalDecided decided) {
        return DecisionStatement.about(
                signers, ask.since, ask.argsDigest, decided.signal(), decided.args(), decided.reason(), decided.by());
    }

    /** Why this decision does not count, where decisions have to be signed. */
    Optional<Problem> objection(Fact.ApprovalDecided decided) {
        return signers.flatMap(all -> all.objection(statement(all, this, decided), decided.signature()));
    }

    Optional<Problem> objection(Fact.OutcomeSettled settled) {
        return signers.flatMap(all -> all.objection(
                DecisionStatement.about(
                        all,
                        since,
                        argsDigest,
                        settled.settlement().wireName(),
                        Optional.empty(),
                        settled.result(),
                        settled.by()),
                settled.signature()));
    }

    /** What is kept of the signature under a decision. Where nobody has to sign, it says nothing. */
    Optional<CallApproval.Signature> signature(Fact.ApprovalDecided decided) {
        return signers.map(all -> statement(all, this, decided))
                .flatMap(statement -> decided.signature()
                        .map(signature -> new CallApproval.Signature(
                                statement.asked(), statement.argsDigest(), statement.newArgsDigest(), signature)));
    }

    /** The same as the thread above names it. */
    OpenRequest below(String call) {
        return new OpenRequest(
                call + "/" + callId, kind, tool, question, args, argsDigest, rerun, since, evidence, signers);
    }

    /** Whether that is this, wherever either was shortened. What is asked again later is not the same. */
    boolean isSame(OpenRequest other) {
        return callId.equals(other.callId)
                && kind == other.kind
                && argsDigest.equals(other.argsDigest)
                && since.equals(other.since);
    }

    /** The same in at most so many characters of question and of arguments. The digest is of the whole arguments. */
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
                signers);
    }
}
