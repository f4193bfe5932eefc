package dev.waymark.worker.secret;

import dev.waymark.connect.ProcessEnvironment;
import java.util.Collection;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;

/**
 * Masks secrets in the log of this process: the values of variables whose names look like names of secrets, and of
 * variables that an agent references. Thread-safe.
 */
public final class LogSecrets {
    private static final LogSecrets OF_THIS_PROCESS = new LogSecrets(ProcessEnvironment.get());

    private final Map<String, String> environment;
    private final Set<String> texts = ConcurrentHashMap.newKeySet();
    private volatile Secrets secrets;

    LogSecrets(Map<String, String> environment) {
        this.environment = environment;
        this.secrets = Secrets.of(Set.of(), environment);
    }

    public static LogSecrets ofThisProcess() {
        return OF_THIS_PROCESS;
    }

    /**
     * Also masks the values of the variables that texts reference as <code>${NAME}</code>.
     *
     * @param more the texts
     * @param open variables that are not secret and are not masked
     */
    public void learn(Collection<String> more, Collection<String> open) {
        if (texts.addAll(more)) {
            secrets = Secrets.of(texts, environment).except(open);
        }
    }

    public String mask(String line) {
        return secrets.mask(line);
    }
}
