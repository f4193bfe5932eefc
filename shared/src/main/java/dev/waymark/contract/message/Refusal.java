package dev.waymark.contract.message;

import dev.waymark.conversation.value.Problem;
import dev.waymark.conversation.value.ProblemType;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * A refused update. A sender only receives the message of a validator's exception, so the message starts with the
 * problem's type: {@code NotFound: no question is open}.
 */
public final class Refusal extends RuntimeException {
    private static final long serialVersionUID = 1L;
    private static final Pattern MESSAGE = Pattern.compile("([A-Za-z]+): (.*)", Pattern.DOTALL);

    public Refusal(Problem problem) {
        super(problem.type() + ": " + problem.message());
    }

    /** Parses the problem from the message that the sender received. */
    public static Problem parse(@Nullable String message) {
        Matcher matcher = MESSAGE.matcher(message == null ? "" : message);
        return matcher.matches()
                ? new Problem(matcher.group(1), matcher.group(2))
                : new Problem(ProblemType.BAD_INPUT, message == null ? "refused" : message);
    }
}
