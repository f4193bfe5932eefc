package dev.waymark.worker.model;

import dev.waymark.agent.AgentSpec;
import dev.waymark.agent.ModelOptions;
import dev.waymark.agent.Pricing;
import dev.waymark.model.ModelFailure;
import dev.waymark.worker.model.http.ProviderFailures;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.Comparator;
import java.util.List;
import java.util.Optional;
import java.util.Set;

/**
 * Chooses the model that an attempt of a model call asks: the agent's own, or one of its fallbacks while those before it
 * are out of service. Each attempt asks one model, so that the retries of Temporal are all there are, and each attempt
 * has its own time, words and costs. What failed is passed from one attempt to the next in heartbeat details.
 */
final class ModelChain {
    /** A model is asked twice before the next one, since most failures pass within a second. */
    private static final int STRIKES = 2;

    /**
     * A service that asks to wait longer than this gives way to the next model at once. So does one that was silent, for
     * which the call has waited already.
     */
    private static final Duration LONGEST_WAIT = Duration.ofSeconds(5);

    /** The shortest delay that Temporal takes for one. */
    private static final Duration AT_ONCE = Duration.ofMillis(1);

    /** Failures that say nothing about other requests. */
    private static final Set<String> OF_ONE_REQUEST = Set.of(
            ProviderFailures.MALFORMED_REPLY.type(),
            ProviderFailures.STREAM_CUT.type(),
            ProviderFailures.CONFLICT.type());

    private final List<Link> links;
    private final ModelOutages outages;

    /** The models that failed in this call, each as often as it failed, and those that cannot answer it at all. */
    record Failed(List<String> models, List<String> unusable) {
        static final Failed NOTHING = new Failed(List.of(), List.of());

        Failed {
            models = List.copyOf(models);
            unusable = List.copyOf(unusable);
        }

        private int count(String model) {
            return Collections.frequency(models, model);
        }
    }

    /** A model of an agent. */
    record Link(String model, ModelOptions options, Optional<Pricing> ownPrice, Duration silence) {}

    private ModelChain(List<Link> links, ModelOutages outages) {
        this.links = List.copyOf(links);
        this.outages = outages;
    }

    static ModelChain of(AgentSpec agent, ModelOutages outages) {
        return new ModelChain(links(agent), outages);
    }

    /** All models of the agent, in order. */
    static List<Link> links(AgentSpec agent) {
        List<Link> links = new ArrayList<>();
        links.add(link(agent.model(), agent.options(), agent.pricing(), agent.silence()));
        agent.fallback()
                .forEach(other -> links.add(link(other.model(), other.options(), other.pricing(), other.silence())));
        return links;
    }

    private static Link link(
            String model, Optional<ModelOptions> options, Optional<Pricing> price, Optional<Duration> silence) {
        return new Link(model, options.orElse(ModelOptions.NONE), price, silence.orElse(AgentSpec.DEFAULT_SILENCE));
    }

    /** Whether there is only one model. */
    boolean isSingle() {
        return links.size() == 1;
    }

    /** The model to ask. If all have failed often enough, the one that failed least. */
    Link next(Failed failed) {
        List<Link> usable = links.stream()
                .filter(link -> isFirst(link) || !failed.unusable().contains(link.model()))
                .toList();
        return usable.stream()
                .filter(link -> !outages.isOut(link.model()) && failed.count(link.model()) < strikes(link))
                .findFirst()
                .orElseGet(() -> usable.stream()
                        .min(Comparator.comparingInt(link -> failed.count(link.model())))
                        .orElseThrow());
    }

    private boolean isFirst(Link link) {
        return link.equals(links.get(0));
    }

    private int strikes(Link link) {
        return outages.isDoubtful(link.model()) ? 1 : STRIKES;
    }

    /** Whether another model may answer in place of one that failed like this. */
    boolean passesOn(ModelFailure failure) {
        return !isSingle() && failure.retryable() && !failure.type().equals(ProviderFailures.WORKER_BUSY.type());
    }

    /** Whether the call goes on without this model: a fallback that refuses the request does not fail the turn. */
    boolean dispensesWith(Link asked, ModelFailure failure) {
        return !isFirst(asked) && !failure.retryable();
    }

    /** Adds an outage of the model that was asked. */
    Failed after(Link asked, ModelFailure failure, Failed before) {
        List<String> models = new ArrayList<>(before.models());
        boolean isLong = failure.type().equals(ProviderFailures.MODEL_SILENT.type())
                || failure.retryAfter()
                        .filter(wait -> wait.compareTo(LONGEST_WAIT) > 0)
                        .isPresent();
        int strikes = strikes(asked);
        do {
            models.add(asked.model());
        } while (isLong && Collections.frequency(models, asked.model()) < strikes);
        Failed now = new Failed(models, before.unusable());
        if (now.count(asked.model()) >= strikes && !OF_ONE_REQUEST.contains(failure.type())) {
            outages.began(asked.model(), failure.retryAfter());
        }
        return now;
    }

    /** Adds a model that cannot answer this call. */
    static Failed without(Link asked, Failed before) {
        List<String> unusable = new ArrayList<>(before.unusable());
        unusable.add(asked.model());
        return new Failed(before.models(), unusable);
    }

    /** How long to wait before the next attempt; empty for the growing intervals of Temporal. */
    Optional<Duration> delay(Link asked, Optional<Duration> retryAfter, Failed now) {
        Link next = next(now);
        if (next.equals(asked)) {
            return retryAfter;
        }
        return outages.wait(next.model())
                .or(() -> now.count(next.model()) == 0 ? Optional.of(Duration.ZERO) : Optional.empty())
                .map(wait -> wait.compareTo(AT_ONCE) > 0 ? wait : AT_ONCE);
    }

    /** Notes that this model answered. */
    void answered(Link asked) {
        outages.ended(asked.model());
    }
}
