package dev.waymark.server.identity;

import java.util.List;
import java.util.Optional;

/** Identifies a caller by a bearer token. */
@FunctionalInterface
public interface Authenticator {
    /** Returns the caller, or empty if the token is invalid. Must be thread-safe. */
    Optional<Caller> caller(String token);

    /** Tries the authenticators in order, and returns the first caller found. */
    static Authenticator anyOf(List<Authenticator> all) {
        List<Authenticator> known = List.copyOf(all);
        return token -> known.stream()
                .flatMap(authenticator -> authenticator.caller(token).stream())
                .findFirst();
    }
}
