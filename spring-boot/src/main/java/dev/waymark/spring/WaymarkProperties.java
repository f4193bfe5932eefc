package dev.waymark.spring;

import dev.waymark.codec.EncryptionKeys;
import dev.waymark.codec.ThreadKeys;
import dev.waymark.connect.FairShares;
import dev.waymark.worker.announce.Receivers;
import java.nio.file.Path;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Optional;
import org.jspecify.annotations.Nullable;
import org.springframework.boot.context.properties.ConfigurationProperties;
import org.springframework.boot.context.properties.bind.DefaultValue;

/**
 * The settings {@code waymark.*}. Unset values are taken from the environment, under the names that the command line
 * uses: {@code TEMPORAL_ADDRESS}, {@code ANTHROPIC_API_KEY} and so on.
 *
 * @param enabled whether the starter does anything
 * @param address the Temporal server, as {@code host:port}
 * @param namespace the namespace of all threads
 * @param apiKey the API key for the Temporal server
 * @param profile the profile in Temporal's configuration file
 * @param configFile Temporal's configuration file
 * @param tls TLS to the Temporal server
 * @param codecKeys the keys that payloads are encrypted with, or {@code file:PATH}
 * @param threadKeys where the keys of threads are stored, if each new thread gets a key of its own: {@code
 * file:DIRECTORY} or the URL of a database
 * @param shares weights of owners and agents, such as {@code subject:ann=2,agent:batch=0.5}
 * @param receivers a file with the receivers of announcements
 * @param publicUrl where people open the console, for links in announcements
 * @param taskQueue the task queue of threads and of the worker
 * @param agents a directory of agent files
 * @param models a file about models, which takes precedence over the built-in table
 * @param limits a file with the limits of model services
 * @param writeAgents a file to write the agents of the application to; then the application ends
 * @param problemDetails whether failed requests of controllers are answered with a problem detail
 * @param anthropic the service of {@code anthropic:} models
 * @param openai the service of {@code openai:} models
 * @param worker the worker in this application
 * @param schedules schedules by name, which the application creates or replaces when it starts
 */
@ConfigurationProperties("waymark")
public record WaymarkProperties(
        @DefaultValue("true") boolean enabled,
        @Nullable String address,
        @Nullable String namespace,
        @Nullable String apiKey,
        @Nullable String profile,
        @Nullable Path configFile,
        @DefaultValue Tls tls,
        @Nullable String codecKeys,
        @Nullable String threadKeys,
        @Nullable String shares,
        @Nullable Path receivers,
        @Nullable String publicUrl,
        @DefaultValue("waymark") String taskQueue,
        @Nullable Path agents,
        @Nullable Path models,
        @Nullable Path limits,
        @Nullable Path writeAgents,
        @DefaultValue("true") boolean problemDetails,
        @DefaultValue ModelService anthropic,
        @DefaultValue ModelService openai,
        @DefaultValue WorkerSettings worker,
        @DefaultValue Map<String, ScheduleSettings> schedules) {

    /**
     * TLS to the Temporal server.
     *
     * @param enabled whether TLS is used; on by default if one of the other settings is set
     * @param serverName the name to verify in the server's certificate
     * @param caCertificate the certificate authority, a PEM file
     * @param clientCertificate the certificate for mutual TLS, a PEM file
     * @param clientKey the private key of the client certificate, a PEM file
     */
    public record Tls(
            @Nullable Boolean enabled,
            @Nullable String serverName,
            @Nullable Path caCertificate,
            @Nullable Path clientCertificate,
            @Nullable Path clientKey) {}

    /**
     * The service behind a model provider.
     *
     * @param apiKey the API key for the service
     * @param baseUrl the address to use instead of the service's usual one
     */
    public record ModelService(
            @Nullable String apiKey, @Nullable String baseUrl) {
        /** Omits the key. */
        @Override
        public String toString() {
            return "ModelService[baseUrl=" + baseUrl + "]";
        }
    }

    /**
     * The worker in this application.
     *
     * @param enabled whether the application runs agents; otherwise it is a client only
     * @param drainTimeout how long running calls may take to finish when the application stops
     * @param deployment the worker deployment that the worker is a version of
     * @param buildId the version within the deployment
     * @param pinned whether threads stay with the build that executes them, and continue as new on the current one;
     *     needs a Temporal server from 1.31 on
     * @param journal a directory in which the workers of this host note their claimed calls, so that the next worker
     *     can report those of a killed one at once
     */
    public record WorkerSettings(
            @DefaultValue("true") boolean enabled,
            @DefaultValue("30s") Duration drainTimeout,
            @Nullable String deployment,
            @Nullable String buildId,
            @DefaultValue("false") boolean pinned,
            @Nullable Path journal) {}

    /**
     * A schedule. Has one of {@code cron}, {@code every} and {@code calendar}.
     *
     * @param agent the agent of the threads
     * @param message the first message of each thread
     * @param cron a cron expression of five fields
     * @param every an interval
     * @param calendar values of second, minute, hour, dayOfMonth, month, year and dayOfWeek
     * @param timezone the time zone of the times
     * @param overlap what happens while the previous thread is open: skip, buffer, cancel or allow
     * @param jitter each start is delayed by up to this time
     */
    public record ScheduleSettings(
            String agent,
            String message,
            @Nullable String cron,
            @Nullable Duration every,
            @Nullable Map<String, String> calendar,
            @DefaultValue("UTC") String timezone,
            @DefaultValue("skip") String overlap,
            @DefaultValue("0s") Duration jitter) {}

    /** Returns the environment variables, overridden by the settings that are given. */
    Map<String, String> over(Map<String, String> environment) {
        Map<String, String> variables = new LinkedHashMap<>(environment);
        put(variables, "TEMPORAL_ADDRESS", address);
        put(variables, "TEMPORAL_NAMESPACE", namespace);
        put(variables, "TEMPORAL_API_KEY", apiKey);
        put(variables, "TEMPORAL_PROFILE", profile);
        put(variables, "TEMPORAL_CONFIG_FILE", configFile);
        put(variables, "TEMPORAL_TLS", tls.enabled());
        put(variables, "TEMPORAL_TLS_SERVER_NAME", tls.serverName());
        put(variables, "TEMPORAL_TLS_SERVER_CA_CERT_PATH", tls.caCertificate());
        put(variables, "TEMPORAL_TLS_CLIENT_CERT_PATH", tls.clientCertificate());
        put(variables, "TEMPORAL_TLS_CLIENT_KEY_PATH", tls.clientKey());
        put(variables, EncryptionKeys.VARIABLE, codecKeys);
        put(variables, ThreadKeys.VARIABLE, threadKeys);
        put(variables, FairShares.VARIABLE, shares);
        put(variables, Receivers.FILE_VARIABLE, receivers);
        put(variables, Receivers.URL_VARIABLE, publicUrl);
        put(variables, "ANTHROPIC_API_KEY", anthropic.apiKey());
        put(variables, "ANTHROPIC_BASE_URL", anthropic.baseUrl());
        put(variables, "OPENAI_API_KEY", openai.apiKey());
        put(variables, "OPENAI_BASE_URL", openai.baseUrl());
        return variables;
    }

    private static void put(Map<String, String> variables, String name, @Nullable Object value) {
        Optional.ofNullable(value)
                .map(Object::toString)
                .filter(text -> !text.isBlank())
                .ifPresent(text -> variables.put(name, text));
    }

    /** Omits all keys. */
    @Override
    public String toString() {
        return "WaymarkProperties[address=" + address + ", namespace=" + namespace + ", taskQueue=" + taskQueue + "]";
    }
}
