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
 * An MCP server of an agent: a program that communicates over stdin and stdout, or a URL. Histories contain it with
 * each of its tools, so {@code ${NAME}} is kept as written.
 *
 * @param command the program; empty for a server with a URL
 * @param headers the headers of every request to the URL
 * @param token where the token of every request to the URL comes from
 */
@JsonInclude(JsonInclude.Include.NON_EMPTY)
public record McpServer(
        String name,
        List<String> command,
        Map<String, String> env,
        Optional<String> url,
        Map<String, String> headers,
        Optional<McpToken> token) {
    public McpServer {
        Objects.requireNonNull(name, "name");
        command = command == null ? List.of() : List.copyOf(command);
        env = env == null ? Map.of() : Collections.unmodifiableMap(new LinkedHashMap<>(env));
        headers = headers == null ? Map.of() : Collections.unmodifiableMap(new LinkedHashMap<>(headers));
    }

    /** A server that runs as a program. */
    public static McpServer program(String name, List<String> command, Map<String, String> env) {
        return new McpServer(name, command, env, Optional.empty(), Map.of(), Optional.empty());
    }

    /** A server with a URL. */
    public static McpServer at(String name, String url, Map<String, String> headers) {
        return new McpServer(name, List.of(), Map.of(), Optional.of(url), headers, Optional.empty());
    }

    /** A copy that sends a token with every request. */
    public McpServer withToken(McpToken source) {
        return new McpServer(name, command, env, url, headers, Optional.of(source));
    }

    /** The texts in which variables may be referenced. */
    public List<String> references() {
        List<String> references = new ArrayList<>(env.values());
        references.addAll(headers.values());
        token.ifPresent(source -> references.addAll(source.references()));
        return references;
    }
}
