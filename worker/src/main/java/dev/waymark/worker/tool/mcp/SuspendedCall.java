package dev.waymark.worker.tool.mcp;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.waymark.contract.McpNames;
import dev.waymark.contract.PayloadJson;
import dev.waymark.conversation.call.InputForm;
import dev.waymark.conversation.call.Suspension;
import dev.waymark.conversation.value.Json;
import dev.waymark.worker.tool.kind.Effect;
import java.net.IDN;
import java.time.Duration;
import java.time.Instant;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * Reads a task, or a request for input, which a server returns instead of the result of a call. Everything is checked
 * and bounded here, because it becomes part of the thread's state.
 */
final class SuspendedCall {
    private static final String TASK = "task";
    private static final String INPUT_REQUIRED = "input_required";
    private static final int LONGEST_TASK_ID = 1_024;
    private static final Duration SHORTEST_POLL = Duration.ofSeconds(1);
    private static final Duration USUAL_POLL = Duration.ofSeconds(5);
    private static final Duration LONGEST_POLL = Duration.ofHours(1);

    private static final Pattern ADDRESS =
            Pattern.compile("([A-Za-z]+://(?:[^/?#\\\\]*@)?)([^/?#@\\\\:]+)(.*)", Pattern.DOTALL);

    private SuspendedCall() {}

    static boolean isOfType(String resultType) {
        return resultType.equals(TASK) || resultType.equals(INPUT_REQUIRED);
    }

    static McpResult of(String resultType, JsonNode result) {
        return resultType.equals(TASK) ? task(result) : repeated(result);
    }

    private static McpResult task(JsonNode result) {
        String id = result.path("taskId").asText("");
        if (id.isBlank() || id.length() > LONGEST_TASK_ID) {
            return new McpResult("its task has no id of 1 to " + LONGEST_TASK_ID + " characters", Effect.UNKNOWN);
        }
        return checked(Suspension.task(id, Map.of(), pollInterval(result).toMillis(), expiry(result)));
    }

    private static McpResult repeated(JsonNode result) {
        JsonNode state = result.path("requestState");
        Map<String, Json> requests = requests(result);
        if (requests.isEmpty() && !state.isTextual()) {
            return new McpResult("it requires input and does not say which", Effect.UNKNOWN);
        }
        return checked(Suspension.repeated(
                Optional.of(state).filter(JsonNode::isTextual).map(JsonNode::asText), requests));
    }

    /** The requests of a task that have not been answered yet. */
    static Optional<McpResult> required(JsonNode task, Suspension known) {
        Map<String, Json> requests = requests(task);
        requests.keySet().removeAll(known.answers().keySet());
        return requests.isEmpty()
                ? Optional.empty()
                : Optional.of(checked(Suspension.task(
                        known.task().orElseThrow(), requests, 0, expiry(task).or(known::until))));
    }

    private static McpResult checked(Suspension how) {
        for (Json request : how.requests().values()) {
            Optional<String> problem = new InputForm(request).problem();
            if (problem.isPresent()) {
                return new McpResult(problem.get(), Effect.UNKNOWN);
            }
        }
        try {
            int bytes = PayloadJson.MAPPER.writeValueAsBytes(how).length;
            return bytes <= Suspension.MAX_BYTES
                    ? McpResult.suspended(how)
                    : new McpResult(
                            "its requests for input take " + bytes + " bytes, of at most " + Suspension.MAX_BYTES,
                            Effect.UNKNOWN);
        } catch (JsonProcessingException e) {
            throw new IllegalStateException("cannot write the suspension as JSON", e);
        }
    }

    /** The requests by key. A request of a kind that was not offered is kept without its parameters. */
    private static Map<String, Json> requests(JsonNode result) {
        Map<String, Json> requests = new LinkedHashMap<>();
        result.path("inputRequests").properties().forEach(request -> {
            JsonNode said = request.getValue();
            requests.put(
                    request.getKey(),
                    said.path("method").asText().equals(McpNames.ELICIT)
                            ? json(withPlainHost(said.path("params")))
                            : Json.EMPTY_OBJECT);
        });
        return requests;
    }

    /**
     * The parameters with the host of their address in ASCII, as browsers resolve it, because letters of other scripts
     * can imitate a trusted host. If a host has no such form, the address is removed.
     */
    private static JsonNode withPlainHost(JsonNode params) {
        Matcher address = ADDRESS.matcher(params.path("url").asText());
        if (!params.isObject() || !address.matches()) {
            return params;
        }
        ObjectNode plain = params.deepCopy();
        String host = address.group(2);
        try {
            if (host.contains("%")) {
                plain.remove("url"); // Browsers decode the host first.
            } else if (!host.chars().allMatch(each -> each < 128)) {
                plain.put("url", address.group(1) + IDN.toASCII(host) + address.group(3));
            }
        } catch (IllegalArgumentException e) {
            plain.remove("url");
        }
        return plain;
    }

    private static Json json(JsonNode node) {
        try {
            return PayloadJson.MAPPER.treeToValue(node, Json.class);
        } catch (JsonProcessingException | IllegalArgumentException e) {
            return Json.EMPTY_OBJECT;
        }
    }

    static Duration pollInterval(JsonNode task) {
        JsonNode millis = task.path("pollIntervalMs");
        Duration wanted = millis.isNumber() ? Duration.ofMillis(millis.asLong()) : USUAL_POLL;
        return wanted.compareTo(SHORTEST_POLL) < 0
                ? SHORTEST_POLL
                : wanted.compareTo(LONGEST_POLL) > 0 ? LONGEST_POLL : wanted;
    }

    /** When the server may forget the task, by this machine's clock, because the two clocks may differ. */
    private static Optional<Instant> expiry(JsonNode task) {
        JsonNode millis = task.path("ttlMs");
        return millis.isNumber() && millis.asLong() > 0
                ? Optional.of(Instant.now()
                        .plusMillis(Math.min(
                                millis.asLong(), Duration.ofDays(36_500).toMillis())))
                : Optional.empty();
    }
}
