package dev.waymark.worker.tool.http;

import java.util.Locale;
import java.util.Optional;
import java.util.Set;
import java.util.regex.Pattern;

/** Checks the headers of a tool's requests. */
public final class RequestHeaders {
    private static final Pattern NAME = Pattern.compile("[A-Za-z0-9!#$%&'*+.^_`|~-]+");

    /** Checked here, because HTTP libraries quote a rejected value, which may be secret. */
    private static final Pattern VALUE = Pattern.compile("[\\t\\x20-\\x7e]*");

    /** Headers that describe the connection, and headers that Waymark itself sends. */
    private static final Set<String> TAKEN = Set.of(
            "accept-encoding",
            "connection",
            "content-length",
            "expect",
            "host",
            "idempotency-key",
            "te",
            "trailer",
            "transfer-encoding",
            "upgrade",
            "waymark-fencing-token");

    private RequestHeaders() {}

    /** Why this header is not allowed; empty if it is. */
    public static Optional<String> problem(String name, String value) {
        if (!NAME.matcher(name).matches()) {
            return Optional.of("not a valid header name");
        }
        if (TAKEN.contains(name.toLowerCase(Locale.ROOT))) {
            return Optional.of("a tool can't set this header");
        }
        return isValue(value) ? Optional.empty() : Optional.of("a header can hold printable ASCII only");
    }

    static boolean isValue(String value) {
        return VALUE.matcher(value).matches();
    }
}
