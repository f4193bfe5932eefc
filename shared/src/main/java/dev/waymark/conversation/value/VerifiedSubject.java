package dev.waymark.conversation.value;

import com.fasterxml.jackson.annotation.JsonCreator;
import com.fasterxml.jackson.annotation.JsonIgnoreProperties;
import com.fasterxml.jackson.annotation.JsonInclude;
import com.fasterxml.jackson.annotation.JsonProperty;
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
@JsonIgnoreProperties(ignoreUnknown = true)
@JsonInclude(JsonInclude.Include.NON_ABSENT)
public record VerifiedSubject(
        @JsonProperty("subject") String subject,
        @JsonProperty("issuer") Optional<String> issuer) {
    @JsonCreator
    public VerifiedSubject {
        Objects.requireNonNull(subject, "subject");
        issuer = issuer == null ? Optional.empty() : issuer;
    }

    /** The subject as plain JSON. It equals the subject's JSON from Jackson. */
    public Map<String, Object> tree() {
        Map<String, Object> tree = new LinkedHashMap<>();
        tree.put("subject", subject);
        issuer.ifPresent(name -> tree.put("issuer", name));
        return tree;
    }
}
