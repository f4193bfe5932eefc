package dev.waymark.testkit.model;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.waymark.testkit.model.ModelAnswer.Piece;
import java.net.URI;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;

/** Anthropic's Messages API: {@code POST /v1/messages}. */
public final class AnthropicServer extends ModelServer {
    private static final String ID = "[a-zA-Z0-9_-]+";
    private static final String NAME = "[a-zA-Z0-9_-]{1,64}";
    private static final int MOST_MARKS = 4;
    private static final int LEAST_THINKING = 1024;
    private static final Set<String> IMAGES = Set.of("image/jpeg", "image/png", "image/gif", "image/webp");

    /** Blocks that may only be sent back to the model that made them. */
    private final Set<Issued> issued = ConcurrentHashMap.newKeySet();

    private record Issued(String model, JsonNode block) {}

    public AnthropicServer() {
        super("/v1/messages");
    }

    @Override
    public Map<String, String> environment() {
        return Map.of("ANTHROPIC_BASE_URL", address(), "ANTHROPIC_API_KEY", KEY);
    }

    @Override
    boolean isAllowed(Map<String, String> headers) {
        return KEY.equals(headers.get("x-api-key"));
    }

    @Override
    void check(URI uri, Map<String, String> headers, JsonNode body) {
        demand("2023-06-01".equals(headers.get("anthropic-version")), "anthropic-version: header is required");
        demandFields(
                body,
                List.of(
                        "model",
                        "max_tokens",
                        "system",
                        "messages",
                        "tools",
                        "tool_choice",
                        "temperature",
                        "thinking",
                        "output_config",
                        "service_tier",
                        "stream"));
        demand(!body.path("model").asText().isEmpty(), "model: Field required");
        demand(body.path("max_tokens").asInt() >= 1, "max_tokens: must be at least 1");
        demand(body.path("stream").asBoolean(), "stream: this server only streams");
        body.path("system").forEach(AnthropicServer::checkText);
        checkTools(body);
        checkMessages(body);
        checkToolChoice(body);
        demandFields(body.path("output_config"), List.of("effort", "format"));
        if (body.path("output_config").has("format")) {
            JsonNode format = body.path("output_config").path("format");
            demandFields(format, List.of("type", "schema"));
            demand(format.path("type").asText().equals("json_schema"), "output_config.format.type: " + format);
            StrictSchemas.check(format.path("schema"), "output_config.format.schema");
        }
        if (body.has("thinking")) {
            checkThinking(body);
        }
        demand(
                body.findValues("cache_control").size() <= MOST_MARKS,
                "A maximum of 4 blocks with cache_control may be provided");
    }

    private static void checkToolChoice(JsonNode body) {
        JsonNode choice = body.path("tool_choice");
        if (choice.isMissingNode()) {
            return;
        }
        demandFields(choice, List.of("type", "name", "disable_parallel_tool_use"));
        String type = choice.path("type").asText();
        demand(!body.path("tools").isEmpty(), "tool_choice: may only be specified while providing tools");
        demand(Set.of("auto", "any", "none", "tool").contains(type), "tool_choice.type: " + choice);
        demand(
                !Set.of("any", "tool").contains(type)
                        || body.path("thinking").path("type").asText("disabled").equals("disabled"),
                "Thinking may not be enabled when tool_choice forces tool use.");
        demand(
                !type.equals("none") || !choice.has("disable_parallel_tool_use"),
                "tool_choice.none.disable_parallel_tool_use: Extra inputs are not permitted");
        demand(
                type.equals("tool") == choice.has("name")
                        && (!choice.has("name")
                                || body.path("tools")
                                        .findValuesAsText("name")
                                        .contains(choice.path("name").asText())),
                "Tool '" + choice.path("name").asText() + "' not found in provided tools");
    }

    private static void checkThinking(JsonNode body) {
        JsonNode thinking = body.path("thinking");
        demandFields(thinking, List.of("type", "budget_tokens"));
        String type = thinking.path("type").asText();
        demand(
                type.equals("disabled") || !body.has("temperature"),
                "`temperature` may only be set to 1 when thinking is enabled");
        if (!type.equals("enabled")) {
            demand(Set.of("adaptive", "disabled").contains(type), "thinking.type: " + thinking);
            demand(!thinking.has("budget_tokens"), "thinking.budget_tokens: Extra inputs are not permitted");
            return;
        }
        demand(thinking.path("budget_tokens").asInt() >= LEAST_THINKING, "thinking.budget_tokens: at least 1024");
        demand(
                thinking.path("budget_tokens").asInt() < body.path("max_tokens").asInt(),
                "`max_tokens` must be greater than `thinking.budget_tokens`");
        JsonNode messages = body.path("messages");
        int people = messages.size() - 1;
        while (people >= 2 && messages.get(people).findValuesAsText("type").contains("tool_result")) {
            people -= 2;
        }
        if (people < messages.size() - 1) {
            String first = messages.get(people + 1)
                    .path("content")
                    .path(0)
                    .path("type")
                    .asText();
            demand(
                    first.contains("thinking"),
                    "Expected `thinking` or `redacted_thinking`, but found `" + first
                            + "`. When `thinking` is enabled, a final `assistant` message must start with a thinking"
                            + " block");
        }
    }

    private static void checkTools(JsonNode body) {
        Set<String> names = new LinkedHashSet<>();
        for (JsonNode tool : body.path("tools")) {
            demandFields(tool, List.of("name", "description", "input_schema", "cache_control"));
            String name = tool.path("name").asText();
            demand(name.matches(NAME), "tools.name: should match " + NAME + ": " + name);
            demand(names.add(name), "tools: Tool names must be unique: " + name);
            demand(
                    tool.path("input_schema").path("type").asText().equals("object"),
                    "tools.input_schema.type: Field required");
        }
        boolean calls = body.path("messages").findValuesAsText("type").contains("tool_use");
        demand(!calls || !names.isEmpty(), "Requests which include `tool_use` blocks must define tools");
    }

    private void checkMessages(JsonNode body) {
        JsonNode messages = body.path("messages");
        demand(!messages.isEmpty(), "messages: at least one message is required");
        Set<String> used = new LinkedHashSet<>();
        Set<String> open = Set.of();
        for (int i = 0; i < messages.size(); i++) {
            JsonNode message = messages.get(i);
            demandFields(message, List.of("role", "content"));
            String due = i % 2 == 0 ? "user" : "assistant";
            JsonNode content = blocks(message.path("content"));
            demand(message.path("role").asText().equals(due), "messages." + i + ": roles must alternate, from user on");
            demand(
                    content.isArray() && !content.isEmpty(),
                    "messages." + i + ": all messages must have non-empty content");
            open = due.equals("user")
                    ? checkPeople(content, open)
                    : checkModel(content, body.path("model").asText(), used);
        }
        demand(messages.size() % 2 == 1, "messages: the conversation must end with a user message");
    }

    /** A text alone stands for a block with this text. */
    private static JsonNode blocks(JsonNode content) {
        return content.isTextual()
                ? JSON.createArrayNode()
                        .add(JSON.createObjectNode().put("type", "text").put("text", content.asText()))
                : content;
    }

    private static Set<String> checkPeople(JsonNode content, Set<String> open) {
        Set<String> left = new LinkedHashSet<>(open);
        boolean resultsOver = false;
        for (JsonNode block : content) {
            switch (block.path("type").asText()) {
                case "tool_result" -> {
                    demandFields(block, List.of("type", "tool_use_id", "content", "is_error", "cache_control"));
                    String id = block.path("tool_use_id").asText();
                    demand(!resultsOver, "tool_result blocks must come first: " + id);
                    demand(left.remove(id), "unexpected `tool_use_id` found in `tool_result` blocks: " + id);
                    demand(
                            !block.path("is_error").asBoolean()
                                    || !block.path("content").asText().isEmpty(),
                            "content cannot be empty if `is_error` is true");
                }
                case "text" -> {
                    resultsOver = true;
                    checkText(block);
                }
                case "image" -> {
                    resultsOver = true;
                    JsonNode source = block.path("source");
                    boolean sound = source.path("type").asText().equals("url")
                            ? source.path("url").asText().matches("https?://.+")
                            : source.path("type").asText().equals("base64")
                                    && IMAGES.contains(source.path("media_type").asText())
                                    && !source.path("data").asText().isEmpty();
                    demand(sound, "image.source: invalid: " + source);
                }
                default -> throw new Refused("not for users: " + block);
            }
        }
        demand(left.isEmpty(), "`tool_use` ids were found without `tool_result` blocks immediately after: " + left);
        return Set.of();
    }

    private Set<String> checkModel(JsonNode content, String model, Set<String> used) {
        Set<String> calls = new LinkedHashSet<>();
        for (JsonNode block : content) {
            switch (block.path("type").asText()) {
                case "text" -> checkText(block);
                case "tool_use" -> {
                    demandFields(block, List.of("type", "id", "name", "input"));
                    String id = block.path("id").asText();
                    demand(id.matches(ID), "tool_use.id: String should match pattern '^[a-zA-Z0-9_-]+$': " + id);
                    demand(used.add(id), "`tool_use` ids must be unique: " + id);
                    demand(block.path("name").asText().matches(NAME), "tool_use.name: invalid: " + block);
                    demand(block.path("input").isObject(), "tool_use.input: Input should be a valid dictionary");
                    calls.add(id);
                }
                default -> demand(issued.contains(new Issued(model, block)), "Invalid `signature` in block: " + block);
            }
        }
        String last = content.get(content.size() - 1).path("type").asText();
        demand(!last.contains("thinking"), "The final block in an assistant message cannot be `thinking`");
        return calls;
    }

    private static void checkText(JsonNode block) {
        demandFields(block, List.of("type", "text", "cache_control"));
        demand(block.path("type").asText().equals("text"), "type: Input should be 'text'");
        demand(!block.path("text").asText().isBlank(), "text content blocks must contain non-whitespace text");
    }

    @Override
    Script script(String model, ModelAnswer.Speech speech) {
        ObjectNode start = object("{\"type\":\"message_start\",\"message\":{\"id\":\"msg_1\",\"type\":\"message\","
                + "\"role\":\"assistant\",\"content\":[],\"stop_reason\":null}}");
        ((ObjectNode) start.get("message"))
                .put("model", model)
                .putObject("usage")
                .put("input_tokens", speech.usage().inputTokens())
                .put("cache_creation_input_tokens", 0)
                .put("cache_read_input_tokens", 0)
                .put("output_tokens", 1);
        List<List<String>> pieces = new ArrayList<>();
        List<String> closing = new ArrayList<>();
        int index = -1;
        boolean speaking = false;
        for (Piece piece : speech.pieces()) {
            List<String> events = new ArrayList<>();
            boolean goesOn = speaking && piece instanceof Piece.Words;
            if (!goesOn) {
                events.addAll(closing);
                closing.clear();
                index++;
                events.add(begin(index, model, piece));
            }
            events.addAll(grow(index, piece));
            speaking = piece instanceof Piece.Words;
            closing.clear();
            closing.add(indexed("content_block_stop", index).toString());
            pieces.add(events);
        }
        ObjectNode delta = object("{\"type\":\"message_delta\",\"delta\":{\"stop_sequence\":null}}");
        ((ObjectNode) delta.get("delta")).put("stop_reason", speech.stopWord());
        delta.putObject("usage").put("output_tokens", speech.usage().outputTokens());
        closing.add("{\"type\":\"ping\"}");
        closing.add(delta.toString());
        closing.add("{\"type\":\"message_stop\"}");
        return new Script(List.of(start.toString(), "{\"type\":\"ping\"}"), pieces, closing);
    }

    private String begin(int index, String model, Piece piece) {
        ObjectNode event = indexed("content_block_start", index);
        ObjectNode block;
        if (piece instanceof Piece.Call call) {
            block = object("{\"type\":\"tool_use\",\"input\":{}}");
            block.put("id", call.id()).put("name", call.name());
        } else if (piece instanceof Piece.Thought thought) {
            block = object("{\"type\":\"thinking\",\"thinking\":\"\",\"signature\":\"\"}");
            ObjectNode whole = object("{\"type\":\"thinking\"}");
            whole.put("signature", thought.signature()).put("thinking", thought.text());
            issued.add(new Issued(model, whole));
        } else if (piece instanceof Piece.Strange strange) {
            block = object(strange.block());
            issued.add(new Issued(model, block.deepCopy()));
        } else {
            block = object("{\"type\":\"text\",\"text\":\"\"}");
        }
        event.set("content_block", block);
        return event.toString();
    }

    private static List<String> grow(int index, Piece piece) {
        List<String> events = new ArrayList<>();
        if (piece instanceof Piece.Words words) {
            events.add(delta(index, "text_delta", "text", words.text()));
        } else if (piece instanceof Piece.Thought thought) {
            events.add(delta(index, "thinking_delta", "thinking", thought.text()));
            events.add(delta(index, "signature_delta", "signature", thought.signature()));
        } else if (piece instanceof Piece.Call call) {
            int middle = call.arguments().length() / 2;
            events.add(delta(index, "input_json_delta", "partial_json", ""));
            events.add(delta(
                    index, "input_json_delta", "partial_json", call.arguments().substring(0, middle)));
            events.add(delta(
                    index, "input_json_delta", "partial_json", call.arguments().substring(middle)));
        }
        return events;
    }

    private static String delta(int index, String type, String field, String value) {
        ObjectNode event = indexed("content_block_delta", index);
        event.putObject("delta").put("type", type).put(field, value);
        return event.toString();
    }

    private static ObjectNode indexed(String type, int index) {
        return JSON.createObjectNode().put("type", type).put("index", index);
    }

    @Override
    String event(String data) {
        String type = data.startsWith("{") && data.endsWith("}")
                ? object(data).path("type").asText()
                : "message";
        return "event: " + type + "\ndata: " + data + "\n\n";
    }
}
