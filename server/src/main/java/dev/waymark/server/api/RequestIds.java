package dev.waymark.server.api;

import dev.waymark.conversation.value.Json;
import dev.waymark.conversation.value.Sha256;
import dev.waymark.conversation.value.VerifiedSubject;
import dev.waymark.server.http.ApiRequest;
import dev.waymark.server.http.HttpProblem;
import dev.waymark.server.identity.Caller;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.UUID;

/**
 * Derives thread and message ids from the caller and their idempotency key. Every instance derives the same id, so a
 * repeated request takes effect once, and a caller cannot produce the ids of other callers.
 */
public final class RequestIds {
    private static final int DIGITS = 32;
    static final int LONGEST_KEY = 256;
    private static final String HEADER = "Idempotency-Key";

    private RequestIds() {}

    /** The idempotency key of a request, if it has one. */
    static Optional<String> key(ApiRequest request) {
        return request.header(HEADER).map(RequestIds::checked);
    }

    /** Returns the key. Rejects one that is blank or has more than 256 characters. */
    public static String checked(String key) {
        if (key.isBlank() || key.length() > LONGEST_KEY) {
            throw HttpProblem.badInput("the " + HEADER + " must have 1 to " + LONGEST_KEY + " characters");
        }
        return key;
    }

    /** The id for the thread that a request starts; random without a key. */
    static String newThread(ApiRequest request, String operation) {
        return key(request).map(key -> thread(request.caller(), operation, key)).orElseGet(RequestIds::newThread);
    }

    /** A random id for a new thread. */
    public static String newThread() {
        return "t-" + UUID.randomUUID().toString().replace("-", "");
    }

    /** The id of the thread that this caller starts with this key. */
    public static String thread(Caller caller, String operation, String key) {
        return "t-" + digits(caller, operation, key);
    }

    /** The id for the message that a request sends; random without a key. */
    static String message(ApiRequest request, String operation) {
        return key(request)
                .map(key -> message(request.caller(), operation, key))
                .orElseGet(() -> UUID.randomUUID().toString());
    }

    public static String message(Caller caller, String operation, String key) {
        return "m-" + digits(caller, operation, key);
    }

    private static String digits(Caller caller, String operation, String key) {
        List<Object> parts = new ArrayList<>();
        parts.add(caller.name());
        parts.add(caller.subject().flatMap(VerifiedSubject::issuer).orElse(""));
        parts.add(operation);
        parts.add(key);
        return Sha256.hex(Json.canonical(parts)).substring(0, DIGITS);
    }
}
