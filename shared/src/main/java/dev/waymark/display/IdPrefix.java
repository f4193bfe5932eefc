package dev.waymark.display;

import java.util.Collection;
import java.util.List;
import java.util.TreeSet;

/** Finds ids by their beginning. */
public final class IdPrefix {
    private IdPrefix() {}

    /**
     * The ids with this beginning, sorted; only the exact one if it exists. A subagent's thread id starts with its
     * parent's id, so {@code trip/tu_1} does not count if {@code trip} does.
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
