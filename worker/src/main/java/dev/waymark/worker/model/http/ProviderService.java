package dev.waymark.worker.model.http;

import dev.waymark.conversation.message.Reply;
import dev.waymark.model.ModelFailure;
import dev.waymark.worker.secret.Secrets;
import dev.waymark.worker.secret.StreamMask;
import java.nio.file.Path;
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
    private final String name;
    private final Optional<HttpUrl> base;
    private final Optional<ProviderKey> key;
    private final Optional<String> lacks;

    private ProviderService(String name, Optional<HttpUrl> base, Optional<ProviderKey> key, Optional<String> lacks) {
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
        List<String> keys = Stream.of("", ProviderKey.FILE, ProviderKey.COMMAND)
                .map(keyVariable::concat)
                .filter(variable -> variable(environment, variable).isPresent())
                .toList();
        Optional<ProviderKey> key = keys.stream().findFirst().map(variable -> key(keyVariable, variable, environment));
        Optional<String> elsewhere = variable(environment, baseVariable);
        Optional<HttpUrl> base = Optional.ofNullable(HttpUrl.parse(elsewhere.orElse(home)));
        Optional<String> lacks = Optional.empty();
        if (base.isEmpty()) {
            lacks = Optional.of(baseVariable + " is not an HTTP address");
        } else if (keys.size() > 1) {
            lacks = Optional.of("only one may be set of " + String.join(" and ", keys));
        } else if (keys.contains(keyVariable)
                && !ProviderKey.isValid(variable(environment, keyVariable).orElseThrow())) {
            lacks = Optional.of(keyVariable + " holds characters that a key can't have, such as spaces");
        } else if (keys.isEmpty() && elsewhere.isEmpty()) {
            lacks = Optional.of(keyVariable + " is not set");
        }
        return new ProviderService(name, base, key, lacks);
    }

    private static ProviderKey key(String keyVariable, String variable, Map<String, String> environment) {
        String value = variable(environment, variable).orElseThrow();
        if (variable.equals(keyVariable)) {
            return ProviderKey.constant(value);
        }
        return variable.endsWith(ProviderKey.FILE)
                ? ProviderKey.inFile(variable, Path.of(value))
                : ProviderKey.ofCommand(variable, value, environment);
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
        String sent = key.get().text();
        try {
            return sending.send(Optional.of(sent));
        } catch (ModelFailure failure) {
            boolean isRefused = failure.type().equals(ProviderFailures.UNAUTHORIZED.type());
            if (!isRefused || !key.get().isReplaced(sent)) {
                throw failure;
            }
        }
        return sending.send(Optional.of(key.get().text()));
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
        return key.map(ProviderKey::hidden).orElse(Secrets.NONE);
    }

    @Override
    public String toString() {
        return Objects.toString(base.map(HttpUrl::redact).orElse(name));
    }
}
