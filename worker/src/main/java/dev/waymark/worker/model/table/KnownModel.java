package dev.waymark.worker.model.table;

import dev.waymark.agent.Pricing;
import java.util.Optional;
import java.util.Set;

/**
 * What the table says about a model.
 *
 * @param context the number of tokens of its context window
 * @param maxTokens how long a reply, with its thinking, may be by default
 * @param thinking {@code hidden} if the model thinks by default, and shows its thinking only on request
 * @param refuses what the model is known to refuse; anything else is sent
 */
public record KnownModel(
        Optional<Pricing> pricing,
        Optional<Integer> context,
        Optional<Integer> maxTokens,
        Optional<String> thinking,
        Optional<Set<Unsupported>> refuses) {
    static final String HIDDEN = "hidden";

    static final KnownModel UNKNOWN =
            new KnownModel(Optional.empty(), Optional.empty(), Optional.empty(), Optional.empty(), Optional.empty());

    /** Whether the model is known to refuse this. */
    public boolean refuses(Unsupported what) {
        return refuses.filter(all -> all.contains(what)).isPresent();
    }

    /** Whether the model thinks by default, and shows its thinking only on request. */
    public boolean hidesThinking() {
        return thinking.filter(HIDDEN::equals).isPresent();
    }

    /** This row, with missing values taken from the other row. */
    KnownModel or(KnownModel other) {
        return new KnownModel(
                pricing.or(other::pricing),
                context.or(other::context),
                maxTokens.or(other::maxTokens),
                thinking.or(other::thinking),
                refuses.or(other::refuses));
    }
}
