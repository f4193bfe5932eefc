package dev.waymark.worker.outbound;

import dev.waymark.worker.process.CommandResult;
import dev.waymark.worker.process.CommandRunner;
import dev.waymark.worker.process.ProcessFence;
import dev.waymark.worker.secret.Secrets;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.LongSupplier;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * A secret in a header of requests, such as a key or a token, in memory only. It is read again when its time is over and
 * after it was refused, so that a rotated secret needs no restart. Thread-safe.
 */
public final class HeaderSecret {
    /** How long a secret without a known lifetime is used. */
    public static final Duration USUAL_USE = Duration.ofMinutes(5);

    /** The maximum time in which a source is read. */
    public static final Duration LONGEST_READ = Duration.ofSeconds(30);

    /**
     * The characters that a header can contain. A secret with other characters is rejected here, because HTTP libraries
     * quote rejected headers in their messages.
     */
    private static final Pattern CHARACTERS = Pattern.compile("[\\x21-\\x7e]+");

    private static final int LONGEST = 16 * 1024;

    /** Where a secret comes from. */
    public interface Source {
        /** @throws UnavailableException if there is no secret now; it says why, without the secret */
        Issued read(ProcessFence fence) throws UnavailableException, InterruptedException;
    }

    /** @param use how long the secret is used without being read again */
    public record Issued(String text, Duration use) {}

    /** There is no secret now. */
    public static final class UnavailableException extends Exception {
        private static final long serialVersionUID = 1L;

        public UnavailableException(String why) {
            super(why);
        }
    }

    private record Current(String text, long end) {}

    private final String name;
    private final String origin;
    private final int shortest;
    private final Source source;
    private final LongSupplier nanoTime;
    private final ReentrantLock lock = new ReentrantLock();
    private volatile Optional<Current> current = Optional.empty();
    /** Masks the newest secret and the one before, which a server may still quote. */
    private volatile Secrets hidden = Secrets.NONE;

    /**
     * @param name what it is, such as {@code key}; in brackets, it is the placeholder of the secret
     * @param origin where it comes from, for messages
     * @param shortest shorter secrets are not masked
     */
    public HeaderSecret(String name, String origin, int shortest, Source source) {
        this(name, origin, shortest, source, System::nanoTime);
    }

    public HeaderSecret(String name, String origin, int shortest, Source source, LongSupplier nanoTime) {
        this.name = name;
        this.origin = origin;
        this.shortest = shortest;
        this.source = source;
        this.nanoTime = nanoTime;
    }

    /** A secret that is known and does not change. */
    public static HeaderSecret constant(String name, String origin, int shortest, String text) {
        HeaderSecret constant = new HeaderSecret(name, origin, shortest, fence -> new Issued(text, Duration.ZERO));
        constant.keep(text, Duration.ZERO);
        return constant;
    }

    /** A file, which is read for each request. */
    public static Source file(Path file) {
        return fence -> {
            try (InputStream content = Files.newInputStream(file)) {
                return new Issued(new String(content.readNBytes(LONGEST + 2), StandardCharsets.UTF_8), Duration.ZERO);
            } catch (IOException e) {
                throw new UnavailableException(
                        "its file cannot be read (" + e.getClass().getSimpleName() + "): " + file);
            }
        };
    }

    /** A program that prints the secret. Requests that need a new secret wait for one run of it. */
    public static Source program(
            List<String> command, Map<String, String> env, Path directory, Map<String, String> environment) {
        return fence -> {
            CommandResult result = new CommandRunner(environment)
                    .readSecret(command, env, directory, ProcessFence.in(fence.leftUpTo(LONGEST_READ)));
            if (result instanceof CommandResult.Exited exited && exited.code() == 0) {
                return new Issued(exited.stdout(), USUAL_USE);
            }
            throw new UnavailableException(result.words());
        };
    }

    public static boolean isValid(String text) {
        return text.length() <= LONGEST && CHARACTERS.matcher(text).matches();
    }

    /**
     * The secret for a request.
     *
     * @throws UnavailableException if there is none now
     */
    public String text(ProcessFence fence) throws UnavailableException, InterruptedException {
        if (!lock.tryLock(fence.left().toMillis(), TimeUnit.MILLISECONDS)) {
            throw unavailable("it did not arrive in time");
        }
        try {
            Optional<Current> known = current.filter(now -> nanoTime.getAsLong() - now.end() < 0);
            return known.isPresent() ? known.get().text() : read(fence);
        } catch (UnavailableException e) {
            throw unavailable(e.getMessage());
        } finally {
            lock.unlock();
        }
    }

    private UnavailableException unavailable(@Nullable String why) {
        return new UnavailableException("no " + name + " from " + origin + ": " + why);
    }

    private String read(ProcessFence fence) throws UnavailableException, InterruptedException {
        Issued issued = source.read(fence);
        String text = issued.text().strip();
        if (!isValid(text)) {
            throw new UnavailableException(
                    text.isEmpty()
                            ? "it is empty"
                            : "it has characters that a header can't contain, or more than " + LONGEST);
        }
        keep(text, issued.use());
        return text;
    }

    private void keep(String text, Duration use) {
        if (current.map(Current::text).filter(text::equals).isEmpty()) {
            hidden = current.map(before -> mask(text).and(mask(before.text()))).orElseGet(() -> mask(text));
        }
        current = Optional.of(new Current(text, nanoTime.getAsLong() + use.toNanos()));
    }

    private Secrets mask(String text) {
        return Secrets.of(text.length() >= shortest ? text : "", "[" + name + "]");
    }

    /** Reads the secret again before its next use if this is the current one, which was refused. */
    public void refused(String text) {
        lock.lock();
        try {
            current = current.map(now -> now.text().equals(text) ? new Current(text, nanoTime.getAsLong()) : now);
        } finally {
            lock.unlock();
        }
    }

    /** The current secret, for a message that must not wait for a new one. */
    public Optional<String> known() {
        return current.map(Current::text);
    }

    /** Masks the secret in texts from the server. */
    public Secrets hidden() {
        return hidden;
    }
}
