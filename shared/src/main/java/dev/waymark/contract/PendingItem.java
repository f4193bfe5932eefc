package dev.waymark.contract;

import com.fasterxml.jackson.annotation.JsonCreator;
import com.fasterxml.jackson.annotation.JsonIgnoreProperties;
import com.fasterxml.jackson.annotation.JsonInclude;
import com.fasterxml.jackson.annotation.JsonProperty;
import dev.waymark.conversation.Conversation;
import dev.waymark.conversation.OpenRequest;
import dev.waymark.conversation.Signers;
import dev.waymark.conversation.value.Json;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * Something that waits for a person: a question, a call to approve, or a call of which nobody knows what it did.
 *
 * @param evidence what was seen of a call of which nobody knows what it did, such as {@code HTTP 504}
 * @param argsDigest what a decision can be bound to, so that it is about these arguments and no others
 * @param signers who has to sign the decision, if it has to be signed
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
        @JsonProperty("signers") Optional<Signers> signers) {
    public static final String QUESTION = "question";
    public static final String APPROVAL = "approval";
    public static final String UNKNOWN = "unknown";

    @JsonCreator
    public PendingItem {
        question = question == null ? Optional.empty() : question;
        args = args == null ? Optional.empty() : args;
        argsDigest = argsDigest == null ? Optional.empty() : argsDigest;
        signers = signers == null ? Optional.empty() : signers;
        evidence = evidence == null ? Optional.empty() : evidence;
    }

    /** Everything that waits for a person, in this thread and in those of its subagents, in call order. */
    public static List<PendingItem> of(String thread, Conversation state) {
        return state.asks().stream().map(ask -> of(thread, ask)).toList();
    }

    private static PendingItem of(String thread, OpenRequest ask) {
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
                ask.signers());
    }

    /** What a person is asked, in words. */
    public String words() {
        return switch (kind) {
            case APPROVAL -> "May " + call() + " run?";
            case UNKNOWN ->
                "Did " + call() + " take effect? Nobody knows"
                        + evidence.map(seen -> ": " + seen).orElse(".");
            // Few checkpoints keep them.
            default ->
                question.filter(text -> !text.isEmpty())
                        .orElseGet(() -> tool + " asks something, but the question is not known.");
        };
    }

    private String call() {
        return tool + args.map(json -> " " + json.canonical()).orElse("");
    }

    /** The same with a question of at most this many characters, and arguments of at most as many as JSON. */
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
                signers);
    }

    static String shortened(String text, int most) {
        return text.length() <= most ? text : text.substring(0, whole(text, most)) + "…";
    }

    /** Arguments that are too long to be shown are replaced by their length. */
    static Json shortened(Json args, int most) {
        int length = args.canonical().length();
        return length <= most ? args : Json.of(Map.of("truncated", length));
    }

    /** Half a character can't be written. */
    private static int whole(String text, int most) {
        return Character.isHighSurrogate(text.charAt(most - 1)) ? most - 1 : most;
    }
}
