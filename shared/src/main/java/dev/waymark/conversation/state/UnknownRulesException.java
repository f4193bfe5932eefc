package dev.waymark.conversation.state;

/** Thrown for a thread whose rules this version of Waymark does not know. A newer version may know them. */
public final class UnknownRulesException extends IllegalArgumentException {
    private UnknownRulesException(int rules) {
        super("this thread goes by rules " + rules + "; this version of Waymark knows rules 1 to "
                + ThreadIdentity.RULES + ". Upgrade the workers first.");
    }

    /** Throws an exception unless this version of Waymark knows the rules. */
    public static void unlessKnown(int rules) {
        if (rules < 1 || rules > ThreadIdentity.RULES) {
            throw new UnknownRulesException(rules);
        }
    }
}
