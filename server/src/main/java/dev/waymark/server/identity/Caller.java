package dev.waymark.server.identity;

import dev.waymark.conversation.value.VerifiedSubject;
import dev.waymark.thread.ThreadOwner;
import java.time.Instant;
import java.util.Optional;
import java.util.Set;

/**
 * The sender of a request, and what they may do.
 *
 * @param subject empty if the caller is not authenticated
 * @param expires when the token expires; empty if it never does
 */
public record Caller(
        Optional<VerifiedSubject> subject, Set<String> groups, Set<CallerRole> roles, Optional<Instant> expires) {
    /** Any caller of a server without authentication. Has every role. */
    public static final Caller UNCHECKED =
            new Caller(Optional.empty(), Set.of(), Set.of(CallerRole.values()), Optional.empty());

    public Caller {
        groups = Set.copyOf(groups);
        roles = Set.copyOf(roles);
    }

    public boolean may(CallerRole role) {
        return roles.contains(role) || (role == CallerRole.LOOK && !roles.isEmpty());
    }

    /**
     * Whether the caller may see a thread with this owner. Threads without an owner, such as those started from the
     * command line, are visible to operators only.
     */
    public boolean sees(Optional<ThreadOwner> owner) {
        if (may(CallerRole.OPERATE)) {
            return true;
        }
        boolean isOwn = owner.flatMap(ThreadOwner::subject)
                .filter(name -> subject.map(VerifiedSubject::subject).equals(Optional.of(name)))
                .isPresent();
        return isOwn
                || owner.flatMap(ThreadOwner::group).filter(groups::contains).isPresent();
    }

    /** The owner of threads that the caller starts outside of a group; empty without a subject. */
    public Optional<ThreadOwner> owner() {
        return subject.map(who -> ThreadOwner.ofSubject(who.subject()));
    }

    /** The subject, as the key for limits and for derived ids; an empty string without a subject. */
    public String name() {
        return subject.map(VerifiedSubject::subject).orElse("");
    }
}
