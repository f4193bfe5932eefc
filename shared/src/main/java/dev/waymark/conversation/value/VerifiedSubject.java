package dev.waymark.conversation.value;

import com.fasterxml.jackson.annotation.JsonCreator;
import com.fasterxml.jackson.annotation.JsonIgnoreProperties;
import com.fasterxml.jackson.annotation.JsonInclude;
import com.fasterxml.jackson.annotation.JsonProperty;
import java.util.Objects;
import java.util.Optional;

/**
 * Somebody whose credentials a server checked before it passed on what they decided. A name that a sender states about
 * themselves is not one.
 *
 * @param issuer who issued the token, for subjects of an identity provider
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
}
