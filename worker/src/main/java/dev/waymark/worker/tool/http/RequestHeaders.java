package dev.waymark.worker.tool.http;

import java.util.Locale;
import java.util.Optional;
import java.util.Set;
import java.util.regex.Pattern;

/** Which headers a tool may send. */
public final class RequestHeaders {
    private static final Pattern NAME = Pattern.compile("[A-Za-z0-9!#$%&'*+.^_`|~-]+");

    /** HTTP libraries quote a value that they refuse, and it may be a secret. */
    private static final Pattern VALUE = Pattern.compile("[\\t\\x20-\\x7e]*");

    /** Those that are about the connection, and those that Waymark sends. */
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

    /** Why there can be no such header. */
    public static Optional<String> problem(String name, String value) {
        if (!NAME.matcher(name).matches()) {
            return Optional.of("not a header's name");
        }
        if (TAKEN.contains(name.toLowerCase(Locale.ROOT))) {
            return Optional.of("this header is not the tool's to set");
        }
        return isValue(value) ? Optional.empty() : Optional.of("a header holds printable ASCII only");
    }

    static boolean isValue(String value) {
        return VALUE.matcher(value).matches();
    }
}
