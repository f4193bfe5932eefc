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
 * Chooses the model that an attempt calls: the agent's own, or a fallback while the models before it are out of service
 * or have failed in this call. Each attempt calls one model, so only Temporal retries, and each attempt has its own
 * timeout, text and cost. Heartbeat details tell the next attempt which models failed.
 */
final class ModelChain {
    /**
     * The number of times that a model may fail in one call before the next model is called. Most failures pass within
     * a second, so a model gets a second try.
     */
    private static final int MOST_FAILURES = 2;

    /**
     * If a service requests a longer wait, the next model is called at once. A silent model is also replaced at once,
     * because the call has already waited for it.
     */
    private static final Duration LONGEST_WAIT = Duration.ofSeconds(5);

    /** The shortest delay that Temporal does not treat as unset. */
    private static final Duration AT_ONCE = Duration.ofMillis(1);

    /** Failures of a single request, which do not mean that the model is out of service. */
    private static final Set<String> SINGLE_REQUEST_FAILURES = Set.of(
            ProviderFailures.MALFORMED_REPLY.type(),
            ProviderFailures.STREAM_CUT.type(),
            ProviderFailures.CONFLICT.type(),
            ProviderFailures.REFUSED.type());

    private final List<Link> links;
    private final boolean passesRefusalsOn;
    private final ModelOutages outages;

    /**
     * The failures in this call.
     *
     * @param models the models that failed: once per failure, or often enough that the model is not tried again
     * @param unusable the fallbacks that cannot answer this call
     * @param withoutReasoning the models whose service refused to read earlier reasoning
     */
    record Failed(List<String> models, List<String> unusable, List<String> withoutReasoning) {
        static final Failed NOTHING = new Failed(List.of(), List.of(), List.of());

        Failed {
            models = List.copyOf(models);
            unusable = List.copyOf(unusable);
            withoutReasoning = List.copyOf(withoutReasoning);
        }

        /** Adds that the service of this model refused to read earlier reasoning. */
        Failed refusingReasoning(Link asked) {
            List<String> refusing = new ArrayList<>(withoutReasoning);
            refusing.add(asked.model());
            return new Failed(models, unusable, refusing);
        }

        private int count(String model) {
            return Collections.frequency(models, model);
        }
    }

    /** The agent's own model or one of its fallbacks, with its settings. */
    record Link(String model, ModelOptions options, Optional<Pricing> ownPrice, Duration silence) {}

    private ModelChain(List<Link> links, boolean passesRefusalsOn, ModelOutages outages) {
        this.links = List.copyOf(links);
        this.passesRefusalsOn = passesRefusalsOn;
        this.outages = outages;
    }

    static ModelChain of(AgentSpec agent, ModelOutages outages) {
        return new ModelChain(links(agent), agent.fallbackOnRefusal(), outages);
    }

    /** The agent's own model, followed by its fallbacks in order. */
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

    /** Whether the agent has no fallbacks. */
    boolean isSingle() {
        return links.size() == 1;
    }

    /**
     * Returns the first model that is usable, in service, and has not failed too often. If there is none, returns the
     * usable model with the fewest failures.
     */
    Link next(Failed failed) {
        List<Link> usable = links.stream()
                .filter(link -> isFirst(link) || !failed.unusable().contains(link.model()))
                .toList();
        return usable.stream()
                .filter(link -> !outages.isOut(link.model()) && failed.count(link.model()) < mostFailures(link))
                .findFirst()
                .orElseGet(() -> usable.stream()
                        .min(Comparator.comparingInt(link -> failed.count(link.model())))
                        .orElseThrow());
    }

    private boolean isFirst(Link link) {
        return link.equals(links.get(0));
    }

    private int mostFailures(Link link) {
        return outages.isDoubtful(link.model()) ? 1 : MOST_FAILURES;
    }

    /** Whether another model may be called after this failure. */
    boolean passesOn(ModelFailure failure) {
        return !isSingle()
                && (failure.retryable() || isRefusalToPassOn(failure))
                && !failure.type().equals(ProviderFailures.WORKER_BUSY.type());
    }

    /** Whether the next model gets the request that this one refused to answer, and would refuse again. */
    boolean isRefusalToPassOn(ModelFailure failure) {
        return passesRefusalsOn && failure.type().equals(ProviderFailures.REFUSED.type());
    }

    /** Whether the next attempt calls a model that has not failed in this call. */
    boolean triesAnother(Failed now) {
        return !isSingle() && now.count(next(now).model()) == 0;
    }

    /** Whether the call continues without this model. A permanent failure of a fallback does not fail the turn. */
    boolean continuesWithout(Link asked, ModelFailure failure) {
        return !isFirst(asked) && !failure.retryable();
    }

    /**
     * Returns the failures with this one added. A model that has failed too often counts as out of service from then
     * on, unless the failure concerned only this request.
     */
    Failed after(Link asked, ModelFailure failure, Failed before) {
        List<String> models = new ArrayList<>(before.models());
        boolean isLong = isRefusalToPassOn(failure)
                || failure.type().equals(ProviderFailures.MODEL_SILENT.type())
                || failure.retryAfter()
                        .filter(wait -> wait.compareTo(LONGEST_WAIT) > 0)
                        .isPresent();
        int mostFailures = mostFailures(asked);
        do {
            models.add(asked.model());
        } while (isLong && Collections.frequency(models, asked.model()) < mostFailures);
        Failed now = new Failed(models, before.unusable(), before.withoutReasoning());
        if (now.count(asked.model()) >= mostFailures && !SINGLE_REQUEST_FAILURES.contains(failure.type())) {
            outages.began(asked.model(), failure.retryAfter());
        }
        return now;
    }

    /** Returns the failures with this model marked as unusable for the call. */
    static Failed without(Link asked, Failed before) {
        List<String> unusable = new ArrayList<>(before.unusable());
        unusable.add(asked.model());
        return new Failed(before.models(), unusable, before.withoutReasoning());
    }

    /** How long to wait before the next attempt; empty to use Temporal's growing intervals. */
    Optional<Duration> delay(Link asked, Optional<Duration> retryAfter, Failed now) {
        Link next = next(now);
        if (next.equals(asked)) {
            return retryAfter;
        }
        return outages.wait(next.model())
                .or(() -> now.count(next.model()) == 0 ? Optional.of(Duration.ZERO) : Optional.empty())
                .map(wait -> wait.compareTo(AT_ONCE) > 0 ? wait : AT_ONCE);
    }

    /** Ends the model's outage, if there was one. */
    void answered(Link asked) {
        outages.ended(asked.model());
    }
}
