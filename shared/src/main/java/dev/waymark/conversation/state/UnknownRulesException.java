package dev.waymark.conversation.state;

/** Thrown for a thread whose rules this version of Waymark does not know. Another version may know them. */
public final class UnknownRulesException extends IllegalArgumentException {
    private UnknownRulesException(int rules) {
        super("this thread goes by rules " + rules + "; this version of Waymark knows rules "
                + ThreadIdentity.FIRST_RULES + " to " + ThreadIdentity.RULES + ". "
                + (rules > ThreadIdentity.RULES
                        ? "Use a newer version."
                        : "No release has these rules; start a new thread."));
    }

    /** Throws an exception unless this version of Waymark knows the rules. */
    public static void unlessKnown(int rules) {
        if (rules < ThreadIdentity.FIRST_RULES || rules > ThreadIdentity.RULES) {
            throw new UnknownRulesException(rules);
        }
    }
}
