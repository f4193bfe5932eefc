package dev.waymark.conversation.state;

/** The thread uses newer rules than this version of Waymark knows. A newer version of Waymark can read it. */
public final class UnknownRulesException extends IllegalArgumentException {
    private UnknownRulesException(int rules) {
        super("this thread goes by rules " + rules + "; this version of Waymark knows rules 1 to "
                + ThreadIdentity.RULES + ". Upgrade the workers first.");
    }

    /** Throws unless this version knows the rules. */
    public static void unlessKnown(int rules) {
        if (rules < 1 || rules > ThreadIdentity.RULES) {
            throw new UnknownRulesException(rules);
        }
    }
}
