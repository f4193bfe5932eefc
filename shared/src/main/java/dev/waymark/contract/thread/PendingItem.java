package dev.waymark.contract.thread;

import com.fasterxml.jackson.annotation.JsonCreator;
import com.fasterxml.jackson.annotation.JsonIgnoreProperties;
import com.fasterxml.jackson.annotation.JsonInclude;
import com.fasterxml.jackson.annotation.JsonProperty;
import dev.waymark.conversation.Conversation;
import dev.waymark.conversation.call.CallSettlement;
import dev.waymark.conversation.call.OpenRequest;
import dev.waymark.conversation.policy.Signers;
import dev.waymark.conversation.value.Json;
import dev.waymark.conversation.value.Sha256;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * A request that waits for a person: a question, a call to approve, or a call with an unknown outcome.
 *
 * @param evidence what was observed of a call with an unknown outcome, such as {@code HTTP 504}
 * @param argsDigest the digest of the arguments; a decision that contains it applies only to these arguments
 * @param signers who must sign the decision, if it must be signed
 * @param outcomes how a person may settle a call with an unknown outcome; empty for other requests
 * @param whyNoRerun why {@code rerun} is not among the outcomes
 * @param fromFile whether only a file contains the call: no model made it in this thread
 * @param mayHaveRun whether a call of a file may have run before, although it waits for approval
 */
@JsonIgnoreProperties(ignoreUnknown = true)
@JsonInclude(JsonInclude.Include.NON_ABSENT)
public record PendingItem(
        @JsonProperty("thread") String thread,
        @JsonProperty("callId") String callId,
        @JsonProperty("kind") String kind,
        @JsonProperty("tool") String tool,
        @JsonProperty("question") Optional<String> question,
        @JsonProperty("args") Optional<Json> args,
        @JsonProperty("argsDigest") Optional<String> argsDigest,
        @JsonProperty("since") Instant since,
        @JsonProperty("evidence") Optional<String> evidence,
        @JsonProperty("signers") Optional<Signers> signers,

        @JsonProperty("outcomes") @JsonInclude(JsonInclude.Include.NON_EMPTY)
        List<String> outcomes,

        @JsonProperty("whyNoRerun") Optional<String> whyNoRerun,

        @JsonProperty("fromFile") @JsonInclude(JsonInclude.Include.NON_DEFAULT)
        boolean fromFile,

        @JsonProperty("mayHaveRun") @JsonInclude(JsonInclude.Include.NON_DEFAULT)
        boolean mayHaveRun) {
    /** The {@code kind} of a question. */
    public static final String QUESTION = "question";
    /** The {@code kind} of a call that waits for approval. */
    public static final String APPROVAL = "approval";
    /** The {@code kind} of a call whose outcome a person must settle. */
    public static final String UNKNOWN = "unknown";

    @JsonCreator
    public PendingItem {
        question = question == null ? Optional.empty() : question;
        args = args == null ? Optional.empty() : args;
        argsDigest = argsDigest == null ? Optional.empty() : argsDigest;
        signers = signers == null ? Optional.empty() : signers;
        evidence = evidence == null ? Optional.empty() : evidence;
        outcomes = outcomes == null ? List.of() : List.copyOf(outcomes);
        whyNoRerun = whyNoRerun == null ? Optional.empty() : whyNoRerun;
    }

    /** A request other than the settlement of an unknown outcome, about a call that a model made in this thread. */
    public PendingItem(
            String thread,
            String callId,
            String kind,
            String tool,
            Optional<String> question,
            Optional<Json> args,
            Optional<String> argsDigest,
            Instant since,
            Optional<String> evidence,
            Optional<Signers> signers) {
        this(
                thread,
                callId,
                kind,
                tool,
                question,
                args,
                argsDigest,
                since,
                evidence,
                signers,
                List.of(),
                Optional.empty(),
                false,
                false);
    }

    /** The requests that wait for a person, of this thread and its subagents, in call order. */
    public static List<PendingItem> of(String thread, Conversation state) {
        return state.asks().stream().map(ask -> of(thread, ask)).toList();
    }

    /** The request, in this thread. */
    public static PendingItem of(String thread, OpenRequest ask) {
        return new PendingItem(
                thread,
                ask.callId(),
                ask.kind().wireName(),
                ask.tool(),
                ask.question(),
                ask.args(),
                ask.argsDigest(),
                ask.since(),
                ask.evidence(),
                ask.signers(),
                ask.verdicts().stream().map(CallSettlement.Verdict::wireName).toList(),
                ask.whyNoRerun(),
                ask.fromFile(),
                ask.mayHaveRun());
    }

    /** The request as text, and that the call is from a file if it is. */
    public String words() {
        return request() + origin().map(words -> " " + words).orElse("");
    }

    /** A sentence for a call that only a file contains, since nobody here has chosen its arguments. */
    public Optional<String> origin() {
        if (!fromFile) {
            return Optional.empty();
        }
        return Optional.of(
                mayHaveRun
                        ? "This call is from a file and may have run before."
                        : kind.equals(QUESTION) ? "This question is from a file." : "This call is from a file.");
    }

    private String request() {
        return switch (kind) {
            case APPROVAL -> "May " + call() + " run?";
            case UNKNOWN ->
                "Did " + call() + " take effect? The outcome is unknown"
                        + evidence.map(seen -> ": " + seen).orElse(".");
            // Most checkpoints do not store the question.
            default ->
                question.filter(text -> !text.isEmpty())
                        .orElseGet(() -> tool + " waits for an answer, but its question is not known.");
        };
    }

    /**
     * Whether the arguments do not match the digest: long arguments of a subagent's call are replaced by their length.
     */
    public boolean hasCutArgs() {
        return argsDigest.isPresent()
                && !args.map(shown -> Sha256.hex(shown.canonical())).equals(argsDigest);
    }

    private String call() {
        return tool + args.map(json -> " " + json.canonical()).orElse("");
    }

    /**
     * A copy with the question cut to this many characters. Arguments whose JSON is longer are replaced by their
     * length.
     */
    public PendingItem shortened(int most) {
        return new PendingItem(
                thread,
                callId,
                kind,
                tool,
                question.map(text -> shortened(text, most)),
                args.map(json -> shortened(json, most)),
                argsDigest,
                since,
                evidence,
                signers,
                outcomes,
                whyNoRerun,
                fromFile,
                mayHaveRun);
    }

    static String shortened(String text, int most) {
        return text.length() <= most ? text : text.substring(0, whole(text, most)) + "…";
    }

    /** Replaces arguments that are too long by their length. */
    static Json shortened(Json args, int most) {
        int length = args.canonical().length();
        return length <= most ? args : Json.of(Map.of("truncated", length));
    }

    /** The length of a cut that does not split a surrogate pair. Half a pair could not be written. */
    private static int whole(String text, int most) {
        return Character.isHighSurrogate(text.charAt(most - 1)) ? most - 1 : most;
    }
}
