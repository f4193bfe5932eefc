package dev.waymark.tool;

import com.networknt.schema.Error;
import com.networknt.schema.ExecutionConfig;
import com.networknt.schema.ExecutionContext;
import com.networknt.schema.regex.RegularExpression;
import com.networknt.schema.regex.RegularExpressions;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * Counts the steps of a validation and ends it after too many, because backtracking patterns and branching references
 * could keep it running almost forever. The limit corresponds to a few seconds on a slow processor, and is the same on
 * every machine. An instance is not thread-safe.
 */
final class ValidationSteps extends ExecutionContext {
    private static final int MOST = 50_000_000;

    /** The cost of evaluating a keyword. Reading a character of a string costs 1 or more. */
    private static final int KEYWORD = 50;

    private static final int ERROR = 200;

    /** The current validation, per Java thread, because patterns are matched without a reference to it. */
    private static final ThreadLocal<@Nullable ValidationSteps> CURRENT = new ThreadLocal<>();

    private long left = MOST;

    private ValidationSteps(ExecutionConfig config) {
        super(config);
    }

    /** Thrown without a stack trace, because it always has the same cause. */
    static final class ExceededException extends RuntimeException {
        ExceededException() {
            super(
                    "checking it takes too long: a pattern backtracks, or the schema branches too much",
                    null,
                    false,
                    false);
        }
    }

    /** A validation whose steps are counted. It must use the given context. */
    interface Validation<R> {
        R in(ExecutionContext context);
    }

    /** @throws ExceededException if the validation takes too many steps */
    static <R> R count(ExecutionConfig config, Validation<R> validation) {
        ValidationSteps steps = new ValidationSteps(config);
        CURRENT.set(steps);
        try {
            return validation.in(steps);
        } finally {
            CURRENT.remove();
        }
    }

    private void take(long steps) {
        left -= steps;
        if (left < 0) {
            throw new ExceededException();
        }
    }

    @Override
    public void evaluationPathAddLast(String keyword) {
        take(KEYWORD);
        super.evaluationPathAddLast(keyword);
    }

    @Override
    public void addError(Error error) {
        take(ERROR);
        super.addError(error);
    }

    /**
     * Compiles a pattern in the same way as the library. While it matches, each character that it reads is counted,
     * and so are the attempts that the pattern may make before it reads the next one.
     */
    static RegularExpression regularExpression(String pattern) {
        Pattern compiled = Pattern.compile(RegularExpressions.replaceLongformCharacterProperties(
                RegularExpressions.replaceDollarAnchors(pattern)));
        PatternBranching.Attempts attempts = PatternBranching.of(compiled.pattern());
        return text -> {
            ValidationSteps steps = CURRENT.get();
            if (steps == null) { // A schema is being compiled.
                return compiled.matcher(text).find();
            }
            steps.take((text.length() + 1L) * attempts.beforeFirst());
            return compiled.matcher(new CountedText(text, steps, 1 + attempts.afterAny()))
                    .find();
        };
    }

    /** @param cost the number of steps that are counted for each character read */
    private record CountedText(String text, ValidationSteps steps, int cost) implements CharSequence {
        @Override
        public char charAt(int index) {
            steps.take(cost);
            return text.charAt(index);
        }

        @Override
        public int length() {
            return text.length();
        }

        @Override
        public CharSequence subSequence(int start, int end) {
            return text.substring(start, end);
        }

        @Override
        public String toString() {
            return text;
        }
    }
}
