package dev.waymark.testkit.model;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.DeserializationFeature;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.cfg.JsonNodeFeature;
import com.fasterxml.jackson.databind.json.JsonMapper;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.waymark.testkit.model.ModelAnswer.Piece;
import java.net.URI;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.regex.Pattern;

/**
 * Anthropic's Messages API: {@code POST /v1/messages}. Current models bind their thinking to the conversation, and
 * accept fewer settings. Models with other names behave like earlier models.
 *
 * <p>A rule names its page on platform.claude.com, or a thread in which it was measured, or is <i>assumed</i>.
 */
public final class AnthropicServer extends ModelServer {
    private static final String ID = "[a-zA-Z0-9_-]+";
    private static final String NAME = "[a-zA-Z0-9_-]{1,64}";
    private static final int MOST_MARKS = 4;
    private static final int LEAST_THINKING = 1024;
    private static final Set<String> IMAGES = Set.of("image/jpeg", "image/png", "image/gif", "image/webp");

    /** build-with-claude/preserved-thinking/prefix-checks: the models that it lists. */
    private static final Pattern TODAY =
            Pattern.compile("claude-((fable|mythos)-5-[12]|(opus|sonnet|haiku)-5-5)(-[0-9]{8})?");

    /** api/versioning, and what the service's own client for Java sends. */
    private static final Set<String> VERSIONS = Set.of("2023-06-01", "2026-10-21");

    private static final String SONNET = "claude-sonnet-5-5";

    /** build-with-claude/preserved-thinking/fix-bound-to-a-different-conversation. */
    private static final String BINDING_CONTROLS = "thinking-binding-controls-2026-08-01";

    /** Keeps the spelling of numbers, because thinking is bound to it. */
    static final JsonMapper EXACT = JsonMapper.builder()
            .enable(DeserializationFeature.USE_BIG_DECIMAL_FOR_FLOATS)
            .disable(JsonNodeFeature.STRIP_TRAILING_BIGDECIMAL_ZEROES)
            .build();

    /** Blocks that are accepted only from the model that made them. */
    private final Set<Issued> issued = ConcurrentHashMap.newKeySet();
    /** Replies that stopped with {@code pause_turn}: the only ones that a request may end with. */
    private final Set<List<JsonNode>> paused = ConcurrentHashMap.newKeySet();

    private final List<String> dropped = new ArrayList<>();
    private volatile boolean bindsEveryModel;
    private volatile boolean dropsByDefault;
    private volatile boolean namesCallers;
    private volatile boolean namesDropped;
    private volatile Set<String> withoutTrailingThinking = Set.of();

    private record Issued(String model, JsonNode block) {}

    public AnthropicServer() {
        super("/v1/messages");
    }

    /** From now on, the thinking of all models is bound to the conversation. */
    public AnthropicServer bindingEveryModel() {
        bindsEveryModel = true;
        return this;
    }

    /**
     * From now on, thinking that is bound to another conversation is dropped without an error, as some models do:
     * build-with-claude/preserved-thinking/prefix-checks. By default it is refused, unless the request asks for this.
     */
    public AnthropicServer droppingByDefault() {
        dropsByDefault = true;
        return this;
    }

    /**
     * From now on, these models refuse a reply that ends with thinking. Others accept it, if a message follows:
     * measured in github.com/router-for-me/CLIProxyAPI/issues/5321. <i>Assumed</i>: that there are others.
     */
    public AnthropicServer refusingTrailingThinking(String... models) {
        withoutTrailingThinking = Set.of(models);
        return this;
    }

    /**
     * From now on, calls come with {@code caller} (agents-and-tools/tool-use/programmatic-tool-calling), and have to
     * go back with it. <i>Assumed</i>: that a call without it is refused.
     */
    public AnthropicServer namingCallers() {
        namesCallers = true;
        return this;
    }

    /**
     * From now on, replies name the thinking that was dropped, although requests do not ask for it. <i>Assumed</i>:
     * that a gateway adds the header and the setting to all requests.
     */
    public AnthropicServer namingDropped() {
        namesDropped = true;
        return this;
    }

    /** The thinking that accepted requests lost, such as {@code messages.1.content.0}, in request order. */
    public List<String> dropped() {
        synchronized (dropped) {
            return List.copyOf(dropped);
        }
    }

    private static boolean isOfToday(String model) {
        return TODAY.matcher(model).matches();
    }

    private boolean binds(String model) {
        return bindsEveryModel || isOfToday(model);
    }

    @Override
    JsonMapper mapper() {
        return EXACT;
    }

    @Override
    public Map<String, String> environment() {
        return Map.of("ANTHROPIC_BASE_URL", address(), "ANTHROPIC_API_KEY", KEY);
    }

    @Override
    boolean isAllowed(Map<String, String> headers) {
        // The service's own clients send one of these headers.
        return KEY.equals(headers.get("x-api-key")) || ("Bearer " + KEY).equals(headers.get("authorization"));
    }

    @Override
    void check(URI uri, Map<String, String> headers, JsonNode body) {
        demand(
                VERSIONS.contains(headers.getOrDefault("anthropic-version", "")),
                "anthropic-version: header is required");
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
        String model = body.path("model").asText();
        demand(body.path("max_tokens").asInt() >= 1, "max_tokens: must be at least 1");
        demand(body.path("stream").asBoolean(), "stream: this server only streams");
        body.path("system").forEach(block -> {
            checkText(block);
            demand(
                    !block.path("text").asText().isBlank(),
                    "system: text content blocks must contain non-whitespace text");
        });
        checkTools(body);
        checkMessages(body, model);
        checkToolChoice(body);
        if (isOfToday(model)) {
            checkToday(body, model);
        }
        demandFields(body.path("output_config"), List.of("effort", "format"));
        if (body.path("output_config").has("format")) {
            JsonNode format = body.path("output_config").path("format");
            demandFields(format, List.of("type", "schema"));
            demand(format.path("type").asText().equals("json_schema"), "output_config.format.type: " + format);
            StrictSchemas.check(format.path("schema"), "output_config.format.schema");
        }
        if (body.has("thinking")) {
            checkThinking(headers, body);
        }
        demand(
                body.findValues("cache_control").size() <= MOST_MARKS,
                "A maximum of 4 blocks with cache_control may be provided");
        if (binds(model)) {
            checkBinding(headers, body, model);
        }
    }

    /** models/opus-5-5/whats-new-opus-5-5 and models/sonnet-5-5/whats-new-sonnet-5-5. */
    private static void checkToday(JsonNode body, String model) {
        JsonNode thinking = body.path("thinking");
        Set<String> types = model.startsWith(SONNET) ? Set.of("adaptive", "between_tools") : Set.of("adaptive");
        demand(
                !body.has("thinking") || types.contains(thinking.path("type").asText()),
                "thinking.type: `" + thinking.path("type").asText() + "` is not supported on " + model + ", only "
                        + types);
        String effort = body.path("output_config").path("effort").asText();
        demand(
                !thinking.path("type").asText().equals("between_tools")
                        || !Set.of("xhigh", "max").contains(effort),
                "thinking.type: `between_tools` is not supported with effort " + effort);
        demand(
                !Set.of("any", "tool")
                        .contains(body.path("tool_choice").path("type").asText()),
                "tool_choice: forced tool use is not supported on " + model);
        // api/versioning: removed in 2026-10-21. Assumed: that these models refuse it in the version before, too.
        demand(!body.has("temperature"), "temperature: is not supported on " + model);
    }

    /** build-with-claude/preserved-thinking/fix-bound-to-a-different-conversation has the words of the error. */
    private void checkBinding(Map<String, String> headers, JsonNode body, String model) {
        List<String> lost = new ArrayList<>();
        for (ThinkingSeal.Mismatch mismatch : ThinkingSeal.of(model, body).mismatches()) {
            String invalid = mismatch.path() + ": Invalid `signature` in `" + mismatch.type() + "` block";
            demand(mismatch.reason() != ThinkingSeal.Reason.TAMPERED, invalid);
            demand(
                    mismatch.reason() == ThinkingSeal.Reason.MODEL_BINDING_MISMATCH
                            || dropsByDefault
                            || asksForDrops(headers, body),
                    invalid + ". The block is bound to a different conversation. Remove the block, or set"
                            + " `thinking.block_binding.prefix_mismatch_behavior` to \"drop_block\". That setting"
                            + " requires the `" + BINDING_CONTROLS + "` value in the `anthropic-beta` header. "
                            + mismatch.detail());
            lost.add(mismatch.path());
        }
        synchronized (dropped) {
            dropped.addAll(lost);
        }
    }

    private static boolean asksForDrops(Map<String, String> headers, JsonNode body) {
        return hasBindingControls(headers)
                && body.at("/thinking/block_binding/prefix_mismatch_behavior")
                        .asText()
                        .equals("drop_block");
    }

    private static boolean hasBindingControls(Map<String, String> headers) {
        return List.of(headers.getOrDefault("anthropic-beta", "").split("[, ]+"))
                .contains(BINDING_CONTROLS);
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

    private static void checkThinking(Map<String, String> headers, JsonNode body) {
        JsonNode thinking = body.path("thinking");
        demandFields(thinking, List.of("type", "budget_tokens", "display", "block_binding"));
        demand(
                !thinking.has("block_binding") || hasBindingControls(headers),
                "thinking.block_binding: requires the `" + BINDING_CONTROLS + "` value in the `anthropic-beta` header");
        String type = thinking.path("type").asText();
        demand(
                !thinking.has("display")
                        || (Set.of("summarized", "omitted")
                                        .contains(thinking.path("display").asText())
                                && !type.equals("disabled")),
                "thinking.display: " + thinking);
        demand(
                type.equals("disabled") || !body.has("temperature"),
                "`temperature` may only be set to 1 when thinking is enabled");
        if (!type.equals("enabled")) {
            demand(Set.of("adaptive", "disabled", "between_tools").contains(type), "thinking.type: " + thinking);
            demand(!thinking.has("budget_tokens"), "thinking.budget_tokens: Extra inputs are not permitted");
            return;
        }
        demand(thinking.path("budget_tokens").asInt() >= LEAST_THINKING, "thinking.budget_tokens: at least 1024");
        demand(
                thinking.path("budget_tokens").asInt() < body.path("max_tokens").asInt(),
                "`max_tokens` must be greater than `thinking.budget_tokens`");
        List<ArrayNode> messages = alternating(body.path("messages"));
        int people = messages.size() - 1;
        while (people >= 2 && messages.get(people).findValuesAsText("type").contains("tool_result")) {
            people -= 2;
        }
        if (people < messages.size() - 1) {
            String first = messages.get(people + 1).path(0).path("type").asText();
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

    private void checkMessages(JsonNode body, String model) {
        JsonNode messages = body.path("messages");
        demand(!messages.isEmpty(), "messages: at least one message is required");
        Set<String> used = new LinkedHashSet<>();
        Set<String> open = Set.of();
        for (int i = 0; i < messages.size(); i++) {
            JsonNode message = messages.get(i);
            demandFields(message, List.of("role", "content"));
            String role = message.path("role").asText();
            demand(role.equals("user") || (role.equals("assistant") && i > 0), "messages." + i + ": role: " + role);
            JsonNode content = blocks(message.path("content"));
            demand(
                    content.isArray() && !content.isEmpty(),
                    "messages." + i + ": all messages must have non-empty content");
            // Measured in github.com/nick1udwig/kibitz/issues/78. Assumed: it is accepted beside other blocks.
            demand(!isBlank(content), "messages: text content blocks must contain non-whitespace text");
            if (role.equals("user")) {
                open = checkPeople(content, open);
            } else {
                demandNoneOpen(open);
                open = checkModel(content, model, used);
                demand(
                        !withoutTrailingThinking.contains(model)
                                || !ThinkingSeal.isThinking(content.get(content.size() - 1)),
                        "messages." + i + ": The final block in an assistant message cannot be `thinking`.");
            }
        }
        List<ArrayNode> alternating = alternating(messages);
        boolean isReplied = alternating.size() % 2 == 1;
        demand(
                isReplied || isPaused(alternating.get(alternating.size() - 1)),
                "messages: the conversation must end" + " with a user message");
    }

    private static boolean isBlank(JsonNode content) {
        for (JsonNode block : content) {
            if (!block.path("type").asText().equals("text")
                    || !block.path("text").asText().isBlank()) {
                return false;
            }
        }
        return true;
    }

    private static void demandNoneOpen(Set<String> open) {
        demand(open.isEmpty(), "`tool_use` ids were found without `tool_result` blocks immediately after: " + open);
    }

    /**
     * The blocks of users and models in turn, starting with a user. api/messages: consecutive messages of a role are
     * one.
     */
    private static List<ArrayNode> alternating(JsonNode messages) {
        List<ArrayNode> turns = new ArrayList<>();
        String role = "";
        for (JsonNode message : messages) {
            if (!message.path("role").asText().equals(role)) {
                role = message.path("role").asText();
                turns.add(JSON.createArrayNode());
            }
            blocks(message.path("content")).forEach(turns.get(turns.size() - 1)::add);
        }
        return turns;
    }

    /** build-with-claude/handling-stop-reasons: a reply that was paused is sent back to continue it. */
    private boolean isPaused(ArrayNode reply) {
        List<JsonNode> blocks = new ArrayList<>();
        reply.forEach(blocks::add);
        return paused.stream()
                .anyMatch(end -> end.size() <= blocks.size()
                        && blocks.subList(blocks.size() - end.size(), blocks.size())
                                .equals(end));
    }

    /** Content that is a string is equivalent to one text block. */
    static JsonNode blocks(JsonNode content) {
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
        demandNoneOpen(left);
        return Set.of();
    }

    private Set<String> checkModel(JsonNode content, String model, Set<String> used) {
        Set<String> calls = new LinkedHashSet<>();
        for (JsonNode block : content) {
            switch (block.path("type").asText()) {
                case "text" -> checkText(block);
                case "tool_use" -> {
                    demandFields(block, List.of("type", "id", "name", "input", "caller"));
                    String id = block.path("id").asText();
                    demand(id.matches(ID), "tool_use.id: String should match pattern '^[a-zA-Z0-9_-]+$': " + id);
                    demand(used.add(id), "`tool_use` ids must be unique: " + id);
                    demand(block.path("name").asText().matches(NAME), "tool_use.name: invalid: " + block);
                    demand(block.path("input").isObject(), "tool_use.input: Input should be a valid dictionary");
                    demand(!namesCallers || block.has("caller"), "tool_use.caller: Field required: " + id);
                    calls.add(id);
                }
                default ->
                    demand(
                            (binds(model) && ThinkingSeal.isThinking(block))
                                    || issued.contains(new Issued(model, block)),
                            "Invalid `signature` in block: " + block);
            }
        }
        return calls;
    }

    private static void checkText(JsonNode block) {
        demandFields(block, List.of("type", "text", "cache_control"));
        demand(block.path("type").asText().equals("text"), "type: Input should be 'text'");
        // Measured in github.com/anthropics/claude-code/issues/59812.
        demand(!block.path("text").asText().isEmpty(), "messages: text content blocks must be non-empty");
    }

    @Override
    Script script(JsonNode request, String model, ModelAnswer.Speech speech) {
        ObjectNode start = object("{\"type\":\"message_start\",\"message\":{\"id\":\"msg_1\",\"type\":\"message\","
                + "\"role\":\"assistant\",\"content\":[],\"stop_reason\":null,\"stop_sequence\":null}}");
        ((ObjectNode) start.get("message"))
                .put("model", model)
                .putObject("usage")
                .put(
                        "input_tokens",
                        speech.usage().inputTokens()
                                - speech.usage().cacheReadTokens()
                                - speech.usage().cacheWriteTokens())
                .put("cache_creation_input_tokens", speech.usage().cacheWriteTokens())
                .put("cache_read_input_tokens", speech.usage().cacheReadTokens())
                .put("output_tokens", 1);
        ThinkingSeal seal = ThinkingSeal.of(model, request);
        List<ThinkingSeal.Mismatch> lost = seal.mismatches();
        if (namesDropped || request.path("thinking").has("block_binding")) {
            ((ObjectNode) start.get("message")).set("input_transformations", transformations(lost));
        }
        List<JsonNode> blocks = issue(speech.pieces(), model, seal, hidesThinking(model, request));
        if (speech.stopWord().equals("pause_turn")) {
            paused.add(blocks);
        }
        List<List<String>> pieces = new ArrayList<>();
        List<String> closing = new ArrayList<>();
        int index = -1;
        boolean speaking = false;
        for (Piece piece : speech.pieces()) {
            List<String> events = new ArrayList<>();
            boolean goesOn = speaking && piece instanceof Piece.Words;
            if (!goesOn) {
                events.addAll(closing);
                index++;
                events.add(begin(index, blocks.get(index)));
            }
            events.addAll(grow(index, piece, blocks.get(index)));
            speaking = piece instanceof Piece.Words;
            closing.clear();
            closing.add(indexed("content_block_stop", index).toString());
            pieces.add(events);
        }
        ObjectNode delta = object("{\"type\":\"message_delta\",\"delta\":{\"stop_sequence\":null}}");
        ((ObjectNode) delta.get("delta")).put("stop_reason", speech.stopWord());
        if (speech.stopWord().equals("refusal")) { // test-and-evaluate/strengthen-guardrails/handle-streaming-refusals
            ((ObjectNode) delta.get("delta"))
                    .putObject("stop_details")
                    .put("type", "refusal")
                    .put("category", "cyber")
                    .put("explanation", "It could enable harm.");
        }
        delta.putObject("usage")
                .put("output_tokens", speech.usage().outputTokens())
                .putObject("output_tokens_details")
                .put("thinking_tokens", speech.usage().reasoningTokens());
        closing.add("{\"type\":\"ping\"}");
        closing.add(delta.toString());
        closing.add("{\"type\":\"message_stop\"}");
        return new Script(List.of(start.toString(), "{\"type\":\"ping\"}"), pieces, closing);
    }

    /**
     * api/beta/messages: {@code input_transformations}. A stream of 2026-09-01, recorded in the tests of
     * github.com/pydantic/pydantic-ai, has them in {@code message_start}.
     */
    private static ArrayNode transformations(List<ThinkingSeal.Mismatch> lost) {
        ArrayNode all = JSON.createArrayNode();
        for (ThinkingSeal.Mismatch mismatch : lost) {
            all.addObject()
                    .put("type", "thinking_dropped")
                    .put("path", mismatch.path())
                    .put("reason", mismatch.reason().name().toLowerCase(Locale.ROOT));
        }
        return all;
    }

    /** The blocks of a reply, in the form in which they must be sent back. */
    private List<JsonNode> issue(List<Piece> pieces, String model, ThinkingSeal seal, boolean hidesThinking) {
        List<ObjectNode> blocks = new ArrayList<>();
        boolean speaking = false;
        for (Piece piece : pieces) {
            if (speaking && piece instanceof Piece.Words words) {
                ObjectNode block = blocks.get(blocks.size() - 1);
                block.put("text", block.path("text").asText() + words.text());
            } else {
                ObjectNode block = block(piece);
                if (hidesThinking && block.has("thinking")) {
                    block.put("thinking", "");
                }
                blocks.add(block);
            }
            speaking = piece instanceof Piece.Words;
        }
        List<JsonNode> issue = new ArrayList<>();
        for (ObjectNode block : blocks) {
            boolean isSigned = binds(model) && ThinkingSeal.isThinking(block);
            issue.add(isSigned ? seal.sign(block) : block);
            if (!isSigned) {
                issued.add(new Issued(model, block));
                seal.append("assistant", block);
            }
        }
        return List.copyOf(issue);
    }

    /** models/haiku-5-5/whats-new-haiku-5-5: the text of thinking is left out unless {@code display} asks for it. */
    private static boolean hidesThinking(String model, JsonNode request) {
        String display = request.path("thinking").path("display").asText();
        return TODAY.matcher(model).matches() ? !display.equals("summarized") : display.equals("omitted");
    }

    private ObjectNode block(Piece piece) {
        if (piece instanceof Piece.Call call) {
            ObjectNode block = JSON.createObjectNode().put("type", "tool_use");
            block.put("id", call.id()).put("name", call.name()).set("input", input(call.arguments()));
            if (namesCallers) {
                block.putObject("caller").put("type", "direct");
            }
            return block;
        }
        if (piece instanceof Piece.Thought thought) {
            return JSON.createObjectNode()
                    .put("type", "thinking")
                    .put("thinking", thought.text())
                    .put("signature", thought.signature());
        }
        if (piece instanceof Piece.Strange strange) {
            return (ObjectNode) input(strange.block());
        }
        return JSON.createObjectNode().put("type", "text").put("text", ((Piece.Words) piece).text());
    }

    private static JsonNode input(String json) {
        try {
            return EXACT.readTree(json);
        } catch (JsonProcessingException e) {
            return JSON.createObjectNode();
        }
    }

    private static String begin(int index, JsonNode whole) {
        ObjectNode event = indexed("content_block_start", index);
        ObjectNode block = whole.deepCopy();
        switch (block.path("type").asText()) {
            case "text" -> block.put("text", "");
            case "thinking" -> block.put("thinking", "").put("signature", "");
            case "tool_use" -> block.set("input", JSON.createObjectNode());
            default -> {
                // Other blocks come whole.
            }
        }
        event.set("content_block", block);
        return event.toString();
    }

    private static List<String> grow(int index, Piece piece, JsonNode whole) {
        List<String> events = new ArrayList<>();
        if (piece instanceof Piece.Words words) {
            events.add(delta(index, "text_delta", "text", words.text()));
        } else if (piece instanceof Piece.Thought thought) {
            events.add(delta(
                    index, "thinking_delta", "thinking", whole.path("thinking").asText()));
            events.add(delta(
                    index,
                    "signature_delta",
                    "signature",
                    whole.path("signature").asText()));
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
