package dev.waymark.contract;

import dev.waymark.conversation.value.Problem;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * An update that is refused. Of the exception that a validator throws only the message reaches the sender, so the
 * problem's type stands at its beginning: {@code NotFound: no question is open}.
 */
public final class Refusal extends RuntimeException {
    private static final long serialVersionUID = 1L;
    private static final Pattern MESSAGE = Pattern.compile("([A-Za-z]+): (.*)", Pattern.DOTALL);

    public Refusal(Problem problem) {
        super(problem.type() + ": " + problem.message());
    }

    /** The problem, from the message as it reached the sender. */
    public static Problem parse(@Nullable String message) {
        Matcher matcher = MESSAGE.matcher(message == null ? "" : message);
        return matcher.matches()
                ? new Problem(matcher.group(1), matcher.group(2))
                : new Problem(Problem.BAD_INPUT, message == null ? "refused" : message);
    }
}
