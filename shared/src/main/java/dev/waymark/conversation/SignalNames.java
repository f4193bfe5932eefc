package dev.waymark.conversation;

/** The names by which messages arrive: what people and programs send, and what the state and histories keep. */
public final class SignalNames {
    public static final String SAY = "say";
    public static final String ANSWER = "answer";
    public static final String APPROVE = "approve";
    public static final String DENY = "deny";
    public static final String SETTLE = "settle";
    public static final String BUDGET = "budget";
    public static final String STOP = "stop";
    public static final String CLEAR = "clear";
    public static final String CLOSE = "close";

    /** An update only, and not for people: an activity asks to be the one execution that takes effect. */
    public static final String CLAIM = "claim";

    /** A signal only, and not for people: a subagent's thread tells the thread above how things stand. */
    public static final String SUBAGENT = "subagent";

    /** A signal only, and not for people: an execution of a tool tells how it ended after nobody waited for it any more. */
    public static final String LATE_OUTCOME = "late-outcome";

    private SignalNames() {}
}
