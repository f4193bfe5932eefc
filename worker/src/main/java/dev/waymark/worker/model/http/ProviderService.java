package dev.waymark.worker.model.http;

import dev.waymark.conversation.message.Reply;
import dev.waymark.model.ModelFailure;
import dev.waymark.worker.outbound.HeaderSecret;
import dev.waymark.worker.process.ProcessFence;
import dev.waymark.worker.secret.Secrets;
import dev.waymark.worker.secret.StreamMask;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.stream.Stream;
import okhttp3.HttpUrl;

/**
 * A provider's address and key, from the variables {@code NAME_BASE_URL} and {@code NAME_API_KEY}, which the provider's
 * own SDKs read, too. Instead of the key, {@code NAME_API_KEY_FILE} names a file with it, and {@code
 * NAME_API_KEY_COMMAND} a command that prints it. The key is sent in a header only; {@link #withoutKey} masks it in
 * texts.
 */
public final class ProviderService {
    private static final String FILE = "_FILE";
    private static final String COMMAND = "_COMMAND";
    private static final String KEY = "key";

    /**
     * Shorter keys are not masked. Local servers often get {@code none} or {@code ollama} as the key, and replies may
     * contain these words.
     */
    private static final int SHORTEST_SECRET = 8;

    /** A request may have to wait for a program that another request has started, and then for its own. */
    private static final Duration LONGEST_WAIT = HeaderSecret.LONGEST_READ.multipliedBy(2);

    private final String name;
    private final Optional<HttpUrl> base;
    private final Optional<HeaderSecret> key;
    private final Optional<String> lacks;

    private ProviderService(String name, Optional<HttpUrl> base, Optional<HeaderSecret> key, Optional<String> lacks) {
        this.name = name;
        this.base = base;
        this.key = key;
        this.lacks = lacks;
    }

    /**
     * Reads the address, and where the key is. A key is required only at the provider's own address; local servers
     * often need none.
     *
     * @param home the provider's own address
     */
    public static ProviderService of(String name, String home, Map<String, String> environment) {
        String prefix = name.toUpperCase(Locale.ROOT);
        String keyVariable = prefix + "_API_KEY";
        String baseVariable = prefix + "_BASE_URL";
        List<String> keys = Stream.of("", FILE, COMMAND)
                .map(keyVariable::concat)
                .filter(variable -> variable(environment, variable).isPresent())
                .toList();
        Optional<HeaderSecret> key = keys.stream().findFirst().map(variable -> key(keyVariable, variable, environment));
        Optional<String> elsewhere = variable(environment, baseVariable);
        Optional<HttpUrl> base = Optional.ofNullable(HttpUrl.parse(elsewhere.orElse(home)));
        Optional<String> lacks = Optional.empty();
        if (base.isEmpty()) {
            lacks = Optional.of(baseVariable + " is not an HTTP address");
        } else if (keys.size() > 1) {
            lacks = Optional.of("only one may be set of " + String.join(" and ", keys));
        } else if (keys.contains(keyVariable)
                && !HeaderSecret.isValid(variable(environment, keyVariable).orElseThrow())) {
            lacks = Optional.of(keyVariable + " holds characters that a key can't have, such as spaces");
        } else if (keys.isEmpty() && elsewhere.isEmpty()) {
            lacks = Optional.of(keyVariable + " is not set");
        }
        return new ProviderService(name, base, key, lacks);
    }

    private static HeaderSecret key(String keyVariable, String variable, Map<String, String> environment) {
        String value = variable(environment, variable).orElseThrow();
        if (variable.equals(keyVariable)) {
            return HeaderSecret.constant(KEY, variable, SHORTEST_SECRET, value);
        }
        return new HeaderSecret(
                KEY,
                variable,
                SHORTEST_SECRET,
                variable.endsWith(FILE)
                        ? HeaderSecret.file(Path.of(value))
                        : HeaderSecret.program(
                                List.of("/bin/sh", "-c", value),
                                Map.of(),
                                Path.of("").toAbsolutePath(),
                                environment));
    }

    private static Optional<String> variable(Map<String, String> environment, String name) {
        return Optional.ofNullable(environment.get(name)).map(String::strip).filter(value -> !value.isEmpty());
    }

    public String name() {
        return name;
    }

    /** The missing or invalid setting, if any. */
    public Optional<String> lacks() {
        return lacks;
    }

    /**
     * Returns the URL of this path below the service's address.
     *
     * @throws ModelFailure if a setting is missing or invalid
     */
    public HttpUrl at(String path) throws ModelFailure {
        requireSettings();
        return base.orElseThrow().newBuilder().addPathSegments(path).build();
    }

    private void requireSettings() throws ModelFailure {
        if (lacks.isPresent()) {
            throw ProviderFailures.NOT_CONFIGURED.failure(
                    lacks.get() + " in the worker's environment: change that, and restart the worker");
        }
    }

    /** Sends a request, with a key if there is one. */
    public interface Sending {
        Reply send(Optional<String> key) throws ModelFailure, InterruptedException;
    }

    /**
     * Sends a request with the key. If the service refuses the key, and it has been replaced since, sends the request
     * once more with the new one: the refused request had no effect.
     *
     * @throws ModelFailure also if a setting is missing or invalid, or if the key cannot be read now
     */
    public Reply send(Sending sending) throws ModelFailure, InterruptedException {
        requireSettings();
        if (key.isEmpty()) {
            return sending.send(Optional.empty());
        }
        String sent = key();
        try {
            return sending.send(Optional.of(sent));
        } catch (ModelFailure failure) {
            if (!failure.type().equals(ProviderFailures.UNAUTHORIZED.type())) {
                throw failure;
            }
            key.get().refused(sent);
            String other = key();
            if (other.equals(sent)) {
                throw failure;
            }
            return sending.send(Optional.of(other));
        }
    }

    private String key() throws ModelFailure, InterruptedException {
        try {
            return key.orElseThrow().text(ProcessFence.in(LONGEST_WAIT));
        } catch (HeaderSecret.UnavailableException e) {
            throw ProviderFailures.KEY_UNAVAILABLE.failure(String.valueOf(e.getMessage()));
        }
    }

    public boolean isAt(String host) {
        return base.map(HttpUrl::host).filter(host::equals).isPresent();
    }

    /** Masks the key, because a service's answer may quote the request. */
    public String withoutKey(String text) {
        return hidden().mask(text);
    }

    /** Masks the key in a text that arrives in pieces. */
    StreamMask keyMask() {
        return hidden().mask();
    }

    private Secrets hidden() {
        return key.map(HeaderSecret::hidden).orElse(Secrets.NONE);
    }

    @Override
    public String toString() {
        return Objects.toString(base.map(HttpUrl::redact).orElse(name));
    }
}
