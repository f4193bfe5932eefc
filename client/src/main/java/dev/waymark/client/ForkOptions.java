package dev.waymark.client;

import java.util.Optional;

/**
 * How to begin a thread with what another one had come to.
 *
 * @param thread the id of the new thread
 * @param place a version ({@code 3}) or an event ({@code e42}, {@code RUN/e42}) of the other one; without one, its newest
 * @param message what is said next; without one, nothing runs yet
 */
public record ForkOptions(String thread, Optional<String> place, Optional<String> message, boolean volatileAllowed) {
    /** From where the other thread is now. */
    public static ForkOptions into(String thread) {
        return new ForkOptions(thread, Optional.empty(), Optional.empty(), false);
    }

    public ForkOptions at(String versionOrEvent) {
        return new ForkOptions(thread, Optional.of(versionOrEvent), message, volatileAllowed);
    }

    public ForkOptions saying(String words) {
        return new ForkOptions(thread, place, Optional.of(words), volatileAllowed);
    }

    /** Lets the thread live on a server that keeps everything in memory. */
    public ForkOptions allowingVolatile() {
        return new ForkOptions(thread, place, message, true);
    }
}
