package dev.waymark.client;

import dev.waymark.contract.ThreadOwner;
import java.util.Optional;

/**
 * How to begin a thread with what another one had come to.
 *
 * @param thread the id of the new thread
 * @param place a version ({@code 3}) or an event ({@code e42}, {@code RUN/e42}) of the other one; without one, its newest
 * @param message what is said next; without one, nothing runs yet
 * @param owner whose thread the new one is; without one, whose the other one is
 */
public record ForkOptions(
        String thread,
        Optional<String> place,
        Optional<String> message,
        boolean volatileAllowed,
        Optional<ThreadOwner> owner) {
    /** From where the other thread is now. */
    public static ForkOptions into(String thread) {
        return new ForkOptions(thread, Optional.empty(), Optional.empty(), false, Optional.empty());
    }

    public ForkOptions at(String versionOrEvent) {
        return new ForkOptions(thread, Optional.of(versionOrEvent), message, volatileAllowed, owner);
    }

    public ForkOptions saying(String words) {
        return new ForkOptions(thread, place, Optional.of(words), volatileAllowed, owner);
    }

    /** Lets the thread live on a server that keeps everything in memory. */
    public ForkOptions allowingVolatile() {
        return new ForkOptions(thread, place, message, true, owner);
    }

    public ForkOptions ownedBy(ThreadOwner whose) {
        return new ForkOptions(thread, place, message, volatileAllowed, Optional.of(whose));
    }
}
