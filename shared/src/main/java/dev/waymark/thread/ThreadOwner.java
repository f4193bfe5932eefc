package dev.waymark.thread;

import java.util.Optional;

/**
 * The owner of a thread, a subject or a group, for servers that let people see only their own threads. The owner is
 * recorded when the thread starts, and never changes. The rules of the conversation do not depend on it.
 */
public record ThreadOwner(Optional<String> subject, Optional<String> group) {

    /** A thread of one user. */
    public static ThreadOwner ofSubject(String name) {
        return new ThreadOwner(Optional.of(name), Optional.empty());
    }

    /** A thread of a group of users. */
    public static ThreadOwner ofGroup(String name) {
        return new ThreadOwner(Optional.empty(), Optional.of(name));
    }
}
