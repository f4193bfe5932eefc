package dev.waymark.conversation.value;

import com.fasterxml.jackson.annotation.JsonIgnore;
import java.util.Objects;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** A failure: a type for programs and a message for people. The types are stored and shown to users. */
public record Problem(String type, String message) {
    /** Too large to be stored or carried over. */
    public static final String TOO_LARGE = "TooLarge";
    /** Something that was named does not exist, or no open request matches. */
    public static final String NOT_FOUND = "NotFound";
    /** The thread is closing or closed. */
    public static final String CLOSED = "Closed";
    /** The call was answered, decided or settled before. */
    public static final String ALREADY_DECIDED = "AlreadyDecided";
    /** The decision refers to other arguments than those that would run. */
    public static final String ARGS_CHANGED = "ArgsChanged";
    /** Several requests are open, and the message names none of them. */
    public static final String CALL_REQUIRED = "CallRequired";
    /** A message with this id arrived before. */
    public static final String DUPLICATE = "Duplicate";
    /** The model's final reply does not match the schema. */
    public static final String SCHEMA_MISMATCH = "SchemaMismatch";
    /** Only signed decisions count, and this decision has no valid signature. */
    public static final String SIGNATURE_REQUIRED = "SignatureRequired";
    /** The input is invalid, or not possible in the current state. */
    public static final String BAD_INPUT = "BadInput";
    /** The agent cannot be determined, or cannot be used. */
    public static final String AGENT_INVALID = "AgentInvalid";
    /** A tool's server still works on its task. */
    public static final String TASK_WORKING = "TaskWorking";
    /** It is unknown whether a call took effect. */
    public static final String OUTCOME_UNKNOWN = "OutcomeUnknown";
    /**
     * The process that executed the activity has ended, as the next process on its host has reported. Nobody is left
     * who could report the outcome.
     */
    public static final String WORKER_ENDED = "WorkerEnded";
    /**
     * Before a reset, another thread had this subagent call and may have executed it; that thread's history was
     * deleted.
     */
    public static final String RAN_BEFORE = "RanBefore";
    /** The type of a reply that reached its limit of tokens. */
    public static final String REPLY_CUT = "ReplyCut";

    /** The type of a reply without text. */
    public static final String REPLY_EMPTY = "ReplyEmpty";

    /** The thread uses newer rules than the worker knows, so the worker leaves the work to others. */
    public static final String UNKNOWN_RULES = "UnknownRules";
    /** The thread was forked in the middle of this turn, and the turn does not continue in the new thread. */
    public static final String FORKED = "Forked";
    /** A transcript or checkpoint violates its format. */
    public static final String CORRUPTION = "CheckpointCorruption";

    /** How a service names a message that it does not accept. */
    private static final Pattern NAMED_MESSAGE = Pattern.compile("\\bmessages\\.(\\d{1,6})");

    /** Longer messages are cut, since they stay in the state. */
    static final int MAX_MESSAGE_LENGTH = 4_000;

    public Problem {
        Objects.requireNonNull(type, "type");
        message = message == null ? "" : cut(message, MAX_MESSAGE_LENGTH);
    }

    /**
     * The text, cut to at most this many characters including an ellipsis. Never leaves half a surrogate pair, which
     * Jackson cannot write.
     */
    public static String cut(String text, int most) {
        if (text.length() <= most) {
            return text;
        }
        int end = Character.isHighSurrogate(text.charAt(most - 2)) ? most - 2 : most - 1;
        return text.substring(0, end) + "…";
    }

    /**
     * Whether a service refused to read the conversation because of what is behind its last reply, so that it would
     * refuse the same again.
     *
     * @param answered the number of messages up to the last reply
     */
    @JsonIgnore
    public boolean isOfContent(int answered) {
        return switch (type) {
            case "Refused", "ContextWindowExceeded", "RequestTooLarge" -> true;
            case "BadRequest" -> {
                Matcher named = NAMED_MESSAGE.matcher(message);
                yield named.find() && Integer.parseInt(named.group(1)) >= answered;
            }
            default -> false;
        };
    }
}
