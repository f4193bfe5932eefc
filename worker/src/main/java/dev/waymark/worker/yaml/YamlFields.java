package dev.waymark.worker.yaml;

import dev.waymark.display.Suggestion;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.Map;
import java.util.Optional;
import java.util.Set;

/** The fields of a mapping. Each is taken once; what is left over at the {@link #end} is unknown. */
public final class YamlFields {

    private final YamlValue owner;
    /** What could stand here as well. */
    private final Set<String> absent = new LinkedHashSet<>();

    private final Map<String, YamlValue> left;

    YamlFields(YamlValue owner, Map<String, YamlValue> fields) {
        this.owner = owner;
        this.left = new LinkedHashMap<>(fields);
    }

    /** A problem with a field that need not be there; it is said to be where the mapping begins. */
    public YamlProblem problem(String name, String words) {
        return owner.child(name).problem(words);
    }

    /** Whether it is there and has not been taken. */
    public boolean has(String name) {
        return left.containsKey(name);
    }

    public Optional<YamlValue> take(String name) {
        if (!left.containsKey(name)) {
            absent.add(name);
        }
        return Optional.ofNullable(left.remove(name));
    }

    public YamlValue require(String name) throws YamlProblem {
        Optional<YamlValue> value = take(name);
        if (value.isEmpty()) {
            throw misspelled(name).orElseGet(() -> problem(name, "is missing"));
        }
        return value.get();
    }

    /** A field that is there in place of this one. */
    private Optional<YamlProblem> misspelled(String name) {
        return left.keySet().stream()
                .filter(other -> Suggestion.of(other, Set.of(name)).isPresent())
                .findFirst()
                .map(other -> left.remove(other).problem("unknown field. Did you mean \"" + name + "\"?"));
    }

    /** Takes all that is left, by name. */
    public Map<String, YamlValue> takeAll() {
        Map<String, YamlValue> all = new LinkedHashMap<>(left);
        left.clear();
        return all;
    }

    /** Refuses any of these names, in these words. */
    public void refuse(Set<String> names, String words) throws YamlProblem {
        for (Map.Entry<String, YamlValue> field : left.entrySet()) {
            if (names.contains(field.getKey())) {
                throw field.getValue().problem(words);
            }
        }
    }

    /** Refuses what has not been taken, and says which field may have been meant. */
    public void end() throws YamlProblem {
        YamlProblems problems = new YamlProblems();
        left.forEach((name, value) -> problems.add(value.problem(unknown(name))));
        problems.end();
    }

    private String unknown(String name) {
        String meant = Suggestion.question(name, absent);
        return meant.isEmpty() ? "unknown field" : "unknown field. " + meant;
    }
}
