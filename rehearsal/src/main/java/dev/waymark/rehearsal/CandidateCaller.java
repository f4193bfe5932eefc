package dev.waymark.rehearsal;

import dev.waymark.agent.AgentSpec;
import dev.waymark.agent.Pricing;
import dev.waymark.conversation.message.Reply;
import dev.waymark.conversation.value.Usage;
import dev.waymark.conversation.value.Usd;
import dev.waymark.model.ModelFailure;
import dev.waymark.model.ReplyListener;
import dev.waymark.worker.model.SilenceWatch;
import dev.waymark.worker.model.http.ProviderFailures;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.time.Duration;
import java.util.Arrays;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/**
 * Asks models: returns a kept answer, or sends the request within the ceiling and keeps the answer. Thread-safe.
 */
final class CandidateCaller {
    private static final int ATTEMPTS = 4;
    private static final Duration FIRST_PAUSE = Duration.ofMillis(500);
    private static final Duration LONGEST_PAUSE = Duration.ofSeconds(30);

    /** Failures after which a service may charge for a request, although no part of a reply was read. */
    private static final Set<String> CHARGED = Stream.of(
                    ProviderFailures.REPLY_TOO_LARGE,
                    ProviderFailures.PROVIDER_BUG,
                    ProviderFailures.REQUEST_TIMED_OUT,
                    ProviderFailures.STREAM_CUT,
                    ProviderFailures.MALFORMED_REPLY,
                    ProviderFailures.MODEL_SILENT)
            .map(ProviderFailures::type)
            .collect(Collectors.toUnmodifiableSet());

    /** Failures of replies that have arrived as a whole, with the tokens that they cost. */
    private static final Set<String> WHOLE = Set.of(ProviderFailures.REFUSED.type(), ProviderFailures.CALL_CUT.type());

    private final AnswerStore answers;
    private final Spending spending;
    /** The kept answers that have been counted. */
    private final Set<String> counted = ConcurrentHashMap.newKeySet();

    private final Object[] same = new Object[1_024];

    CandidateCaller(AnswerStore answers, Spending spending) {
        this.answers = answers;
        this.spending = spending;
        Arrays.setAll(same, i -> new Object());
    }

    /** An answer, and whether it came from the store. */
    record Given(AnswerStore.Kept answer, boolean wasKept) {}

    Given answer(CandidateRequest request, AgentSpec agent, Optional<String> encryptedThread, int vote)
            throws ModelFailure, Spending.CeilingReached, InterruptedException {
        String digest = request.digest(vote);
        // Two threads may have the same request. The second one gets the kept answer, as in a later rehearsal.
        synchronized (same[Math.floorMod(digest.hashCode(), same.length)]) {
            return answer(digest, request, agent, encryptedThread);
        }
    }

    private Given answer(String digest, CandidateRequest request, AgentSpec agent, Optional<String> encryptedThread)
            throws ModelFailure, Spending.CeilingReached, InterruptedException {
        Optional<AnswerStore.Kept> kept = answers.find(digest, encryptedThread);
        if (kept.isPresent()) {
            if (counted.add(digest)) {
                spending.count(pricing(request, agent).of(kept.get().reply().usage()));
            }
            return new Given(kept.get(), true);
        }
        long began = System.nanoTime();
        Reply reply = replyAfterRetries(request, agent, encryptedThread);
        AnswerStore.Kept answer = new AnswerStore.Kept(
                reply, Duration.ofNanos(System.nanoTime() - began).toMillis());
        try {
            answers.keep(digest, encryptedThread, answer);
        } catch (IOException e) {
            throw new UncheckedIOException("an answer can't be kept", e);
        }
        counted.add(digest);
        return new Given(answer, false);
    }

    private Reply replyAfterRetries(CandidateRequest request, AgentSpec agent, Optional<String> encryptedThread)
            throws ModelFailure, Spending.CeilingReached, InterruptedException {
        Duration pause = FIRST_PAUSE;
        for (int attempt = 1; ; attempt++) {
            try {
                return reply(request, agent);
            } catch (ModelFailure failure) {
                if (!failure.retryable() || attempt == ATTEMPTS) {
                    throw failure;
                }
                Duration wait = failure.retryAfter().orElse(pause);
                Thread.sleep((wait.compareTo(LONGEST_PAUSE) > 0 ? LONGEST_PAUSE : wait).toMillis());
                pause = pause.multipliedBy(2);
                encryptedThread.ifPresent(answers::requireKey);
            }
        }
    }

    private Reply reply(CandidateRequest request, AgentSpec agent)
            throws ModelFailure, Spending.CeilingReached, InterruptedException {
        Pricing pricing = pricing(request, agent);
        if (pricing.equals(Pricing.FREE)) {
            return send(request, agent, new Began());
        }
        Usd most = request.worstCase(pricing);
        spending.reserve(most);
        Began began = new Began();
        Usd cost = most; // An unknown cost counts as the maximum.
        try {
            Reply reply = send(request, agent, began);
            // A service that does not count tokens may have charged anything.
            cost = reply.usage().equals(Usage.NONE) ? most : pricing.of(reply.usage());
            return reply;
        } catch (ModelFailure failure) {
            if (WHOLE.contains(failure.type())) {
                cost = began.counted.map(pricing::of).orElse(most);
            } else if (!began.seen && !CHARGED.contains(failure.type())) {
                cost = Usd.ZERO;
            }
            throw failure;
        } finally {
            spending.settle(most, cost);
        }
    }

    private static Reply send(CandidateRequest request, AgentSpec agent, Began began)
            throws ModelFailure, InterruptedException {
        return SilenceWatch.ask(
                request.bound().provider(),
                request.sent(),
                began,
                agent.silence().orElse(AgentSpec.DEFAULT_SILENCE),
                () -> false);
    }

    /** The price of the agent's model, which must be known. */
    static Pricing pricing(CandidateRequest request, AgentSpec agent) {
        return agent.pricing().or(request.bound()::pricing).orElseThrow();
    }

    /** Whether any part of a reply has arrived, and the tokens that the service has counted. */
    private static final class Began implements ReplyListener {
        private boolean seen;
        private Optional<Usage> counted = Optional.empty();

        @Override
        public void words(String piece) {
            seen = true;
        }

        @Override
        public void reasoning(String piece) {
            seen = true;
        }

        @Override
        public void progress() {
            seen = true;
        }

        @Override
        public void usage(Usage soFar) {
            seen = true;
            counted = Optional.of(soFar);
        }
    }
}
