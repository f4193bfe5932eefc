package dev.waymark.worker.yaml;

import dev.waymark.display.Suggestion;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.Map;
import java.util.Optional;
import java.util.Set;

/** The fields of a mapping. Each is taken once; {@link #end} reports the remaining fields as unknown. */
public final class YamlFields {

    private final YamlValue owner;
    /** Fields that were requested but are missing. */
    private final Set<String> absent = new LinkedHashSet<>();

    private final Map<String, YamlValue> left;

    YamlFields(YamlValue owner, Map<String, YamlValue> fields) {
        this.owner = owner;
        this.left = new LinkedHashMap<>(fields);
    }

    /** A problem with a field that may be missing, reported at the start of the mapping. */
    public YamlProblem problem(String name, String words) {
        return owner.child(name).problem(words);
    }

    /** Whether the field exists and has not been taken. */
    public boolean has(String name) {
        return left.containsKey(name);
    }

    public Optional<YamlValue> take(String name) {
        if (!left.containsKey(name)) {
            absent.add(name);
        }
        return Optional.ofNullable(left.remove(name));
    }

    /** Reads a field. Empty if it is missing, or if reading it adds to the problems of the file. */
    public <T> Optional<T> read(String name, YamlProblems.Reading<T> reading) {
        return take(name).flatMap(value -> value.read(reading));
    }

    /** Whether the field is {@code true}. */
    public boolean isSet(String name) {
        return read(name, YamlValue::flag).orElse(false);
    }

    /** Whether the field is this word. */
    public boolean is(String name, String word) {
        return read(name, YamlValue::text).filter(word::equals).isPresent();
    }

    /** Reads a required field. */
    public <T> T require(String name, YamlProblems.Reading<T> reading) throws YamlProblem {
        return reading.of(require(name));
    }

    public YamlValue require(String name) throws YamlProblem {
        Optional<YamlValue> value = take(name);
        if (value.isEmpty()) {
            throw missing(name);
        }
        return value.get();
    }

    /** The problem of a required field that is missing or misspelled. */
    public YamlProblem missing(String name) {
        return misspelled(name).orElseGet(() -> problem(name, "is missing"));
    }

    /** The problem of a similar field that is present instead of this one. */
    private Optional<YamlProblem> misspelled(String name) {
        return left.keySet().stream()
                .filter(other -> Suggestion.of(other, Set.of(name)).isPresent())
                .findFirst()
                .map(other -> left.remove(other).problem("unknown field. Did you mean \"" + name + "\"?"));
    }

    public Map<String, YamlValue> takeAll() {
        Map<String, YamlValue> all = new LinkedHashMap<>(left);
        left.clear();
        return all;
    }

    /** Rejects the remaining fields, and suggests the field that may have been meant. */
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
