package dev.waymark.starter.serve;

import dev.waymark.server.http.HttpReply;
import dev.waymark.server.http.HttpService;
import java.net.URLDecoder;
import java.nio.charset.StandardCharsets;
import java.security.GeneralSecurityException;
import java.security.MessageDigest;
import java.util.Arrays;
import java.util.HexFormat;
import java.util.Optional;
import javax.crypto.Mac;
import javax.crypto.spec.SecretKeySpec;

/**
 * Authorizes requests to the codec server. Programs send the bearer token, and browsers exchange the token for a
 * cookie, because the Web UI cannot send the token but can make the browser send cookies.
 */
final class CodecAccess {
    private static final String COOKIE = "waymark-codec";
    private static final String FIELD = "token=";
    static final int MAX_FORM_BYTES = 4096;

    private final byte[] bearer;
    private final byte[] token;
    private final byte[] session;

    CodecAccess(String token) {
        this.token = token.getBytes(StandardCharsets.UTF_8);
        this.bearer = ("Bearer " + token).getBytes(StandardCharsets.UTF_8);
        this.session = session(this.token).getBytes(StandardCharsets.UTF_8);
    }

    /** Derives the cookie from the token, so that the server stores nothing, and a new token ends all sessions. */
    private static String session(byte[] token) {
        try {
            Mac mac = Mac.getInstance("HmacSHA256");
            mac.init(new SecretKeySpec(token, "HmacSHA256"));
            return HexFormat.of().formatHex(mac.doFinal("waymark codec session".getBytes(StandardCharsets.UTF_8)));
        } catch (GeneralSecurityException e) {
            throw new IllegalStateException("this JDK has no HmacSHA256", e);
        }
    }

    /** Accepts the token, or the cookie if the request comes from a web page and so has the header {@code Origin}. */
    boolean isAllowed(HttpService.Received request) {
        Optional<String> given = request.header("Authorization");
        if (given.isPresent()) {
            return MessageDigest.isEqual(given.get().getBytes(StandardCharsets.UTF_8), bearer);
        }
        return request.header("Origin").isPresent()
                && cookie(request)
                        .filter(value -> MessageDigest.isEqual(value.getBytes(StandardCharsets.UTF_8), session))
                        .isPresent();
    }

    private static Optional<String> cookie(HttpService.Received request) {
        return request.headers().apply("Cookie").stream()
                .flatMap(line -> Arrays.stream(line.split(";")))
                .map(String::strip)
                .filter(pair -> pair.startsWith(COOKIE + "="))
                .map(pair -> pair.substring(COOKIE.length() + 1))
                .findFirst();
    }

    /** Handles {@code GET /}, which returns a form, and {@code POST /}, which exchanges the token for the cookie. */
    HttpReply signIn(HttpService.Received request) {
        if (!request.path().equals("/")) {
            return page(404, "<p>There is nothing here.</p>");
        }
        if (!request.method().equals("POST")) {
            return page(200, form(""));
        }
        if (!MessageDigest.isEqual(tokenIn(request).getBytes(StandardCharsets.UTF_8), token)) {
            return page(401, form("<p>This is not the token.</p>"));
        }
        String cookie = COOKIE + "=" + new String(session, StandardCharsets.UTF_8);
        return page(200, "<p>This browser may now read encrypted payloads. Go back to the Web UI.</p>")
                .withHeader("Set-Cookie", cookie + "; Path=/; HttpOnly; SameSite=Strict");
    }

    private static String tokenIn(HttpService.Received request) {
        String form = new String(request.body(), StandardCharsets.UTF_8);
        try {
            return form.startsWith(FIELD)
                    ? URLDecoder.decode(form.substring(FIELD.length()), StandardCharsets.UTF_8)
                    : "";
        } catch (IllegalArgumentException e) {
            return "";
        }
    }

    private static String form(String message) {
        return message
                + "<form method=\"post\" action=\"/\"><label>Token <input type=\"password\" name=\"token\""
                + " autocomplete=\"current-password\" autofocus></label> <button>Sign in</button></form>";
    }

    private static HttpReply page(int status, String content) {
        String html = "<!doctype html><html lang=\"en\"><meta charset=\"utf-8\"><title>Waymark codec server</title>"
                + "<h1>Waymark codec server</h1>" + content + "</html>";
        return HttpReply.text(status, "text/html; charset=utf-8", html)
                .withHeader("Content-Security-Policy", "default-src 'none'; form-action 'self'; frame-ancestors 'none'")
                .withHeader("Cache-Control", "no-store");
    }
}
