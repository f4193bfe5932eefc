package dev.waymark.worker.model;

import dev.waymark.agent.Pricing;
import dev.waymark.contract.work.PartialReply;
import dev.waymark.conversation.value.Spent;
import dev.waymark.conversation.value.Usage;
import dev.waymark.model.ReplyListener;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.Optional;

/**
 * The progress of a reply that is still streaming, for heartbeats: the end of its text, the spending so far, and the
 * models that failed. Written by one thread, read by another.
 */
final class PartialText implements ReplyListener {
    /**
     * Maximum length of the text in a heartbeat. A model writes far less between two heartbeats, which are sent several
     * times a second, so a reader misses nothing.
     */
    private static final int MOST = 16 * 1024;

    private final int step;
    private final int attempt;
    private final Spent before;
    private ModelChain.Failed failed;
    private final boolean shown;
    private final StringBuilder tail = new StringBuilder();
    private int from;
    private Usage usage = Usage.NONE;
    private Optional<Pricing> pricing = Optional.empty();
    private Optional<String> model = Optional.empty();
    private final long beganAt = System.nanoTime();
    private Optional<Duration> firstWordAfter = Optional.empty();
    private Optional<PartialReply.SavedReply> saved = Optional.empty();

    /**
     * @param before the spending of earlier attempts
     * @param failed the models that failed in earlier attempts
     * @param shown whether the text is shown to users
     */
    PartialText(int step, int attempt, Spent before, ModelChain.Failed failed, boolean shown) {
        this.failed = failed;
        this.shown = shown;
        this.step = step;
        this.attempt = attempt;
        this.before = before;
    }

    /** The spending of earlier attempts. */
    Spent before() {
        return before;
    }

    /** The models that failed in this call. */
    synchronized ModelChain.Failed failed() {
        return failed;
    }

    /** Replaces the failures that this attempt passes on to the next one. */
    synchronized void failed(ModelChain.Failed now) {
        failed = now;
    }

    /** Records which model is called, and its price. */
    synchronized void asks(String asked, Optional<Pricing> price) {
        model = Optional.of(asked);
        pricing = price;
    }

    /** Adds the whole reply to the details of the heartbeats, for the next attempt. */
    synchronized void save(PartialReply.SavedReply whole) {
        saved = Optional.of(whole);
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
        if (!shown) {
            return;
        }
        tail.append(words);
        int surplus = tail.length() - MOST;
        if (surplus > 0) {
            int cut = Character.isLowSurrogate(tail.charAt(surplus)) ? surplus + 1 : surplus;
            tail.delete(0, cut);
            from += cut;
        }
    }

    /**
     * The details for a heartbeat. The text never ends in half a surrogate pair: details that cannot be encoded would
     * stop the heartbeats.
     */
    synchronized PartialReply now() {
        int end = tail.length();
        if (end > 0 && Character.isHighSurrogate(tail.charAt(end - 1))) {
            end--;
        }
        String whole = new String(tail.substring(0, end).getBytes(StandardCharsets.UTF_8), StandardCharsets.UTF_8);
        Spent spent = spent();
        return new PartialReply(
                step,
                attempt,
                from,
                whole,
                spent.isNothing() ? Optional.empty() : Optional.of(spent),
                failed.models(),
                failed.unusable(),
                saved);
    }
}
