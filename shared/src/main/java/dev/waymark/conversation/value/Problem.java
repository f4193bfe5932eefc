package dev.waymark.conversation.value;

import com.fasterxml.jackson.annotation.JsonIgnore;
import java.util.Objects;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** A failure: a {@link ProblemType} for programs and a message for people. Both are stored and shown to users. */
public record Problem(String type, String message) {
    /** The place of a rejected message, as services report it. */
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
     * Whether a service rejected the conversation because of messages after its last reply, so that it would reject a
     * retry too.
     *
     * @param answered the number of messages up to the last reply
     */
    @JsonIgnore
    public boolean isOfContent(int answered) {
        return switch (type) {
            case ProblemType.REFUSED, ProblemType.CONTEXT_WINDOW_EXCEEDED, ProblemType.REQUEST_TOO_LARGE -> true;
            case ProblemType.BAD_REQUEST -> {
                Matcher named = NAMED_MESSAGE.matcher(message);
                yield named.find() && Integer.parseInt(named.group(1)) >= answered;
            }
            default -> false;
        };
    }
}
