package dev.waymark.worker.model;

import dev.waymark.agent.AgentSpec;
import dev.waymark.agent.ModelOptions;
import dev.waymark.agent.Pricing;
import dev.waymark.conversation.Conversation;
import dev.waymark.conversation.message.Reply;
import dev.waymark.conversation.value.Problem;
import dev.waymark.conversation.value.ProblemType;
import dev.waymark.conversation.value.Sha256;
import dev.waymark.history.RunReader;
import dev.waymark.model.ModelFailure;
import dev.waymark.model.ModelProvider;
import dev.waymark.model.ModelRequest;
import dev.waymark.worker.activity.ActivityProblems;
import dev.waymark.worker.metrics.AttemptMetrics;
import dev.waymark.worker.model.http.ProviderFailures;
import dev.waymark.worker.provider.ModelProviders;
import io.temporal.activity.Activity;
import java.time.Duration;
import java.time.Instant;
import java.util.Optional;
import java.util.function.BooleanSupplier;
import java.util.regex.Pattern;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Asks one model in each attempt of a model call. If it fails, says whether another attempt follows, and leaves what
 * that one needs to choose its model. Thread-safe.
 */
final class ModelCaller {
    private static final int CACHE_KEY_DIGITS = 32;

    private static final Pattern REASONING_MESSAGE =
            Pattern.compile("thinking|signature|encrypted", Pattern.CASE_INSENSITIVE);

    private static final Logger LOG = LoggerFactory.getLogger(ModelCaller.class);

    private final ModelProviders providers;
    private final AttemptMetrics metrics;
    private final ModelOutages outages;

    ModelCaller(ModelProviders providers, AttemptMetrics metrics) {
        this.providers = providers;
        this.metrics = metrics;
        this.outages = new ModelOutages(System::nanoTime, providers::oneName);
    }

    /**
     * Returns the reply of the agent's model, or of a fallback while the models before it fail, with its cost. The
     * failure of a model is thrown as the failure of the activity, which says whether another attempt follows, and
     * when.
     */
    Reply ask(ModelRequest request, RunReader.Called called, ModelAttempt words, BooleanSupplier cancelled)
            throws InterruptedException {
        AgentSpec agent = called.agent();
        Conversation state = called.state();
        ModelChain chain = ModelChain.of(agent, outages);
        ModelChain.Link asked = chain.next(words.failed());
        try {
            ModelProviders.Bound bound = bound(asked);
            ModelOptions options = ModelPrompt.options(asked.options(), agent, bound.provider());
            boolean isCachedLong =
                    options.cache().filter(ModelOptions.CACHE_AN_HOUR::equals).isPresent();
            Optional<Pricing> pricing = asked.ownPrice()
                    .or(() -> isCachedLong ? bound.pricing().map(Pricing::cachedForAnHour) : bound.pricing());
            words.asks(asked.model(), pricing);
            boolean isOwn = asked.model().equals(agent.model());
            ModelRequest sent = request.to(bound.model(), options)
                    .withCacheKey(Optional.of(cacheKey(state)))
                    .unreadableBefore(state.unreadableBefore(isOwn ? "" : asked.model()));
            Reply reply = reply(bound.provider(), sent, words, asked, cancelled);
            chain.answered(asked);
            words.firstWordAfter().ifPresent(after -> metrics.firstWord(asked.model(), after));
            Reply charged = reply.charged(pricing.map(price -> price.of(reply.usage())), words.before());
            return isOwn ? charged : charged.answeredBy(asked.model());
        } catch (ModelFailure failure) {
            metrics.failedAttempt(asked.model(), failure.type());
            throw problem(agent, chain, asked, failure, words);
        }
    }

    /**
     * Returns the reply. If the service refuses to read earlier reasoning, which it may bind to something that this
     * version does not know of, the request is sent once more without it, and later attempts do not send it either. A
     * refused request costs nothing.
     */
    private static Reply reply(
            ModelProvider provider,
            ModelRequest sent,
            ModelAttempt words,
            ModelChain.Link asked,
            BooleanSupplier cancelled)
            throws ModelFailure, InterruptedException {
        if (!words.failed().withoutReasoning().contains(asked.model())) {
            try {
                Reply reply = SilenceWatch.ask(provider, sent, words, asked.silence(), cancelled);
                if (reply.withoutReasoning()) {
                    LOG.warn("{} did not read earlier reasoning of {}", asked.model(), thread());
                }
                return reply;
            } catch (ModelFailure failure) {
                if (!refusesReasoning(failure) || !sent.hasReasoning()) {
                    throw failure;
                }
                LOG.warn(
                        "{} refused earlier reasoning of {}, and is asked again without it: {}",
                        asked.model(),
                        thread(),
                        failure.getMessage());
                words.failed(words.failed().refusingReasoning(asked));
            }
        }
        ModelRequest without = sent.unreadableBefore(sent.messages().size());
        return SilenceWatch.ask(provider, without, words, asked.silence(), cancelled)
                .refusingReasoning();
    }

    private ModelProviders.Bound bound(ModelChain.Link asked) throws ModelFailure {
        return providers
                .find(asked.model())
                .orElseThrow(() -> ModelFailure.permanent(
                        ProblemType.AGENT_INVALID, "this worker has no provider for model " + asked.model()));
    }

    /** Identical in all runs of the thread, and does not reveal the thread's name to the service. */
    private static String cacheKey(Conversation state) {
        return Sha256.hex(thread() + "\n" + state.createdAt()).substring(0, CACHE_KEY_DIGITS);
    }

    private static String thread() {
        return Activity.getExecutionContext().getInfo().getWorkflowId();
    }

    private static boolean refusesReasoning(ModelFailure failure) {
        return failure.type().equals(ProviderFailures.BAD_REQUEST.type())
                && REASONING_MESSAGE
                        .matcher(String.valueOf(failure.getMessage()))
                        .find();
    }

    /**
     * Returns the failure of this attempt. If another model may be called, it also records what the next attempt needs
     * to choose one.
     */
    private static RuntimeException problem(
            AgentSpec agent, ModelChain chain, ModelChain.Link asked, ModelFailure failure, ModelAttempt words) {
        String message = String.valueOf(failure.getMessage());
        Problem problem = new Problem(failure.type(), chain.isSingle() ? message : asked.model() + ": " + message);
        Optional<Duration> delay = failure.retryAfter();
        boolean goesOn = failure.retryable();
        if (chain.passesOn(failure)) {
            words.failed(chain.after(asked, failure, words.failed()));
            delay = chain.delay(asked, delay, words.failed());
            goesOn = goesOn || chain.triesAnother(words.failed());
        } else if (chain.continuesWithout(asked, failure)) {
            words.failed(ModelChain.without(asked, words.failed()));
            delay = chain.delay(asked, delay, words.failed());
            goesOn = true;
        }
        if (goesOn && isOver(agent, delay, words) && !chain.triesAnother(words.failed())) {
            goesOn = false;
            problem = new Problem(
                    problem.type(),
                    problem.message() + " (not retried: retry_for is "
                            + agent.retryFor().orElseThrow().toSeconds() + "s)");
        }
        return goesOn
                ? ActivityProblems.passing(problem, delay, words.spent())
                : ActivityProblems.permanent(problem, words.spent());
    }

    /** Whether the agent's time for retries is over before the next attempt. */
    private static boolean isOver(AgentSpec agent, Optional<Duration> delay, ModelAttempt words) {
        Instant now = Instant.now();
        return agent.retryFor()
                .filter(most -> !now.plus(delay.orElse(Duration.ZERO))
                        .isBefore(words.failingSince(now).plus(most)))
                .isPresent();
    }
}
