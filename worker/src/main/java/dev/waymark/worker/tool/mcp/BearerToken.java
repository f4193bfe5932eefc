package dev.waymark.worker.tool.mcp;

import dev.waymark.worker.process.ProcessFence;
import dev.waymark.worker.secret.Secrets;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.LongSupplier;
import java.util.regex.Pattern;

/**
 * The token of a remote server, in memory only. It is read on first use, again when its time is over, and again after
 * the server has refused it. Thread-safe.
 */
final class BearerToken {
    /** How long a token without a known lifetime is used. */
    static final Duration USUAL_USE = Duration.ofMinutes(5);

    /** The time that a request may take to arrive at the server. */
    private static final Duration MARGIN = Duration.ofSeconds(30);

    private static final int LONGEST = 16 * 1024;
    private static final Pattern CHARACTERS = Pattern.compile("[A-Za-z0-9._~+/-]+=*");
    private static final String PLACEHOLDER = "[token]";

    /** Where tokens come from. */
    interface Source {
        /** @throws RequestNotSentException if there is no token now; it says why */
        Issued issue(ProcessFence fence) throws RequestNotSentException, InterruptedException;
    }

    /** @param life the time until the token ends; empty if it is not known */
    record Issued(String text, Optional<Duration> life) {
        private Duration use() {
            Duration use = life.orElse(USUAL_USE.plus(MARGIN)).minus(MARGIN);
            return use.isNegative() ? Duration.ZERO : use;
        }

        private boolean isToken() {
            return text.length() <= LONGEST && CHARACTERS.matcher(text).matches();
        }
    }

    private record Current(String text, long end) {}

    private final Source source;
    private final LongSupplier nanoTime;
    private final ReentrantLock lock = new ReentrantLock();
    private volatile Optional<Current> current = Optional.empty();

    /** Masks the latest tokens, which the server may quote. */
    private volatile Secrets hidden = Secrets.NONE;

    BearerToken(Source source) {
        this(source, System::nanoTime);
    }

    BearerToken(Source source, LongSupplier nanoTime) {
        this.source = source;
        this.nanoTime = nanoTime;
    }

    /** @throws RequestNotSentException if there is no token now */
    String text(ProcessFence fence) throws RequestNotSentException, InterruptedException {
        if (!lock.tryLock(fence.left().toMillis(), TimeUnit.MILLISECONDS)) {
            throw new RequestNotSentException("its token did not arrive in time");
        }
        try {
            Optional<Current> known = current.filter(token -> nanoTime.getAsLong() - token.end() < 0);
            return known.isPresent() ? known.get().text() : issue(fence);
        } finally {
            lock.unlock();
        }
    }

    private String issue(ProcessFence fence) throws RequestNotSentException, InterruptedException {
        Issued issued = source.issue(fence);
        if (!issued.isToken()) {
            throw new RequestNotSentException(
                    "its token has characters that a header can't contain, or more than " + LONGEST + " of them");
        }
        Secrets both = Secrets.of(issued.text(), PLACEHOLDER);
        hidden = current.map(before -> both.and(Secrets.of(before.text(), PLACEHOLDER)))
                .orElse(both);
        current = Optional.of(
                new Current(issued.text(), nanoTime.getAsLong() + issued.use().toNanos()));
        return issued.text();
    }

    /** Forgets a token that the server refused, unless there is a newer one. */
    void refused(String text) {
        lock.lock();
        try {
            current = current.map(token -> token.text().equals(text) ? new Current(text, nanoTime.getAsLong()) : token);
        } finally {
            lock.unlock();
        }
    }

    /** The current token, for a message that expects no answer and must not wait for a new token. */
    Optional<String> known() {
        return current.map(Current::text);
    }

    /** Masks the tokens in texts from the server. */
    Secrets hidden() {
        return hidden;
    }
}
