package dev.waymark.conversation.state;

/** Thrown for a thread whose rules only another version of Waymark knows. */
public final class UnknownRulesException extends IllegalArgumentException {
    private UnknownRulesException(int rules) {
        super("this thread goes by rules " + rules + "; this version of Waymark knows rules " + known() + ". "
                + (rules > ThreadIdentity.RULES
                        ? "Use a newer version."
                        : "An older development build started this thread, which cannot go on here."
                                + " To keep its conversation, run `waymark checkpoint THREAD --format thread > FILE`"
                                + " with that build, and `waymark resume FILE` with this one."));
    }

    private static String known() {
        return ThreadIdentity.FIRST_RULES == ThreadIdentity.RULES
                ? String.valueOf(ThreadIdentity.RULES)
                : ThreadIdentity.FIRST_RULES + " to " + ThreadIdentity.RULES;
    }

    /** Throws an exception unless this version of Waymark knows the rules. */
    public static void unlessKnown(int rules) {
        if (rules < ThreadIdentity.FIRST_RULES || rules > ThreadIdentity.RULES) {
            throw new UnknownRulesException(rules);
        }
    }
}
