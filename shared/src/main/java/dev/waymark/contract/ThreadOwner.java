package dev.waymark.contract;

import com.fasterxml.jackson.annotation.JsonCreator;
import com.fasterxml.jackson.annotation.JsonIgnoreProperties;
import com.fasterxml.jackson.annotation.JsonInclude;
import com.fasterxml.jackson.annotation.JsonProperty;
import java.util.Optional;

/**
 * The owner of a thread, a subject or a group, for servers that let people see only their own threads. The owner is
 * recorded when the thread starts, and never changes. The rules of the conversation do not depend on it.
 */
@JsonIgnoreProperties(ignoreUnknown = true)
@JsonInclude(JsonInclude.Include.NON_ABSENT)
public record ThreadOwner(
        @JsonProperty("subject") Optional<String> subject,
        @JsonProperty("group") Optional<String> group) {
    @JsonCreator
    public ThreadOwner {
        subject = subject == null ? Optional.empty() : subject;
        group = group == null ? Optional.empty() : group;
    }

    /** A thread of one user. */
    public static ThreadOwner ofSubject(String name) {
        return new ThreadOwner(Optional.of(name), Optional.empty());
    }

    /** A thread of a group of users. */
    public static ThreadOwner ofGroup(String name) {
        return new ThreadOwner(Optional.empty(), Optional.of(name));
    }
}
