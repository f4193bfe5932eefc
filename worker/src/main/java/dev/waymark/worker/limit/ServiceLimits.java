package dev.waymark.worker.limit;

import dev.waymark.agent.AgentSpec;
import dev.waymark.display.Suggestion;
import dev.waymark.worker.provider.ModelProviders;
import dev.waymark.worker.yaml.YamlFields;
import dev.waymark.worker.yaml.YamlProblem;
import dev.waymark.worker.yaml.YamlSchema;
import dev.waymark.worker.yaml.YamlValue;
import java.nio.file.Path;
import java.util.Collection;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.function.UnaryOperator;

/**
 * What model services allow: by {@code PROVIDER:MODEL}, or by {@code PROVIDER} for its other models together.
 *
 * <pre>{@code
 * limits:
 *   anthropic:claude-sonnet-4-6: { requests_per_minute: 600, at_a_time: 20 }
 * }</pre>
 */
public final class ServiceLimits {
    /** Limits nothing. */
    public static final ServiceLimits NONE = new ServiceLimits(Map.of(), UnaryOperator.identity());

    private static final YamlSchema SCHEMA = YamlSchema.beside(ServiceLimits.class, "limits.schema.json");

    private final Map<String, Limit> byName;
    private final UnaryOperator<String> oneName;

    private ServiceLimits(Map<String, Limit> byName, UnaryOperator<String> oneName) {
        this.byName = Collections.unmodifiableMap(byName);
        this.oneName = oneName;
    }

    /**
     * The limits of a model, or of several models together.
     *
     * @param requestsPerMinute how many calls all workers together begin in a minute
     * @param atATime how many calls each worker runs at the same time
     */
    public record Limit(Optional<Integer> requestsPerMinute, Optional<Integer> atATime) {
        /** Whether it limits nothing, so that calls are no longer sent to its task queue. */
        public boolean isEmpty() {
            return requestsPerMinute.isEmpty() && atATime.isEmpty();
        }
    }

    /**
     * Reads a file. A model that has several names counts under all of them.
     *
     * @throws YamlProblem if the file is invalid, with all problems
     */
    public static ServiceLimits read(Path file, ModelProviders providers) throws YamlProblem {
        YamlValue root = YamlValue.read(file);
        SCHEMA.check(root);
        Map<String, Limit> byName = new LinkedHashMap<>();
        Map<String, YamlValue> entries =
                root.fields().read("limits", value -> value.fields().takeAll()).orElse(Map.of());
        for (Map.Entry<String, YamlValue> entry : entries.entrySet()) {
            entry.getValue().read(value -> {
                String name = name(entry.getKey(), value, providers);
                if (byName.put(name, limit(value)) != null) {
                    throw value.problem("limits " + name + " a second time");
                }
                return name;
            });
        }
        root.problems().end();
        return new ServiceLimits(byName, providers::oneName);
    }

    private static String name(String written, YamlValue value, ModelProviders providers) throws YamlProblem {
        int colon = written.indexOf(':');
        String provider = colon < 0 ? written : written.substring(0, colon);
        Optional<String> name = colon < 0
                ? providers.find(written + ":any").map(any -> provider(any.name()))
                : providers.find(written).map(ModelProviders.Bound::name);
        if (name.isEmpty()) {
            String hint = Suggestion.question(provider, providers.names());
            throw value.problem("expected PROVIDER or PROVIDER:MODEL with one of the providers "
                    + String.join(", ", providers.names()) + (hint.isEmpty() ? "" : ". " + hint));
        }
        return name.get();
    }

    private static String provider(String model) {
        return model.substring(0, Math.max(0, model.indexOf(':')));
    }

    private static Limit limit(YamlValue value) throws YamlProblem {
        YamlFields fields = value.fields();
        return new Limit(
                fields.read("requests_per_minute", number -> number.integer(1)),
                fields.read("at_a_time", number -> number.integer(1)));
    }

    /** The limits by name, also the empty ones. */
    public Map<String, Limit> byName() {
        return byName;
    }

    /** The name of the limit that a model's calls count towards; empty if nothing limits the model. */
    public Optional<String> nameFor(String model) {
        for (String name : names(model)) {
            Limit limit = byName.get(name);
            if (limit != null) {
                return limit.isEmpty() ? Optional.empty() : Optional.of(name);
            }
        }
        return Optional.empty();
    }

    /** The names that can limit a model; the first one counts. */
    private List<String> names(String model) {
        String name = oneName.apply(model);
        return List.of(name, provider(name));
    }

    /** The names that could limit one of these agents' own models, and are not in the file. */
    public Set<String> absent(Collection<AgentSpec> agents) {
        Set<String> absent = new LinkedHashSet<>();
        agents.forEach(agent -> absent.addAll(names(agent.model())));
        absent.removeAll(byName.keySet());
        return absent;
    }

    /** A warning for each limit that counts for none of these agents' own models. */
    public List<String> unused(Collection<AgentSpec> agents) {
        List<List<String>> used =
                agents.stream().map(agent -> names(agent.model())).toList();
        return byName.keySet().stream()
                .filter(name -> used.stream().noneMatch(names -> names.contains(name)))
                .map(name -> "no agent has a model that counts towards the limit " + name + ". "
                        + Suggestion.question(
                                name, used.stream().map(names -> names.get(0)).toList()))
                .map(String::strip)
                .toList();
    }
}
