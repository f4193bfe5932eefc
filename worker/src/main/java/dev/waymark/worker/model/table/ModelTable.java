package dev.waymark.worker.model.table;

import dev.waymark.agent.Pricing;
import dev.waymark.conversation.value.Usd;
import dev.waymark.worker.yaml.YamlFields;
import dev.waymark.worker.yaml.YamlProblem;
import dev.waymark.worker.yaml.YamlProblems;
import dev.waymark.worker.yaml.YamlValue;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.math.BigDecimal;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.EnumSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.regex.Pattern;
import java.util.stream.Collectors;

/**
 * Models with their prices in US dollars per million tokens, their limits, and what they refuse, from a file. The price
 * of a call is recorded with its reply, so a changed table affects later calls only.
 *
 * <pre>{@code
 * anthropic:
 *   claude-haiku-4-5: { input: 1, output: 5, cache_read: 0.1, cache_write: 1.25, context: 200000 }
 * }</pre>
 */
public final class ModelTable {
    private static final String BUILT_IN = "/dev/waymark/worker/model/models.yaml";
    private static final BigDecimal MOST_DOLLARS = BigDecimal.valueOf(1_000_000);

    /** The end of a model's name: a release date or {@code latest}, followed by an optional version of a gateway. */
    private static final Pattern DAY =
            Pattern.compile("-(latest|[0-9]{8}|[0-9]{4}-[0-9]{2}-[0-9]{2})(-v[0-9]+(:[0-9]+)?)?$");

    private static final Pattern OTHER_API = Pattern.compile("^(openai)-(responses|chat):");

    private static final List<String> PRICES = List.of("input", "output", "cache_read", "cache_write", "above");

    private static final ModelTable PUBLISHED = published();

    private final Map<String, KnownModel> rows;

    private ModelTable(Map<String, KnownModel> rows) {
        this.rows = rows;
    }

    /** The table that is built into this version. */
    public static ModelTable builtIn() {
        return PUBLISHED;
    }

    /** The table in a file. The built-in table supplies what the file does not say about a model. */
    public static ModelTable read(Path file) throws YamlProblem {
        Map<String, KnownModel> all = new LinkedHashMap<>(PUBLISHED.rows);
        parse(YamlValue.read(file)).forEach((model, row) -> all.put(model, row.or(PUBLISHED.of(model))));
        return new ModelTable(all);
    }

    private static ModelTable published() {
        try (InputStream file = ModelTable.class.getResourceAsStream(BUILT_IN)) {
            String text = new String(Objects.requireNonNull(file).readAllBytes(), StandardCharsets.UTF_8);
            return new ModelTable(parse(YamlValue.parse("models.yaml", text)));
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        } catch (YamlProblem e) {
            throw new IllegalStateException(e);
        }
    }

    private static Map<String, KnownModel> parse(YamlValue root) throws YamlProblem {
        YamlProblems problems = new YamlProblems();
        Map<String, KnownModel> rows = new LinkedHashMap<>();
        for (Map.Entry<String, YamlValue> provider : root.fields().takeAll().entrySet()) {
            Optional<Map<String, YamlValue>> models =
                    problems.check(() -> provider.getValue().fields().takeAll());
            models.ifPresent(all -> all.forEach((model, value) ->
                    problems.check(() -> row(value)).ifPresent(row -> rows.put(provider.getKey() + ":" + model, row))));
        }
        problems.end();
        return rows;
    }

    private static KnownModel row(YamlValue value) throws YamlProblem {
        YamlFields fields = value.fields();
        YamlProblems problems = new YamlProblems();
        Optional<Integer> context = problems.read(fields.take("context"), tokens -> tokens.integer(1));
        Optional<Integer> maxTokens = problems.read(fields.take("max_tokens"), tokens -> tokens.integer(1));
        Optional<String> thinking = problems.read(fields.take("thinking"), ModelTable::thinking);
        Optional<Set<Unsupported>> refuses = problems.read(fields.take("refuses"), ModelTable::refusals);
        Optional<Pricing> pricing = Optional.empty();
        if (PRICES.stream().anyMatch(fields::has)) {
            pricing = problems.check(() -> pricing(fields));
        } else {
            problems.run(fields::end);
        }
        problems.end();
        return new KnownModel(pricing, context, maxTokens, thinking, refuses);
    }

    private static String thinking(YamlValue word) throws YamlProblem {
        if (!word.text().equals(KnownModel.HIDDEN)) {
            throw word.problem("expected " + KnownModel.HIDDEN + ", found " + word.text());
        }
        return word.text();
    }

    private static Set<Unsupported> refusals(YamlValue list) throws YamlProblem {
        Set<Unsupported> all = EnumSet.noneOf(Unsupported.class);
        for (YamlValue word : list.items()) {
            String named = word.text();
            all.add(Arrays.stream(Unsupported.values())
                    .filter(each -> each.word().equals(named))
                    .findFirst()
                    .orElseThrow(() -> word.problem("expected one of "
                            + Arrays.stream(Unsupported.values())
                                    .map(Unsupported::word)
                                    .collect(Collectors.joining(", "))
                            + ", found " + named)));
        }
        return all;
    }

    /** Reads the price of one model, in the format above. The prices of cache tokens are optional. */
    public static Pricing pricing(YamlValue value) throws YamlProblem {
        return pricing(value.fields());
    }

    private static Pricing pricing(YamlFields fields) throws YamlProblem {
        YamlProblems problems = new YamlProblems();
        Optional<Usd> input = problems.check(() -> dollars(fields.require("input")));
        Optional<Usd> output = problems.check(() -> dollars(fields.require("output")));
        Optional<Usd> cacheRead = problems.read(fields.take("cache_read"), ModelTable::dollars);
        Optional<Usd> cacheWrite = problems.read(fields.take("cache_write"), ModelTable::dollars);
        Optional<Pricing.Tier> above = problems.read(fields.take("above"), ModelTable::tier);
        problems.run(fields::end);
        problems.end();
        return new Pricing(input.orElseThrow(), output.orElseThrow(), cacheRead, cacheWrite, above);
    }

    private static Pricing.Tier tier(YamlValue value) throws YamlProblem {
        YamlFields fields = value.fields();
        int tokens = fields.require("tokens").integer(1);
        Pricing pricing = pricing(fields);
        if (pricing.above().isPresent()) {
            throw value.problem("above: a second tier is not supported");
        }
        return new Pricing.Tier(tokens, pricing);
    }

    private static Usd dollars(YamlValue value) throws YamlProblem {
        BigDecimal dollars = value.number();
        if (dollars.signum() < 0 || dollars.compareTo(MOST_DOLLARS) > 0) {
            throw value.problem("expected 0 to " + MOST_DOLLARS + " dollars, found " + dollars);
        }
        return Usd.of(dollars);
    }

    /**
     * What is known about {@code provider:model}. If the name is not listed with its release date, the name without the
     * date counts. All APIs of a service have the same models.
     */
    public KnownModel of(String model) {
        return listed(model)
                .or(() -> listed(DAY.matcher(model).replaceFirst("")))
                .orElse(KnownModel.UNKNOWN);
    }

    private Optional<KnownModel> listed(String model) {
        return Optional.ofNullable(rows.get(model))
                .or(() -> Optional.ofNullable(rows.get(OTHER_API.matcher(model).replaceFirst("$1:"))));
    }
}
