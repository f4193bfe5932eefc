package dev.waymark.tool;

import com.networknt.schema.Error;
import com.networknt.schema.ExecutionConfig;
import com.networknt.schema.ExecutionContext;
import com.networknt.schema.regex.RegularExpression;
import com.networknt.schema.regex.RegularExpressions;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * Counts what one validation does, and ends it when that is too much: a pattern may backtrack, and references may branch,
 * for longer than anybody waits. The limit is some seconds of a slow processor, and the same on every one. For one thread.
 */
final class ValidationSteps extends ExecutionContext {
    private static final int MOST = 50_000_000;

    /** What a keyword costs, if looking at a character costs one. */
    private static final int KEYWORD = 50;

    private static final int ERROR = 200;

    /** Of the validation that this thread is doing: patterns are matched without knowing it. */
    private static final ThreadLocal<@Nullable ValidationSteps> CURRENT = new ThreadLocal<>();

    private int left = MOST;

    private ValidationSteps(ExecutionConfig config) {
        super(config);
    }

    /** No stack: it says all. */
    static final class ExceededException extends RuntimeException {
        ExceededException() {
            super(
                    "checking it takes too long: a pattern backtracks, or the schema branches too much",
                    null,
                    false,
                    false);
        }
    }

    /** What validates in this context. */
    interface Validation<R> {
        R in(ExecutionContext context);
    }

    /** @throws ExceededException when the validation takes too many steps */
    static <R> R count(ExecutionConfig config, Validation<R> validation) {
        ValidationSteps steps = new ValidationSteps(config);
        CURRENT.set(steps);
        try {
            return validation.in(steps);
        } finally {
            CURRENT.remove();
        }
    }

    private void take(int steps) {
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

    /** Compiles as the library does, and counts the characters that are looked at. */
    static RegularExpression regularExpression(String pattern) {
        Pattern compiled = Pattern.compile(RegularExpressions.replaceLongformCharacterProperties(
                RegularExpressions.replaceDollarAnchors(pattern)));
        return text -> compiled.matcher(new CountedText(text, CURRENT.get())).find();
    }

    /** @param steps of a validation; patterns are tried without one when a schema is compiled */
    private record CountedText(String text, @Nullable ValidationSteps steps) implements CharSequence {
        @Override
        public char charAt(int index) {
            if (steps != null) {
                steps.take(1);
            }
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
