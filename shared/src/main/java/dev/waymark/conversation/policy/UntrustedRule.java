package dev.waymark.conversation.policy;

import java.util.Collections;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;

/**
 * Where untrusted words come from in an agent that distinguishes them.
 *
 * @param tools the tools whose results are untrusted
 * @param servers the MCP servers that have described such tools
 */
public record UntrustedRule(Set<String> tools, List<String> servers) {
    public UntrustedRule {
        tools = tools == null ? Collections.emptySet() : Collections.unmodifiableSet(new TreeSet<>(tools));
        servers = servers == null ? List.of() : List.copyOf(servers);
    }
}
