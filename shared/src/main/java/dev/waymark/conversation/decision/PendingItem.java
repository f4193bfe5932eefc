package dev.waymark.conversation.decision;

import com.fasterxml.jackson.annotation.JsonInclude;
import com.fasterxml.jackson.annotation.JsonProperty;
import com.fasterxml.jackson.annotation.JsonPropertyOrder;
import dev.waymark.conversation.value.CallVerdict;
import dev.waymark.conversation.value.Json;
import dev.waymark.conversation.value.Problem;
import dev.waymark.conversation.value.Sha256;
import dev.waymark.conversation.value.UntrustedWords;
import java.time.Instant;
import java.util.Arrays;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.function.UnaryOperator;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/**
 * A request that waits for a person, in a thread or one of its subagents: a question, a call to approve, or a call with
 * an unknown outcome.
 *
 * @param thread the thread that a decision is sent to; empty in a state, which does not know the id of its thread
 * @param callId the call's id; for a call of a subagent's thread, preceded by the id of the subagent call and a slash
 * @param args not set for a question
 * @param argsDigest the digest of the arguments; a decision that contains it applies only to these arguments. If the
 *     request was made again because the tool has changed, the digest covers the tool's definition, too, so that a
 *     decision about the earlier request does not apply to this one.
 * @param rerun whether a person may decide that the lost call runs again; a state stores this instead of the outcomes
 * @param evidence what was observed of a call with an unknown outcome, such as {@code HTTP 504}
 * @param signers who must sign the decision, if it must be signed
 * @param outcomes how a person may settle a call with an unknown outcome; empty for other requests
 * @param fromFile whether only a file contains the call: no model made it in this thread
 * @param verdict the verdict with which the agent's rules leave the call to a person, if its tool has rules
 * @param mayHaveRun whether a call of a file may have run before, although it waits for approval
 * @param toolDigest the digest of the definition of the tool that is to be approved, if the tool has one
 * @param toolChanged whether the call was approved with another definition of the tool and therefore did not run
 * @param until when the request expires
 * @param untrusted the untrusted words that the model has read before it made the call that needs approval, if any
 */
@JsonPropertyOrder({
    "thread",
    "callId",
    "kind",
    "tool",
    "question",
    "args",
    "argsDigest",
    "rerun",
    "since",
    "evidence",
    "signers",
    "outcomes",
    "whyNoRerun"
})
public record PendingItem(
        @JsonInclude(JsonInclude.Include.NON_EMPTY) String thread,

        String callId,
        Kind kind,
        String tool,
        Optional<String> question,
        Optional<Json> args,
        Optional<String> argsDigest,

        @JsonInclude(JsonInclude.Include.NON_DEFAULT) boolean rerun,

        Instant since,
        Optional<String> evidence,
        Optional<Signers> signers,

        @JsonInclude(JsonInclude.Include.NON_EMPTY) List<String> outcomes,

        @JsonInclude(JsonInclude.Include.NON_DEFAULT) boolean fromFile,

        @JsonInclude(JsonInclude.Include.NON_DEFAULT) boolean mayHaveRun,

        Optional<CallVerdict> verdict,
        Optional<Json> form,
        Optional<String> toolDigest,

        @JsonInclude(JsonInclude.Include.NON_DEFAULT) boolean toolChanged,

        Optional<Instant> until,
        Optional<UntrustedWords> untrusted) {
    private static final String WHY_NO_RERUN = "the lost execution may still take effect, because the tool"
            + " does not set honours_key, and no check has made the other system refuse it (verify_forbids)";

    /** The kind of decision. The names are stored and shown to users. */
    public enum Kind {
        @JsonProperty("question")
        QUESTION("question"),
        @JsonProperty("approval")
        APPROVAL("approval"),
        /** A person must settle the call's outcome. */
        @JsonProperty("unknown")
        UNKNOWN("unknown");

        private final String wireName;

        Kind(String wireName) {
            this.wireName = wireName;
        }

        /** The name of the kind in JSON, and in the options and output of the command line. */
        public String wireName() {
            return wireName;
        }
    }

    public PendingItem {
        Objects.requireNonNull(callId, "callId");
        Objects.requireNonNull(kind, "kind");
        Objects.requireNonNull(tool, "tool");
        Objects.requireNonNull(since, "since");
        thread = thread == null ? "" : thread;
        boolean lacksOutcomes = outcomes == null || outcomes.isEmpty();
        outcomes = lacksOutcomes && kind == Kind.UNKNOWN
                ? possibleOutcomes(rerun)
                : lacksOutcomes ? List.of() : List.copyOf(outcomes);
        rerun = rerun && thread.isEmpty();
    }

    private static List<String> possibleOutcomes(boolean rerun) {
        return Arrays.stream(CallSettlement.Outcome.values())
                .filter(outcome -> rerun || outcome != CallSettlement.Outcome.RERUN)
                .map(CallSettlement.Outcome::wireName)
                .toList();
    }

    private PendingItem with(
            String thread,
            String callId,
            Optional<String> question,
            Optional<Json> args,
            Optional<Json> form,
            Optional<UntrustedWords> words) {
        return new PendingItem(
                thread,
                callId,
                kind,
                tool,
                question,
                args,
                argsDigest,
                rerun,
                since,
                evidence,
                signers,
                outcomes,
                fromFile,
                mayHaveRun,
                verdict,
                form,
                toolDigest,
                toolChanged,
                until,
                words);
    }

    /** A request for approval of a call that the model made after it had read these words, if any. */
    public PendingItem after(Optional<UntrustedWords> words) {
        return with(
                thread, callId, question, args, form, words.filter(read -> kind == Kind.APPROVAL && !read.isNone()));
    }

    /** This request as one of this thread. */
    public PendingItem in(String thread) {
        return with(thread, callId, question, args, form, untrusted);
    }

    /** This request under its id in the parent thread. */
    public PendingItem below(String call) {
        return with(thread, call + "/" + callId, question, args, form, untrusted);
    }

    /**
     * A copy whose question is cut to this many characters, and whose arguments are replaced by their length if they
     * are longer than that. The digest remains the digest of the full arguments.
     */
    public PendingItem shortened(int most) {
        return with(
                thread,
                callId,
                question.map(words -> Problem.cut(words, most)),
                args.map(json -> json.shortened(most)),
                form.filter(json -> json.canonical().length() <= most),
                untrusted);
    }

    /** Why a person can't decide that the lost call runs again; empty if a person can, or if no outcome is unknown. */
    @JsonProperty("whyNoRerun")
    public Optional<String> whyNoRerun() {
        return kind != Kind.UNKNOWN || outcomes.contains(CallSettlement.Outcome.RERUN.wireName())
                ? Optional.empty()
                : Optional.of(WHY_NO_RERUN);
    }

    /**
     * Whether both are the same request, even if one was shortened. A request that is made again is a different one.
     */
    public boolean isSame(PendingItem other) {
        return callId.equals(other.callId)
                && kind == other.kind
                && argsDigest.equals(other.argsDigest)
                && since.equals(other.since);
    }

    /** The request as text, with its notes. */
    public String words() {
        String call = tool + args.map(json -> " " + json.canonical()).orElse("");
        return Stream.concat(Stream.of(request(call, UnaryOperator.identity())), notes().stream())
                .collect(Collectors.joining(" "));
    }

    /**
     * The request as a question.
     *
     * @param call the call in the form in which it is shown
     * @param foreign makes words of others safe to show
     */
    public String request(String call, UnaryOperator<String> foreign) {
        return switch (kind) {
            case APPROVAL -> "May " + call + " run?";
            case UNKNOWN ->
                "Did " + call + " take effect? The outcome is unknown"
                        + evidence.map(seen -> ": " + foreign.apply(seen)).orElse(".");
            // Most checkpoints do not store the question.
            case QUESTION ->
                foreign.apply(question.filter(text -> !text.isBlank())
                        .orElseGet(() -> tool + " waits for an answer, but its question is not known."));
        };
    }

    /**
     * Sentences that belong to the request: the verdict of the rules, if the tool has rules, what untrusted words the
     * model has read, whether the tool has changed, and whether the call is from a file.
     */
    public List<String> notes() {
        return Stream.of(
                        verdict.map(given -> "It " + given.words() + "."),
                        untrusted.flatMap(UntrustedWords::sentence),
                        Optional.of("It was approved before, but did not run: " + tool + " has changed since.")
                                .filter(words -> toolChanged),
                        origin())
                .flatMap(Optional::stream)
                .toList();
    }

    /** A sentence for a call that only a file contains, since no model in this thread has chosen its arguments. */
    public Optional<String> origin() {
        if (!fromFile) {
            return Optional.empty();
        }
        return Optional.of(
                mayHaveRun
                        ? "This call is from a file and may have run before."
                        : kind == Kind.QUESTION ? "This question is from a file." : "This call is from a file.");
    }

    /** The digest of the arguments with this digest, and of the tool's definition with that one. */
    public static String digest(String argsDigest, String definition) {
        return Sha256.hex(argsDigest + "/" + definition);
    }

    /**
     * Whether the arguments do not match the digest: long arguments of a subagent's call are replaced by their length.
     */
    public boolean hasCutArgs() {
        return argsDigest.isPresent()
                && !args.map(shown -> Sha256.hex(shown.canonical()))
                        .map(digest -> toolChanged ? digest(digest, toolDigest.orElse("")) : digest)
                        .equals(argsDigest);
    }
}
