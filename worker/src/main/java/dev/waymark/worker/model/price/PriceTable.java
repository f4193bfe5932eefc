package dev.waymark.worker.model.price;

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
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.regex.Pattern;

/**
 * Prices of models in US dollars per million tokens, from a file. The price of a call is recorded with its reply, so a
 * changed table affects later calls only.
 *
 * <pre>{@code
 * anthropic:
 *   claude-haiku-4-5: { input: 1, output: 5, cache_read: 0.1, cache_write: 1.25 }
 * }</pre>
 */
public final class PriceTable {
    private static final String BUILT_IN = "/dev/waymark/worker/model/prices.yaml";
    private static final BigDecimal MOST_DOLLARS = BigDecimal.valueOf(1_000_000);

    /** The end of a model's name that is a release date or {@code latest}. */
    private static final Pattern DAY = Pattern.compile("-(latest|[0-9]{8}|[0-9]{4}-[0-9]{2}-[0-9]{2})$");

    private static final Pattern OTHER_API = Pattern.compile("^(openai)-(responses|chat):");

    private static final PriceTable PUBLISHED = published();

    private final Map<String, Pricing> prices;

    private PriceTable(Map<String, Pricing> prices) {
        this.prices = prices;
    }

    /** The published prices that are built into this version. */
    public static PriceTable builtIn() {
        return PUBLISHED;
    }

    /** The prices in a file, and the built-in prices of models that the file does not list. */
    public static PriceTable read(Path file) throws YamlProblem {
        Map<String, Pricing> all = new LinkedHashMap<>(PUBLISHED.prices);
        all.putAll(parse(YamlValue.read(file)));
        return new PriceTable(all);
    }

    private static PriceTable published() {
        try (InputStream file = PriceTable.class.getResourceAsStream(BUILT_IN)) {
            String text = new String(Objects.requireNonNull(file).readAllBytes(), StandardCharsets.UTF_8);
            return new PriceTable(parse(YamlValue.parse("prices.yaml", text)));
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        } catch (YamlProblem e) {
            throw new IllegalStateException(e);
        }
    }

    private static Map<String, Pricing> parse(YamlValue root) throws YamlProblem {
        YamlProblems problems = new YamlProblems();
        Map<String, Pricing> prices = new LinkedHashMap<>();
        for (Map.Entry<String, YamlValue> provider : root.fields().takeAll().entrySet()) {
            Optional<Map<String, YamlValue>> models =
                    problems.check(() -> provider.getValue().fields().takeAll());
            models.ifPresent(all -> all.forEach((model, value) -> problems.check(() -> pricing(value))
                    .ifPresent(price -> prices.put(provider.getKey() + ":" + model, price))));
        }
        problems.end();
        return prices;
    }

    /** Reads the price of one model, in the format above. The prices of cache tokens are optional. */
    public static Pricing pricing(YamlValue value) throws YamlProblem {
        YamlFields fields = value.fields();
        YamlProblems problems = new YamlProblems();
        Optional<Usd> input = problems.check(() -> dollars(fields.require("input")));
        Optional<Usd> output = problems.check(() -> dollars(fields.require("output")));
        Optional<Usd> cacheRead = problems.read(fields.take("cache_read"), PriceTable::dollars);
        Optional<Usd> cacheWrite = problems.read(fields.take("cache_write"), PriceTable::dollars);
        problems.run(fields::end);
        problems.end();
        return new Pricing(input.orElseThrow(), output.orElseThrow(), cacheRead, cacheWrite);
    }

    private static Usd dollars(YamlValue value) throws YamlProblem {
        BigDecimal dollars = value.number();
        if (dollars.signum() < 0 || dollars.compareTo(MOST_DOLLARS) > 0) {
            throw value.problem("expected 0 to " + MOST_DOLLARS + " dollars, found " + dollars);
        }
        return Usd.of(dollars);
    }

    /**
     * The price of {@code provider:model}, if it is known. A model that is not listed with its release date has the
     * price of the model without it. A model has the same price in each API of its service.
     */
    public Optional<Pricing> of(String model) {
        return listed(model).or(() -> listed(DAY.matcher(model).replaceFirst("")));
    }

    private Optional<Pricing> listed(String model) {
        return Optional.ofNullable(prices.get(model))
                .or(() ->
                        Optional.ofNullable(prices.get(OTHER_API.matcher(model).replaceFirst("$1:"))));
    }
}
