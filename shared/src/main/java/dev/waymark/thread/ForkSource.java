package dev.waymark.thread;

import java.util.Objects;
import java.util.Optional;

/**
 * Where a fork began, for people who read it. Recorded when the fork starts. The rules of the conversation do not depend
 * on it.
 *
 * @param thread the thread that was forked
 * @param version the version of that thread that the fork copied
 * @param at the event up to which it was copied; empty in histories from before it was recorded
 */
public record ForkSource(String thread, int version, Optional<String> at) {
    public ForkSource {
        Objects.requireNonNull(thread, "thread");
    }
}
