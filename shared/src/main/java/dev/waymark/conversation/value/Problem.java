package dev.waymark.conversation.value;

import com.fasterxml.jackson.annotation.JsonCreator;
import com.fasterxml.jackson.annotation.JsonIgnoreProperties;
import com.fasterxml.jackson.annotation.JsonProperty;
import java.util.Objects;

/** What went wrong: a type that programs switch on, and words for people. The types are stored and printed. */
@JsonIgnoreProperties(ignoreUnknown = true)
public record Problem(
        @JsonProperty("type") String type,
        @JsonProperty("message") String message) {
    /** More than can be stored or carried on. */
    public static final String TOO_LARGE = "TooLarge";
    /** There is no such thing, or nothing open to act on. */
    public static final String NOT_FOUND = "NotFound";
    /** The thread takes no more. */
    public static final String CLOSED = "Closed";
    /** It was answered or decided before. */
    public static final String ALREADY_DECIDED = "AlreadyDecided";
    /** A decision was about other arguments than those that would run. */
    public static final String ARGS_CHANGED = "ArgsChanged";
    /** Several calls are open, and none was named. */
    public static final String CALL_REQUIRED = "CallRequired";
    /** A message of this id arrived before. */
    public static final String DUPLICATE = "Duplicate";
    /** The model's last word is not the JSON that was asked for. */
    public static final String SCHEMA_MISMATCH = "SchemaMismatch";
    /** Only signed decisions count, and this one is not signed, or not so that it can be relied on. */
    public static final String SIGNATURE_REQUIRED = "SignatureRequired";
    /** It makes no sense as it is. */
    public static final String BAD_INPUT = "BadInput";
    /** There is no agent that could be meant, or it can't be used as it is. */
    public static final String AGENT_INVALID = "AgentInvalid";
    /** Nobody knows whether a call took effect. */
    public static final String OUTCOME_UNKNOWN = "OutcomeUnknown";
    /** Another thread had a subagent's call before a reset, may have carried it out, and is not held any more. */
    public static final String RAN_BEFORE = "RanBefore";
    /** The thread goes by newer rules than a worker knows, which leaves its work to others. */
    public static final String UNKNOWN_RULES = "UnknownRules";
    /** Transcript or checkpoint break the rules of their format. */
    public static final String CORRUPTION = "CheckpointCorruption";

    /** Longer words are cut: they stay in the state, and travel with it. */
    static final int MAX_MESSAGE_LENGTH = 4_000;

    @JsonCreator
    public Problem {
        Objects.requireNonNull(type, "type");
        message = message == null ? "" : cut(message, MAX_MESSAGE_LENGTH);
    }

    /** At most so many characters, never half of one: Jackson can't write a lone surrogate. */
    public static String cut(String text, int most) {
        if (text.length() <= most) {
            return text;
        }
        int end = Character.isHighSurrogate(text.charAt(most - 2)) ? most - 2 : most - 1;
        return text.substring(0, end) + "…";
    }
}
