package dev.waymark.worker.model.http;

import dev.waymark.model.ModelFailure;
import dev.waymark.worker.secret.Secrets;
import dev.waymark.worker.secret.StreamMask;
import java.util.Locale;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.regex.Pattern;
import okhttp3.HttpUrl;

/**
 * A provider's address and key, from the variables {@code NAME_BASE_URL} and {@code NAME_API_KEY}, which the provider's
 * own SDKs read, too. The key is sent in a header only; {@link #withoutKey} masks it in texts.
 */
public final class ProviderService {
    /**
     * The characters that a header can contain. A key with other characters is rejected here, because HTTP libraries
     * quote rejected headers in their messages, including the key.
     */
    private static final Pattern KEY = Pattern.compile("[\\x21-\\x7e]+");

    /**
     * Shorter keys are not masked. Local servers often get {@code none} or {@code ollama} as the key, and replies may
     * contain these words.
     */
    private static final int SHORTEST_SECRET = 8;

    private static final String HIDDEN = "[key]";

    private final String name;
    private final Optional<HttpUrl> base;
    private final Optional<String> key;
    private final Optional<String> lacks;
    private final Secrets secrets;

    private ProviderService(String name, Optional<HttpUrl> base, Optional<String> key, Optional<String> lacks) {
        this.name = name;
        this.base = base;
        this.key = key;
        this.lacks = lacks;
        this.secrets = Secrets.of(
                key.filter(secret -> secret.length() >= SHORTEST_SECRET).orElse(""), HIDDEN);
    }

    /**
     * Reads the address and the key. The key is required only at the provider's own address; local servers often need
     * none.
     *
     * @param home the provider's own address
     */
    public static ProviderService of(String name, String home, Map<String, String> environment) {
        String prefix = name.toUpperCase(Locale.ROOT);
        String keyVariable = prefix + "_API_KEY";
        String baseVariable = prefix + "_BASE_URL";
        Optional<String> key = variable(environment, keyVariable);
        Optional<String> elsewhere = variable(environment, baseVariable);
        Optional<HttpUrl> base = Optional.ofNullable(HttpUrl.parse(elsewhere.orElse(home)));
        if (base.isEmpty()) {
            return new ProviderService(name, base, key, Optional.of(baseVariable + " is not an HTTP address"));
        }
        if (key.isPresent() && !KEY.matcher(key.get()).matches()) {
            return new ProviderService(
                    name,
                    base,
                    key,
                    Optional.of(keyVariable + " holds characters that a key can't have, such as spaces"));
        }
        boolean missing = key.isEmpty() && elsewhere.isEmpty();
        return new ProviderService(
                name, base, key, missing ? Optional.of(keyVariable + " is not set") : Optional.empty());
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
        if (lacks.isPresent()) {
            throw ProviderFailures.NOT_CONFIGURED.failure(
                    lacks.get() + " in the worker's environment: set it, and restart the worker");
        }
        return base.orElseThrow().newBuilder().addPathSegments(path).build();
    }

    /** The key with this prefix, as the value of a header; empty if there is no key. */
    public Optional<String> credentials(String scheme) {
        return key.map(secret -> scheme + secret);
    }

    public boolean isAt(String host) {
        return base.map(HttpUrl::host).filter(host::equals).isPresent();
    }

    /** Masks the key, because a service's answer may quote the request. */
    public String withoutKey(String text) {
        return secrets.mask(text);
    }

    /** Masks the key in a text that arrives in pieces. */
    StreamMask keyMask() {
        return secrets.mask();
    }

    @Override
    public String toString() {
        return Objects.toString(base.map(HttpUrl::redact).orElse(name));
    }
}
