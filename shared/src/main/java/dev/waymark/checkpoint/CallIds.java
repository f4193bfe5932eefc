package dev.waymark.checkpoint;

import java.util.ArrayDeque;
import java.util.Collection;
import java.util.Deque;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.regex.Pattern;

/**
 * Gives every call of a file a unique id, and finds the call that a result belongs to.
 *
 * <p>Some providers assign no ids to calls, and some use the same ids in every step. A repeated id gets a suffix, as in
 * a live thread: {@code tu_7~2}. A result belongs to a call of the newest reply: to the call with its id or, if the
 * result has no id, to the next call of its tool that also has no id.
 *
 * <p>If several calls of one reply have the same id, their results belong to them in call order. While one of them has
 * no result, nothing may refer to it by that id: the wrong call would count as answered, approved or executed.
 */
final class CallIds {
    /** Ids that some programs make up for results of calls without ids: a step's number and the name of the tool. */
    private static final Pattern MADE_UP = Pattern.compile("call_\\d+_(.+)", Pattern.DOTALL);

    private final Set<String> reserved;
    private final Set<String> used = new HashSet<>();
    private final Map<String, Integer> suffixes = new HashMap<>();
    private final Map<String, String> tools = new HashMap<>();

    /** The calls of the newest reply without a result, by their id in the file. */
    private final Map<String, Deque<String>> named = new LinkedHashMap<>();
    /** The calls of the newest reply that have neither an id nor a result, by tool. */
    private final Map<String, Deque<String>> unnamed = new HashMap<>();
    /** The unique id of the newest call, by the id that it has in the file. */
    private final Map<String, String> newest = new HashMap<>();
    /** The number of calls, by their id in the file. */
    private final Map<String, Integer> uses = new HashMap<>();
    /** The number of calls of the newest reply, by their id in the file. */
    private final Map<String, Integer> usesInReply = new HashMap<>();
    /** The ids in the file by which results of the newest reply name their calls. */
    private final Set<String> answered = new LinkedHashSet<>();

    private int made;

    CallIds() {
        this(List.of());
    }

    /** @param known the ids in the file, which generated ids must not repeat */
    CallIds(Collection<String> known) {
        reserved = new HashSet<>(known);
    }

    /** Starts the next reply. */
    void beginReply() {
        endReply();
        named.clear();
        unnamed.clear();
        usesInReply.clear();
        answered.clear();
    }

    /**
     * Ends the newest reply. No results can be added to it afterward.
     *
     * @throws IllegalArgumentException if calls have the same id, and only some of them have results
     */
    void endReply() {
        answered.forEach(this::checkThatOneIsMeant);
    }

    private void checkThatOneIsMeant(String id) {
        if (isAmbiguous(id)) {
            throw new IllegalArgumentException(
                    "several calls of one reply have this id, and it is not known which of them is meant: " + id);
        }
    }

    /** Whether several calls of the newest reply have this id in the file, and one of them has no result. */
    boolean isAmbiguous(String id) {
        Deque<String> waiting = named.get(id);
        return usesInReply.getOrDefault(id, 0) > 1 && waiting != null && !waiting.isEmpty();
    }

    /** Registers the next call of the reply, and returns its unique id. */
    String call(Optional<String> id, String tool) {
        String unique = id.map(this::unused).orElseGet(this::madeUp);
        tools.put(unique, tool);
        // Other programs make up the same names for calls without ids, and may refer to the calls by them.
        String given = id.orElse(unique);
        newest.put(given, unique);
        uses.merge(given, 1, Integer::sum);
        usesInReply.merge(given, 1, Integer::sum);
        (id.isPresent() ? named : unnamed)
                .computeIfAbsent(id.orElse(tool), key -> new ArrayDeque<>())
                .add(unique);
        return unique;
    }

    /**
     * Finds the call that the next result belongs to, and returns its unique id. Empty if there is no such call.
     *
     * @throws IllegalArgumentException if the result names another tool than its call
     */
    Optional<String> result(Optional<String> id, Optional<String> tool) {
        Optional<String> callId = id.isPresent() ? ofId(id.get(), tool) : tool.flatMap(this::nextUnnamed);
        callId.ifPresent(known -> {
            String called = tools.get(known);
            if (called != null && tool.filter(name -> !name.equals(called)).isPresent()) {
                throw new IllegalArgumentException(
                        "a result of " + tool.get() + ", and " + known + " is a call of " + called);
            }
        });
        return callId;
    }

    private Optional<String> ofId(String id, Optional<String> tool) {
        answered.add(id);
        Deque<String> waiting = named.get(id);
        if (waiting != null && !waiting.isEmpty()) {
            return Optional.of(waiting.remove());
        }
        if (!newest.containsKey(id)) {
            Optional<String> byName = Optional.of(MADE_UP.matcher(id))
                    .filter(name -> name.matches()
                            && tool.filter(other -> !other.equals(name.group(1)))
                                    .isEmpty())
                    .flatMap(name -> nextUnnamed(name.group(1)));
            if (byName.isPresent()) {
                return byName;
            }
        }
        return Optional.of(
                newestWith(id).orElseThrow(() -> new IllegalArgumentException("a result without a call: " + id)));
    }

    private Optional<String> nextUnnamed(String tool) {
        return Optional.ofNullable(unnamed.get(tool)).map(Deque::poll);
    }

    /** The next call of this tool in the newest reply, with or without an id, that has no result. */
    Optional<String> nextOf(String tool) {
        return nextUnnamed(tool)
                .or(() -> named.values().stream()
                        .filter(waiting -> !waiting.isEmpty() && tool.equals(tools.get(waiting.peek())))
                        .findFirst()
                        .map(Deque::remove));
    }

    /**
     * The unique id of the call that this id in the file refers to, which is the newest one. Empty if there is none.
     *
     * @throws IllegalArgumentException if it is not known which call is meant
     */
    Optional<String> find(String id) {
        checkThatOneIsMeant(id);
        return newestWith(id);
    }

    private Optional<String> newestWith(String id) {
        return Optional.ofNullable(newest.get(id));
    }

    /** Whether this is the unique id of the newest call with this id in the file. */
    boolean isNewest(String id, String unique) {
        return unique.equals(newest.get(id));
    }

    /** The number of calls in earlier replies that have this id in the file. */
    int usesInEarlierReplies(String id) {
        return uses.getOrDefault(id, 0) - usesInReply.getOrDefault(id, 0);
    }

    /** Whether several calls of the file have this id. */
    boolean isRepeated(String id) {
        return uses.getOrDefault(id, 0) > 1;
    }

    private String unused(String id) {
        if (used.add(id)) {
            return id;
        }
        // Continues from the last suffix: starting at 2 each time would take minutes for an id that is repeated very
        // often.
        int n = suffixes.getOrDefault(id, 2);
        while (reserved.contains(id + "~" + n) || !used.add(id + "~" + n)) {
            n++;
        }
        suffixes.put(id, n + 1);
        return id + "~" + n;
    }

    private String madeUp() {
        do {
            made++;
        } while (reserved.contains("call_" + made) || !used.add("call_" + made));
        return "call_" + made;
    }
}
