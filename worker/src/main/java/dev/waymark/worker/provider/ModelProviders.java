package dev.waymark.worker.provider;

import dev.waymark.agent.AgentSpec;
import dev.waymark.agent.FallbackModel;
import dev.waymark.agent.Pricing;
import dev.waymark.annotation.Internal;
import dev.waymark.connect.ProcessEnvironment;
import dev.waymark.extension.WorkerExtension;
import dev.waymark.model.ModelProvider;
import dev.waymark.worker.model.anthropic.AnthropicProvider;
import dev.waymark.worker.model.openai.OpenAiProvider;
import dev.waymark.worker.model.scripted.ScriptedProvider;
import dev.waymark.worker.model.table.KnownModel;
import dev.waymark.worker.model.table.ModelTable;
import dev.waymark.worker.yaml.YamlProblem;
import java.nio.file.Path;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.regex.Pattern;

/** The providers of a worker, by name, in a fixed order. */
public final class ModelProviders {

    private static final Pattern NAME = Pattern.compile("[A-Za-z0-9_-]{1,64}");

    private final Map<String, ModelProvider> byName;

    private final ModelTable table;

    private ModelProviders(Map<String, ModelProvider> byName, ModelTable table) {
        this.byName = Collections.unmodifiableMap(new LinkedHashMap<>(byName));
        this.table = table;
    }

    /**
     * Returns a set of providers, in the order of the map.
     *
     * @throws IllegalArgumentException if a name is not 1 to 64 letters, digits, hyphens or underscores
     */
    public static ModelProviders of(Map<String, ModelProvider> byName) {
        byName.keySet().forEach(name -> {
            if (!NAME.matcher(name).matches()) {
                throw new IllegalArgumentException("not a provider's name: " + name);
            }
        });
        return new ModelProviders(byName, ModelTable.builtIn());
    }

    /**
     * Returns these providers with a table of models that goes before the built-in one. Its prices take precedence over
     * the providers' own.
     *
     * @param file a YAML file, as the guide describes it
     * @throws IllegalArgumentException if the file is not such a table, with the lines
     */
    public ModelProviders withModels(Path file) {
        try {
            return new ModelProviders(byName, ModelTable.read(file));
        } catch (YamlProblem e) {
            throw new IllegalArgumentException("invalid table of models: " + e.getMessage(), e);
        }
    }

    /** Like {@link #from}, with the environment variables of this process. */
    public static ModelProviders fromEnvironment() {
        return from(ProcessEnvironment.get());
    }

    /** The providers of these environment variables, of extensions, and of the scripts in this directory. */
    public static ModelProviders from(Map<String, String> environment, Path scripts, List<WorkerExtension> extensions) {
        Map<String, ModelProvider> more = new LinkedHashMap<>();
        more.put(ScriptedProvider.NAME, new ScriptedProvider(scripts));
        extensions.forEach(extension -> more.putAll(extension.providers(environment)));
        return from(environment).plus(more);
    }

    /**
     * The providers of Anthropic and of OpenAI's two APIs, with the keys and addresses in these environment variables.
     */
    public static ModelProviders from(Map<String, String> environment) {
        Map<String, ModelProvider> providers = new LinkedHashMap<>();
        providers.put(AnthropicProvider.NAME, AnthropicProvider.of(environment));
        providers.putAll(OpenAiProvider.all(environment));
        return of(providers);
    }

    /**
     * Returns these providers and the others. Of two providers with the same name, the result has the one in {@code
     * others}.
     */
    public ModelProviders plus(Map<String, ModelProvider> others) {
        Map<String, ModelProvider> all = new LinkedHashMap<>(byName);
        all.putAll(others);
        return new ModelProviders(of(all).byName, table);
    }

    /** The names of all providers, in order. */
    public List<String> names() {
        return List.copyOf(byName.keySet());
    }

    /**
     * Parses {@code provider:model}; the model part may contain colons.
     *
     * @return empty if the text does not have this form, or the provider is unknown
     */
    @Internal
    public Optional<Bound> find(String spec) {
        int colon = spec.indexOf(':');
        if (colon < 1 || colon == spec.length() - 1) {
            return Optional.empty();
        }
        String model = spec.substring(colon + 1);
        return Optional.ofNullable(byName.get(spec.substring(0, colon)))
                .map(provider -> new Bound(firstName(provider) + ":" + model, provider, model, table.of(spec)));
    }

    private String firstName(ModelProvider provider) {
        return byName.keySet().stream()
                .filter(name -> byName.get(name) == provider)
                .findFirst()
                .orElseThrow();
    }

    /** The one name of a model that has several, because its provider has. */
    public String oneName(String spec) {
        return find(spec).map(Bound::name).orElse(spec);
    }

    /** A message if the agent's model cannot be called yet; see {@link ModelProvider#lacks}. */
    public Optional<String> lacks(AgentSpec agent) {
        return find(agent.model()).flatMap(bound -> bound.provider().lacks());
    }

    /** Further messages, for the agent's fallbacks that cannot be called yet, without duplicates. */
    public Set<String> fallbacksLack(AgentSpec agent) {
        Set<String> lacks = new LinkedHashSet<>();
        for (FallbackModel other : agent.fallback()) {
            find(other.model()).flatMap(bound -> bound.provider().lacks()).ifPresent(lacks::add);
        }
        lacks(agent).ifPresent(lacks::remove);
        return lacks;
    }

    /**
     * A provider and one of its models.
     *
     * @param name {@code provider:model}, with the first name of the provider, which may have several
     * @param known what the table of models says about it
     */
    @Internal
    public record Bound(String name, ModelProvider provider, String model, KnownModel known) {
        /** The price of the model, if it is known. */
        public Optional<Pricing> pricing() {
            return known.pricing().or(() -> provider.pricing(model));
        }
    }
}
