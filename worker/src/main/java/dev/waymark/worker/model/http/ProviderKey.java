package dev.waymark.worker.model.http;

import dev.waymark.model.ModelFailure;
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
import java.util.regex.Pattern;

/**
 * The key of a provider: none, a constant, or one that is read anew, so that a rotated key needs no restart. A file is
 * read for each request; a program runs every five minutes, and after the service has refused its key. Thread-safe.
 */
final class ProviderKey {
    static final String FILE = "_FILE";
    static final String COMMAND = "_COMMAND";

    /**
     * The characters that a header can contain. A key with other characters is rejected here, because HTTP libraries
     * quote rejected headers in their messages, including the key.
     */
    private static final Pattern CHARACTERS = Pattern.compile("[\\x21-\\x7e]+");

    /**
     * Shorter keys are not masked. Local servers often get {@code none} or {@code ollama} as the key, and replies may
     * contain these words.
     */
    private static final int SHORTEST_SECRET = 8;

    private static final int LONGEST = 16 * 1024;
    private static final String HIDDEN = "[key]";
    private static final long COMMAND_USE_NANOS = Duration.ofMinutes(5).toNanos();
    private static final Duration LONGEST_COMMAND = Duration.ofSeconds(30);

    private final Source source;
    private Optional<String> newest = Optional.empty();
    /** Masks the newest key and the one before, which a service may still quote. */
    private volatile Secrets hidden = Secrets.NONE;

    /** Where the key comes from. */
    interface Source {
        /** @throws ModelFailure if there is no key now; it says why, without the key */
        String read() throws ModelFailure, InterruptedException;

        /** Called when the service has refused this key. */
        default void refused(String key) {}
    }

    private ProviderKey(Source source) {
        this.source = source;
    }

    static boolean isValid(String key) {
        return key.length() <= LONGEST && CHARACTERS.matcher(key).matches();
    }

    static ProviderKey constant(String key) {
        ProviderKey constant = new ProviderKey(() -> key);
        constant.remember(key);
        return constant;
    }

    static ProviderKey inFile(String variable, Path file) {
        return new ProviderKey(() -> {
            try (InputStream content = Files.newInputStream(file)) {
                return checked(variable, new String(content.readNBytes(LONGEST + 2), StandardCharsets.UTF_8));
            } catch (IOException e) {
                throw unavailable(
                        variable, "its file cannot be read (" + e.getClass().getSimpleName() + "): " + file);
            }
        });
    }

    static ProviderKey ofCommand(String variable, String command, Map<String, String> environment) {
        return new ProviderKey(new Program(variable, command, environment));
    }

    /** The key for a request. */
    synchronized String text() throws ModelFailure, InterruptedException {
        String key = source.read();
        remember(key);
        return key;
    }

    /** Whether the service refused a key that has been replaced since. */
    boolean isReplaced(String refused) throws ModelFailure, InterruptedException {
        synchronized (this) {
            source.refused(refused);
        }
        return !text().equals(refused);
    }

    Secrets hidden() {
        return hidden;
    }

    private void remember(String key) {
        if (newest.filter(key::equals).isEmpty()) {
            Secrets both = secret(key);
            hidden = newest.map(before -> both.and(secret(before))).orElse(both);
            newest = Optional.of(key);
        }
    }

    private static Secrets secret(String key) {
        return Secrets.of(key.length() >= SHORTEST_SECRET ? key : "", HIDDEN);
    }

    private static String checked(String variable, String text) throws ModelFailure {
        String key = text.strip();
        if (!isValid(key)) {
            throw unavailable(
                    variable,
                    key.isEmpty() ? "it is empty" : "it has characters that a key can't have, or more than " + LONGEST);
        }
        return key;
    }

    private static ModelFailure unavailable(String variable, String why) {
        return ProviderFailures.KEY_UNAVAILABLE.failure("no key from " + variable + ": " + why);
    }

    /** A program that prints the key. Requests that need a new key wait for one run of it. */
    private static final class Program implements Source {
        private final String variable;
        private final String command;
        private final Map<String, String> environment;
        private Optional<String> current = Optional.empty();
        private long readAt;

        Program(String variable, String command, Map<String, String> environment) {
            this.variable = variable;
            this.command = command;
            this.environment = environment;
        }

        @Override
        public String read() throws ModelFailure, InterruptedException {
            if (current.isEmpty() || System.nanoTime() - readAt > COMMAND_USE_NANOS) {
                current = Optional.of(run());
                readAt = System.nanoTime();
            }
            return current.get();
        }

        private String run() throws ModelFailure, InterruptedException {
            CommandResult result = new CommandRunner(environment)
                    .readSecret(
                            List.of("/bin/sh", "-c", command),
                            Map.of(),
                            Path.of("").toAbsolutePath(),
                            ProcessFence.in(LONGEST_COMMAND));
            if (result instanceof CommandResult.Exited exited && exited.code() == 0) {
                return checked(variable, exited.stdout());
            }
            throw unavailable(variable, result.words());
        }

        @Override
        public void refused(String key) {
            current = current.filter(known -> !known.equals(key));
        }
    }
}
