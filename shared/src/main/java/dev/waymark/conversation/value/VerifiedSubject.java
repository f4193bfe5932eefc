package dev.waymark.conversation.value;

import java.util.LinkedHashMap;
import java.util.Map;
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

    /** The subject as plain JSON. It equals the subject's JSON from Jackson. */
    public Map<String, Object> tree() {
        Map<String, Object> tree = new LinkedHashMap<>();
        tree.put("subject", subject);
        issuer.ifPresent(name -> tree.put("issuer", name));
        return tree;
    }
}
