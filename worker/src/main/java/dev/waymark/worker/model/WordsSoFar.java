package dev.waymark.worker.model;

import dev.waymark.contract.PartialReply;
import java.nio.charset.StandardCharsets;

/** The newest words of a reply that is still coming: written by one thread, shown by another. */
final class WordsSoFar {
    /** It is sent several times a second. Whoever watches reads that often too, and misses nothing. */
    private static final int MOST = 16 * 1024;

    private final int step;
    private final int attempt;
    private final StringBuilder tail = new StringBuilder();
    private int from;

    WordsSoFar(int step, int attempt) {
        this.step = step;
        this.attempt = attempt;
    }

    synchronized void add(String words) {
        tail.append(words);
        int surplus = tail.length() - MOST;
        if (surplus > 0) {
            int cut = Character.isLowSurrogate(tail.charAt(surplus)) ? surplus + 1 : surplus;
            tail.delete(0, cut);
            from += cut;
        }
    }

    /** Never with half a character in it: details that can't be written would be the last heartbeat. */
    synchronized PartialReply now() {
        int end = tail.length();
        if (end > 0 && Character.isHighSurrogate(tail.charAt(end - 1))) {
            end--;
        }
        String whole = new String(tail.substring(0, end).getBytes(StandardCharsets.UTF_8), StandardCharsets.UTF_8);
        return new PartialReply(step, attempt, from, whole);
    }
}
