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
 * Where a provider is and with which key it is asked, as {@code NAME_BASE_URL} and {@code NAME_API_KEY} say, by which
 * its own SDKs go too. The key leaves this class only for a header: {@link #withoutKey} takes it out of everything else.
 */
public final class ProviderService {
    /** What may stand in a header. HTTP libraries quote a header that they refuse, key and all. */
    private static final Pattern KEY = Pattern.compile("[\\x21-\\x7e]+");

    /** Servers of one's own are given {@code none} and {@code ollama} for a key, which are words that a model may use. */
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
     * A key is needed at the provider's own address only: a server of one's own often takes none.
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
                    name, base, key, Optional.of(keyVariable + " holds what no key can: spaces, or worse"));
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

    /** What is missing before it can be asked. */
    public Optional<String> lacks() {
        return lacks;
    }

    /** This path below the service's address. */
    public HttpUrl at(String path) throws ModelFailure {
        if (lacks.isPresent()) {
            throw ProviderFailures.NOT_CONFIGURED.failure(
                    lacks.get() + " in the worker's environment: set it, and start the worker again");
        }
        return base.orElseThrow().newBuilder().addPathSegments(path).build();
    }

    /** What stands in front of the key in a header, and the key. */
    public Optional<String> credentials(String scheme) {
        return key.map(secret -> scheme + secret);
    }

    public boolean isAt(String host) {
        return base.map(HttpUrl::host).filter(host::equals).isPresent();
    }

    /** What a service sends may quote what it was sent. */
    public String withoutKey(String text) {
        return secrets.mask(text);
    }

    /** The same for a text that comes in pieces. */
    public StreamMask keyMask() {
        return secrets.mask();
    }

    @Override
    public String toString() {
        return Objects.toString(base.map(HttpUrl::redact).orElse(name));
    }
}
