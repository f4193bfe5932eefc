package dev.waymark.contract;

import dev.waymark.conversation.value.Sha256;
import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * The ids of a thread's spans: hashes of the id of the thread's first run and of a name. Every computation gives the
 * same ids, so a tool can be told the id of a span that is created from history later.
 *
 * @param traceId the caller's trace id, if the thread was started within a span; otherwise the thread's own
 * @param callerSpan the span that the thread was started in
 */
public record TraceIds(String firstRunId, String traceId, Optional<String> callerSpan) {
    private static final Pattern TRACEPARENT = Pattern.compile("00-([0-9a-f]{32})-([0-9a-f]{16})-[0-9a-f]{2}");
    private static final Pattern ZEROS = Pattern.compile("00-0{32}-.*|00-.{32}-0{16}-.*");
    private static final int TRACE_DIGITS = 32;
    private static final int SPAN_DIGITS = 16;

    /** @param traceparent the caller's context; ignored if it is not valid */
    public static TraceIds of(String firstRunId, Optional<String> traceparent) {
        Optional<Matcher> caller = traceparent
                .filter(TraceIds::isTraceparent)
                .map(TRACEPARENT::matcher)
                .filter(Matcher::matches);
        return new TraceIds(
                firstRunId,
                caller.map(found -> found.group(1))
                        .orElseGet(() -> Sha256.hex("trace/" + firstRunId).substring(0, TRACE_DIGITS)),
                caller.map(found -> found.group(2)));
    }

    /** Whether this is a valid {@code traceparent} of W3C Trace Context. */
    public static boolean isTraceparent(String text) {
        return TRACEPARENT.matcher(text).matches() && !ZEROS.matcher(text).matches();
    }

    public String span(String name) {
        return Sha256.hex(firstRunId + "/" + name).substring(0, SPAN_DIGITS);
    }

    public String call(String callId) {
        return span("call/" + callId);
    }

    /** The trace context for everything that a tool call calls. */
    public String traceparentOf(String callId) {
        return "00-" + traceId + "-" + call(callId) + "-01";
    }
}
