package dev.waymark.simulation;

import java.util.Map;
import java.util.TreeMap;

/** Counts how often events happened in many simulations. An event that never happens is not tested. */
final class Coverage {
    private final Map<String, Integer> counts = new TreeMap<>();

    void count(String what) {
        counts.merge(what, 1, Integer::sum);
    }

    synchronized void add(Coverage other) {
        other.counts.forEach((what, times) -> counts.merge(what, times, Integer::sum));
    }

    Map<String, Integer> counts() {
        return counts;
    }
}
