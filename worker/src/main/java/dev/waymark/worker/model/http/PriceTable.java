package dev.waymark.worker.model.http;

import dev.waymark.agent.Pricing;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Optional;
import java.util.regex.Pattern;

/** Published prices of a service's models. */
public final class PriceTable {
    /** A model is listed by its name; requests may add a release date. */
    private static final Pattern DAY = Pattern.compile("-(latest|[0-9]{8}|[0-9]{4}-[0-9]{2}-[0-9]{2})$");

    private final Map<String, Pricing> prices = new LinkedHashMap<>();

    /** Prices in US dollars per million tokens. */
    public PriceTable add(String input, String output, String cacheRead, String cacheWrite, String... models) {
        for (String model : models) {
            prices.put(model, Pricing.of(input, output).withCache(cacheRead, cacheWrite));
        }
        return this;
    }

    public Optional<Pricing> of(String model) {
        return Optional.ofNullable(prices.get(DAY.matcher(model).replaceFirst("")));
    }
}
