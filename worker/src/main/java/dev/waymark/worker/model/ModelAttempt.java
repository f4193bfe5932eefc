package dev.waymark.worker.model;

import dev.waymark.agent.Pricing;
import dev.waymark.contract.work.PartialReply;
import dev.waymark.contract.work.PartialReply.Piece;
import dev.waymark.contract.work.PartialReply.RunningCall;
import dev.waymark.contract.work.WordsRequest;
import dev.waymark.conversation.value.Spent;
import dev.waymark.conversation.value.Usage;
import dev.waymark.model.ReplyListener;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/**
 * The progress of a reply that is still streaming, for heartbeats and readers: the end of its text and of its
 * reasoning, the spending so far, the models that failed, and then the calls that run. Written by one thread, read by
 * others.
 */
final class ModelAttempt implements ReplyListener {
    /**
     * Maximum length of the text that is kept. A model writes far less between two heartbeats or queries, so a reader
     * misses nothing.
     */
    private static final int MOST = 16 * 1024;

    private final int step;
    private final int attempt;
    private final Spent before;
    private ModelChain.Failed failed;
    private Optional<Instant> failingSince;
    private final boolean shown;
    private final Tail text = new Tail();
    private final Tail reasoning = new Tail();
    private Usage usage = Usage.NONE;
    private Optional<Pricing> pricing = Optional.empty();
    private Optional<String> model = Optional.empty();
    private final long beganAt = System.nanoTime();
    private Optional<Duration> firstWordAfter = Optional.empty();
    private Optional<PartialReply.SavedReply> saved = Optional.empty();
    private final List<RunningCall> running = new ArrayList<>();
    private Runnable firstWord = () -> {};

    /**
     * @param before the spending of earlier attempts
     * @param failed the models that failed in earlier attempts
     * @param failingSince when the first of them failed, if it is known
     * @param shown whether the text is shown to users
     */
    ModelAttempt(
            int step,
            int attempt,
            Spent before,
            ModelChain.Failed failed,
            Optional<Instant> failingSince,
            boolean shown) {
        this.failed = failed;
        this.failingSince = failingSince;
        this.shown = shown;
        this.step = step;
        this.attempt = attempt;
        this.before = before;
    }

    /** The spending of earlier attempts. */
    Spent before() {
        return before;
    }

    synchronized ModelChain.Failed failed() {
        return failed;
    }

    /** Replaces the failures that this attempt passes on to the next one. */
    synchronized void failed(ModelChain.Failed now) {
        failed = now;
    }

    /** Returns when an attempt of this call failed for the first time: now, if none has before. */
    synchronized Instant failingSince(Instant now) {
        Instant since = failingSince.orElse(now);
        failingSince = Optional.of(since);
        return since;
    }

    /** Records which model is called, and its price. */
    synchronized void asks(String asked, Optional<Pricing> price) {
        model = Optional.of(asked);
        pricing = price;
    }

    /** Runs this action once, when the first word or reasoning to show arrives. */
    synchronized void atFirstWord(Runnable action) {
        firstWord = action;
    }

    /** Adds the whole reply to the details of the heartbeats, for the next attempt. */
    synchronized void save(PartialReply.SavedReply whole) {
        saved = Optional.of(whole);
    }

    /** Records that these calls of the reply run now. */
    synchronized void runs(List<RunningCall> calls) {
        running.addAll(calls);
    }

    synchronized void ended(RunningCall call) {
        running.remove(call);
    }

    /** The model that this attempt called, if it has called one. */
    synchronized Optional<String> model() {
        return model;
    }

    /** The time from the start of the attempt to its first word, if there was one. */
    synchronized Optional<Duration> firstWordAfter() {
        return firstWordAfter;
    }

    @Override
    public synchronized void usage(Usage soFar) {
        usage = soFar;
    }

    /** The spending of this attempt and earlier ones. */
    synchronized Spent spent() {
        return usage.equals(Usage.NONE) ? before : before.plus(own());
    }

    /** The spending of this attempt. */
    synchronized Spent own() {
        return new Spent(usage, pricing.map(price -> price.of(usage)));
    }

    @Override
    public synchronized void words(String words) {
        if (firstWordAfter.isEmpty()) {
            firstWordAfter = Optional.of(Duration.ofNanos(System.nanoTime() - beganAt));
        }
        show(text, words);
    }

    @Override
    public synchronized void reasoning(String piece) {
        show(reasoning, piece);
    }

    private void show(Tail tail, String piece) {
        if (!shown || piece.isEmpty()) {
            return;
        }
        boolean isFirst = text.isEmpty() && reasoning.isEmpty();
        tail.append(piece);
        if (isFirst) {
            firstWord.run();
        }
    }

    /** The details for a heartbeat. */
    synchronized PartialReply now() {
        Spent spent = spent();
        Piece said = text.after(0);
        return new PartialReply(
                step,
                attempt,
                said.from(),
                said.text(),
                reasoning.isEmpty() ? Optional.empty() : Optional.of(reasoning.after(0)),
                spent.isNothing() ? Optional.empty() : Optional.of(spent),
                failed.models(),
                failed.unusable(),
                failed.withoutReasoning(),
                saved,
                Optional.empty(),
                running,
                failingSince);
    }

    /** Whether this is the call that a reader asks for, and the reader knows of no later attempt. */
    boolean isOf(WordsRequest.Call call) {
        return call.step() == step && call.attempt() <= attempt;
    }

    /** The words that are new to a reader of this call; empty if there are none. */
    synchronized Optional<PartialReply> since(WordsRequest.Call call) {
        boolean isKnown = call.attempt() == attempt;
        Piece said = text.after(isKnown ? call.characters() : 0);
        Piece thought = reasoning.after(isKnown ? call.reasoning() : 0);
        boolean takesBack = !isKnown && (call.characters() > 0 || call.reasoning() > 0 || call.running() > 0);
        boolean isNews = !said.text().isEmpty() || !thought.text().isEmpty() || call.running() != running.size();
        return isNews || takesBack
                ? Optional.of(PartialReply.shown(
                        step, attempt, said, Optional.of(thought).filter(piece -> piece.end() > 0), running))
                : Optional.empty();
    }

    /** The end of a text that grows. */
    private static final class Tail {
        private final StringBuilder kept = new StringBuilder();
        private int from;

        boolean isEmpty() {
            return from == 0 && kept.isEmpty();
        }

        void append(String piece) {
            kept.append(piece);
            int surplus = kept.length() - MOST;
            if (surplus > 0) {
                int cut = Character.isLowSurrogate(kept.charAt(surplus)) ? surplus + 1 : surplus;
                kept.delete(0, cut);
                from += cut;
            }
        }

        /**
         * The kept text after this many characters. It never ends in half a surrogate pair, which could not be encoded.
         */
        Piece after(int known) {
            int end = kept.length();
            if (end > 0 && Character.isHighSurrogate(kept.charAt(end - 1))) {
                end--;
            }
            int begin = Math.min(Math.max(0, known - from), end);
            return new Piece(
                    from + begin,
                    new String(kept.substring(begin, end).getBytes(StandardCharsets.UTF_8), StandardCharsets.UTF_8));
        }
    }
}
