package dev.waymark.server.http;

import dev.waymark.conversation.value.ProblemType;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.regex.Pattern;
import org.eclipse.jetty.http.HttpField;
import org.eclipse.jetty.http.HttpFields;

/**
 * Decides which web pages may send requests, by their {@code Origin}. Requests without an {@code Origin}, such as those
 * from programs other than browsers, are allowed.
 */
final class AllowedOrigins {
    private static final Pattern LOOPBACK = Pattern.compile("(localhost|127\\.\\d+\\.\\d+\\.\\d+|\\[::1\\])(:\\d+)?");

    private final Set<String> allowed;
    private final boolean loopbackOnly;

    /**
     * Creates the rules.
     *
     * @param allowed origins like {@code https://app.example}
     * @param loopbackOnly whether to accept only requests whose {@code Host} is a loopback name or address. Without
     *     authentication, this blocks DNS rebinding, where the domain of a web page resolves to this machine
     */
    AllowedOrigins(List<String> allowed, boolean loopbackOnly) {
        this.allowed = Set.copyOf(allowed);
        this.loopbackOnly = loopbackOnly;
    }

    /**
     * Rejects a request with a disallowed host or origin.
     *
     * @param own the origin that the request was sent to
     */
    void check(HttpFields headers, String own) {
        String host = own.replaceFirst("^https?://", "");
        if (loopbackOnly && !LOOPBACK.matcher(host).matches()) {
            throw HttpProblem.of(403, ProblemType.FOREIGN_HOST, "the Host must be localhost or a loopback address");
        }
        // Behind a proxy, this server does not know the origin of its own pages. Pages cannot set Sec-Fetch-Site.
        boolean isSame = "same-origin".equals(headers.get("Sec-Fetch-Site"));
        Optional<String> origin = Optional.ofNullable(headers.get("Origin"));
        if (!isSame
                && origin.filter(from -> !from.equals(own) && !allowed.contains(from))
                        .isPresent()) {
            throw HttpProblem.of(403, ProblemType.FOREIGN_ORIGIN, "requests from this origin are not allowed")
                    .withRemedy("Allow the origin with --cors-origin");
        }
    }

    /** Sets the headers that let a page of an allowed origin read the answer. */
    void allow(HttpFields request, HttpFields.Mutable answer) {
        answer.add(new HttpField("Vary", "Origin"));
        Optional.ofNullable(request.get("Origin")).filter(allowed::contains).ifPresent(origin -> {
            answer.put("Access-Control-Allow-Origin", origin);
            answer.put("Access-Control-Expose-Headers", "Location, Retry-After");
        });
    }

    /** Sets the headers of the answer to a CORS preflight request. */
    static void preflight(HttpFields.Mutable answer) {
        answer.put("Access-Control-Allow-Methods", "GET, POST, DELETE");
        answer.put(
                "Access-Control-Allow-Headers",
                "Authorization, Content-Type, Idempotency-Key, Last-Event-ID, MCP-Protocol-Version, Mcp-Method,"
                        + " Mcp-Name");
        answer.put("Access-Control-Max-Age", "600");
    }
}
