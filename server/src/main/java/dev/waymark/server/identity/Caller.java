package dev.waymark.server.identity;

import dev.waymark.contract.ThreadOwner;
import dev.waymark.conversation.value.VerifiedSubject;
import java.time.Instant;
import java.util.Optional;
import java.util.Set;

/**
 * Who sends a request.
 *
 * @param subject empty where the server checks nobody
 * @param expires when the token does
 */
public record Caller(
        Optional<VerifiedSubject> subject, Set<String> groups, Set<CallerRole> roles, Optional<Instant> expires) {
    /** Anybody who reaches a server that checks nobody. */
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
     * Whether they may know of a thread of this owner. Threads without one, such as those that the command line started,
     * are for operators.
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

    /** Whose the threads are that they start for themselves. */
    public Optional<ThreadOwner> owner() {
        return subject.map(who -> ThreadOwner.ofSubject(who.subject()));
    }

    /** Their name, for limits that each of them has. */
    public String name() {
        return subject.map(VerifiedSubject::subject).orElse("");
    }
}
