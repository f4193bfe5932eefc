package dev.waymark.conversation.fact;

/** The names of inbound signals and updates. They are stored in states and histories. */
public final class SignalNames {
    public static final String SAY = "say";
    public static final String ANSWER = "answer";
    public static final String APPROVE = "approve";
    public static final String DENY = "deny";
    public static final String REVOKE = "revoke";
    public static final String SETTLE = "settle";
    public static final String BUDGET = "budget";
    public static final String STOP = "stop";
    public static final String CLEAR = "clear";
    public static final String CLOSE = "close";

    /** An update only, not for people: an activity requests to be the execution that takes effect. */
    public static final String CLAIM = "claim";

    /** A signal only, not for people: a subagent's thread reports its progress to the parent. */
    public static final String SUBAGENT = "subagent";

    /** A signal only, not for people: a tool execution reports its outcome after the thread stopped waiting for it. */
    public static final String LATE_OUTCOME = "late-outcome";

    private SignalNames() {}
}
