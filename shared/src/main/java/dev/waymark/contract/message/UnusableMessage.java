package dev.waymark.contract.message;

import dev.waymark.conversation.value.Problem;
import dev.waymark.conversation.value.ProblemType;

/**
 * Why a message cannot be used. It never leaves this package. Its reasons become part of the state, so they must never
 * be reworded: otherwise, old histories would be projected to different states.
 */
final class UnusableMessage extends Exception {
    private static final long serialVersionUID = 1L;

    private static final int MAX_NAME_LENGTH = 100;

    private final transient Problem problem;

    UnusableMessage(String reason) {
        this(new Problem(ProblemType.BAD_INPUT, reason));
    }

    UnusableMessage(Problem problem) {
        super(problem.message());
        this.problem = problem;
    }

    Problem problem() {
        return problem;
    }

    static UnusableMessage tooLarge(int bytes, int most) {
        return new UnusableMessage(
                new Problem(ProblemType.TOO_LARGE, "too large: " + bytes + " bytes, of at most " + most));
    }

    static String shorten(String name) {
        if (name.length() <= MAX_NAME_LENGTH) {
            return name;
        }
        int end = Character.isHighSurrogate(name.charAt(MAX_NAME_LENGTH - 1)) ? MAX_NAME_LENGTH - 1 : MAX_NAME_LENGTH;
        return name.substring(0, end) + "…";
    }
}
