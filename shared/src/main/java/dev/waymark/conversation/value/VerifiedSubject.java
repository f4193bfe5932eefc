package dev.waymark.conversation.value;

import java.util.Objects;
import java.util.Optional;

/**
 * A person whose credentials a server checked before it passed on their decision. A name that senders state about
 * themselves is not verified.
 *
 * @param issuer the issuer of the token, for subjects of an identity provider
 */
public record VerifiedSubject(String subject, Optional<String> issuer) {
    public VerifiedSubject {
        Objects.requireNonNull(subject, "subject");
    }
}
