package dev.waymark.worker.activity;

import org.slf4j.MDC;

/**
 * Names the call of the current activity in the log, beside the names of Temporal's SDK. The name outlives the
 * activity's code, because the SDK logs a failure afterwards.
 */
public final class CallLog {
    private static final String CALL = "Call";

    private CallLog() {}

    public static void name(String callId) {
        MDC.put(CALL, callId);
    }

    static void clear() {
        MDC.remove(CALL);
    }
}
