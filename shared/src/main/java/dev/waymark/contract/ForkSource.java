package dev.waymark.contract;

import java.util.Objects;

/**
 * Where a fork began, for people who read it. Recorded when the fork starts. The rules of the conversation do not depend
 * on it.
 *
 * @param thread the thread that was forked
 * @param version the version of that thread that the fork copied
 */
public record ForkSource(String thread, int version) {
    public ForkSource {
        Objects.requireNonNull(thread, "thread");
    }
}
