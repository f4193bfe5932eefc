package dev.waymark.display;

import java.util.Collection;
import java.util.List;
import java.util.TreeSet;

/** Finds ids by their beginning. */
public final class IdPrefix {
    private IdPrefix() {}

    /**
     * The ids that start with this prefix, sorted; only the exact id if it exists. A subagent's thread id starts with
     * its parent's id, so {@code trip/tu_1} is left out if {@code trip} matches.
     */
    public static List<String> matches(String beginning, Collection<String> ids) {
        if (ids.contains(beginning)) {
            return List.of(beginning);
        }
        TreeSet<String> found = new TreeSet<>(ids);
        found.removeIf(id -> !id.startsWith(beginning));
        return found.stream()
                .filter(id -> found.stream().noneMatch(other -> id.startsWith(other + "/")))
                .toList();
    }
}
