package dev.waymark.agent;

import com.fasterxml.jackson.annotation.JsonInclude;
import java.util.ArrayList;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;

/**
 * Where workers get the token of a remote MCP server: from a program that prints it, or for client credentials of
 * OAuth. Histories contain it, so {@code ${NAME}} is kept as written.
 *
 * @param command the program; empty for client credentials
 * @param env the variables of the program
 */
@JsonInclude(JsonInclude.Include.NON_EMPTY)
public record McpToken(List<String> command, Map<String, String> env, Optional<ClientCredentials> client) {
    public McpToken {
        command = command == null ? List.of() : List.copyOf(command);
        env = env == null ? Map.of() : Collections.unmodifiableMap(new LinkedHashMap<>(env));
    }

    /**
     * The grant {@code client_credentials} of OAuth 2.
     *
     * @param url the token endpoint
     * @param secret a reference to the secret
     * @param scope the scopes to ask for, separated by spaces
     */
    @JsonInclude(JsonInclude.Include.NON_EMPTY)
    public record ClientCredentials(String url, String id, String secret, Optional<String> scope) {
        public ClientCredentials {
            Objects.requireNonNull(url, "url");
            Objects.requireNonNull(id, "id");
            Objects.requireNonNull(secret, "secret");
        }
    }

    /** A token that a program prints, with these variables. */
    public static McpToken printedBy(List<String> command, Map<String, String> env) {
        return new McpToken(command, env, Optional.empty());
    }

    /** A token for client credentials. */
    public static McpToken grantedTo(ClientCredentials client) {
        return new McpToken(List.of(), Map.of(), Optional.of(client));
    }

    /** The texts in which variables may be referenced. */
    public List<String> references() {
        List<String> references = new ArrayList<>(env.values());
        client.ifPresent(credentials -> references.addAll(List.of(credentials.id(), credentials.secret())));
        return references;
    }
}
