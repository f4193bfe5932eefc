package dev.waymark.server.identity;

import java.util.List;
import java.util.Optional;

/** Tells from a bearer token who sent it. */
@FunctionalInterface
public interface Authenticator {
    /** Empty when the token is not valid. Thread-safe. */
    Optional<Caller> caller(String token);

    /** The first of these that knows the token. */
    static Authenticator anyOf(List<Authenticator> all) {
        List<Authenticator> known = List.copyOf(all);
        return token -> known.stream()
                .flatMap(authenticator -> authenticator.caller(token).stream())
                .findFirst();
    }
}
