package dev.waymark.server.http;

import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.regex.Pattern;
import org.eclipse.jetty.http.HttpField;
import org.eclipse.jetty.http.HttpFields;

/**
 * Which web pages may send requests. A browser says where a page is from; what is no browser says nothing and is let
 * through.
 */
final class OriginRules {
    private static final Pattern LOOPBACK = Pattern.compile("(localhost|127\\.\\d+\\.\\d+\\.\\d+|\\[::1\\])(:\\d+)?");

    private final Set<String> allowed;
    private final boolean loopbackOnly;

    /**
     * Rules.
     *
     * @param allowed origins like {@code https://app.example}
     * @param loopbackOnly whether requests have to name this machine as their host: without tokens, a page that has its own
     *     name point here could send any
     */
    OriginRules(List<String> allowed, boolean loopbackOnly) {
        this.allowed = Set.copyOf(allowed);
        this.loopbackOnly = loopbackOnly;
    }

    /**
     * Checks a request.
     *
     * @param own the origin that the request was sent to
     */
    void check(HttpFields headers, String own) {
        String host = own.replaceFirst("^https?://", "");
        if (loopbackOnly && !LOOPBACK.matcher(host).matches()) {
            throw HttpProblem.of(403, "ForeignHost", "this server answers to names of this machine only");
        }
        Optional<String> origin = Optional.ofNullable(headers.get("Origin"));
        if (origin.filter(from -> !from.equals(own) && !allowed.contains(from)).isPresent()) {
            throw HttpProblem.of(403, "ForeignOrigin", "pages of this origin may not send requests")
                    .withRemedy("Name the origin with --cors-origin");
        }
    }

    /** What an answer has to say for a page of another origin to be shown it. */
    void allow(HttpFields request, HttpFields.Mutable answer) {
        answer.add(new HttpField("Vary", "Origin"));
        Optional.ofNullable(request.get("Origin")).filter(allowed::contains).ifPresent(origin -> {
            answer.put("Access-Control-Allow-Origin", origin);
            answer.put("Access-Control-Expose-Headers", "Location, Retry-After");
        });
    }

    /** The answer to a browser that asks before it sends. */
    static void preflight(HttpFields.Mutable answer) {
        answer.put("Access-Control-Allow-Methods", "GET, POST");
        answer.put("Access-Control-Allow-Headers", "Authorization, Content-Type, Idempotency-Key, Last-Event-ID");
        answer.put("Access-Control-Max-Age", "600");
    }
}
