package dev.waymark.worker.tool.mcp;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.waymark.contract.McpNames;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Optional;

/**
 * A request to a server, without its id.
 *
 * @param version the version that the request names; empty if a handshake has agreed on one
 * @param name what the request is about, such as a tool: proxies may read it
 * @param headers further headers of a request over HTTP
 * @param suspends whether the server may answer with a task, or with what it requires to go on
 * @param once whether it may take effect, and so must not be sent twice
 */
record RpcRequest(
        String method,
        ObjectNode params,
        Optional<String> version,
        Optional<String> name,
        Map<String, String> headers,
        boolean suspends,
        boolean once) {
    RpcRequest {
        headers = Collections.unmodifiableMap(new LinkedHashMap<>(headers));
    }

    static RpcRequest of(String method, ObjectNode params) {
        return new RpcRequest(method, params, Optional.empty(), Optional.empty(), Map.of(), false, false);
    }

    RpcRequest about(String name) {
        return new RpcRequest(method, params, version, Optional.of(name), headers, suspends, once);
    }

    RpcRequest withHeaders(Map<String, String> more) {
        return new RpcRequest(method, params, version, name, more, suspends, once);
    }

    RpcRequest suspending() {
        return new RpcRequest(method, params, version, name, headers, true, once);
    }

    RpcRequest sentOnce() {
        return new RpcRequest(method, params, version, name, headers, suspends, true);
    }

    boolean isStateless() {
        return version.isPresent();
    }

    /** This request with everything that a server needs to handle it without an earlier request. */
    RpcRequest stateless() {
        ObjectNode whole = params.deepCopy();
        JsonNode given = whole.path(McpNames.META);
        ObjectNode meta = whole.putObject(McpNames.META);
        meta.put(McpNames.PROTOCOL_VERSION, McpNames.MODERN);
        meta.set(McpNames.CLIENT_INFO, JsonRpc.thisClient());
        meta.set(McpNames.CLIENT_CAPABILITIES, capabilities());
        given.properties().forEach(entry -> meta.set(entry.getKey(), entry.getValue()));
        return new RpcRequest(method, whole, Optional.of(McpNames.MODERN), name, headers, suspends, once);
    }

    private ObjectNode capabilities() {
        ObjectNode capabilities = JsonRpc.object();
        if (suspends) {
            ObjectNode modes = capabilities.putObject("elicitation");
            modes.putObject("form");
            modes.putObject("url");
            capabilities.putObject("extensions").putObject(McpNames.TASKS);
        }
        return capabilities;
    }
}
