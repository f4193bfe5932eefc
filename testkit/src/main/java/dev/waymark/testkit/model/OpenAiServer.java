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
import java.util.regex.Pattern;

/** OpenAI's chat completions: {@code POST /v1/chat/completions}. */
public final class OpenAiServer extends OpenAiApiServer {
    private static final int LONGEST_ID = 40;

    /** Measured in github.com/openai/openai-openapi/issues/541. */
    private static final Pattern NO_TOOLS_WITH_AN_EFFORT = Pattern.compile("gpt-(5\\.[4-9]|[6-9]).*");

    /** Measured in github.com/BerriAI/litellm/pull/34569: they have an effort by default. */
    private static final Pattern NO_TOOLS_WITHOUT_NONE = Pattern.compile("gpt-(5\\.[6-9]|[6-9]).*");

    public OpenAiServer() {
        super("/v1/chat/completions");
    }

    @Override
    void check(URI uri, Map<String, String> headers, JsonNode body) {
        demandFields(
                body,
                List.of(
                        "model",
                        "messages",
                        "tools",
                        "tool_choice",
                        "parallel_tool_calls",
                        "response_format",
                        "max_tokens",
                        "max_completion_tokens",
                        "temperature",
                        "reasoning_effort",
                        "service_tier",
                        "prompt_cache_key",
                        "stream",
                        "stream_options"));
        demand(!body.path("model").asText().isEmpty(), "you must provide a model parameter");
        demand(body.path("stream").asBoolean(), "stream: this server only streams");
        demand(body.has("max_tokens") ^ body.has("max_completion_tokens"), "one limit of tokens");
        demand(!body.has("tools") || !body.path("tools").isEmpty(), "[] is too short - 'tools'");
        Set<String> names = new LinkedHashSet<>();
        for (JsonNode tool : body.path("tools")) {
            JsonNode function = tool.path("function");
            demandFields(tool, List.of("type", "function"));
            demandFields(function, List.of("name", "description", "parameters", "strict"));
            demand(!function.path("strict").asBoolean(), "strict: the schemas of these tools are not made for it");
            demand(tool.path("type").asText().equals("function"), "tools.type: " + tool);
            demand(function.path("name").asText().matches(TOOL_NAME), "tools.function.name: " + function);
            demand(names.add(function.path("name").asText()), "tools: twice: " + function);
            demand(function.path("parameters").path("type").asText().equals("object"), "parameters: " + function);
        }
        checkToolChoice(body, names, body.path("tool_choice").path("function"));
        checkEffort(
                body.path("model").asText(),
                names,
                body.path("reasoning_effort").asText());
        if (body.has("response_format")) {
            demandFields(body.path("response_format"), List.of("type", "json_schema"));
            checkFormat(
                    body.path("response_format").path("type").asText(),
                    body.path("response_format").path("json_schema"));
        }
        checkMessages(body);
    }

    private static void checkEffort(String model, Set<String> tools, String effort) {
        Pattern refusing = effort.isEmpty() ? NO_TOOLS_WITHOUT_NONE : NO_TOOLS_WITH_AN_EFFORT;
        demand(
                tools.isEmpty()
                        || effort.equals("none")
                        || !refusing.matcher(model).matches(),
                "Function tools with reasoning_effort are not supported for " + model
                        + " in /v1/chat/completions. To use"
                        + " function tools, use /v1/responses or set reasoning_effort to 'none'.");
    }

    static void checkToolChoice(JsonNode body, Set<String> tools, JsonNode named) {
        JsonNode choice = body.path("tool_choice");
        demand(
                !tools.isEmpty() || (!body.has("tool_choice") && !body.has("parallel_tool_calls")),
                "'tool_choice' and 'parallel_tool_calls' are only allowed when 'tools' are specified");
        demand(
                choice.isMissingNode()
                        || Set.of("auto", "required", "none").contains(choice.asText())
                        || (choice.path("type").asText().equals("function")
                                && tools.contains(named.path("name").asText())),
                "Invalid value: 'tool_choice': " + choice);
    }

    static void checkFormat(String type, JsonNode format) {
        demand(type.equals("json_schema"), "Invalid value: 'response_format.type': " + type);
        demand(format.path("name").asText().matches(TOOL_NAME), "Invalid 'json_schema.name': " + format);
        if (format.path("strict").asBoolean()) {
            StrictSchemas.check(format.path("schema"), "Invalid schema for response_format");
            StrictSchemas.checkComplete(format.path("schema"));
        }
    }

    private void checkMessages(JsonNode body) {
        JsonNode messages = body.path("messages");
        demand(!messages.isEmpty(), "[] is too short - 'messages'");
        Set<String> used = new LinkedHashSet<>();
        Set<String> open = new LinkedHashSet<>();
        String before = "";
        for (int i = 0; i < messages.size(); i++) {
            JsonNode message = messages.get(i);
            String role = message.path("role").asText();
            if (role.equals("tool")) {
                demandFields(message, List.of("role", "tool_call_id", "content", "name"));
                demand(
                        open.remove(message.path("tool_call_id").asText()),
                        "messages with role 'tool' must be a response to a preceding message with 'tool_calls': "
                                + message);
                demand(message.path("content").isTextual(), "messages." + i + ".content: expected a string");
            } else {
                demand(
                        open.isEmpty(),
                        "An assistant message with 'tool_calls' must be followed by tool messages responding to each"
                                + " 'tool_call_id': " + open);
                demand(!role.equals(before), "roles must alternate, found two of " + role);
                switch (role) {
                    case "system" -> {
                        demandFields(message, List.of("role", "content"));
                        demand(i == 0 && message.path("content").isTextual(), "system: first, and a string");
                    }
                    case "user" -> checkUser(message);
                    case "assistant" ->
                        open.addAll(checkAssistant(message, body.path("model").asText(), used));
                    default -> throw new Refused("Invalid value: '" + role + "'");
                }
            }
            before = role;
        }
        demand(open.isEmpty() && !before.equals("assistant"), "nothing to answer");
    }

    private static void checkUser(JsonNode message) {
        demandFields(message, List.of("role", "content"));
        JsonNode content = message.path("content");
        demand(content.isTextual() || (content.isArray() && !content.isEmpty()), "user.content: " + message);
        if (content.isArray()) {
            for (JsonNode part : content) {
                boolean sound = part.path("type").asText().equals("text")
                        ? part.path("text").isTextual()
                        : part.path("type").asText().equals("image_url")
                                && part.path("image_url").path("url").asText().matches("(?s)(https?://|data:image/).+");
                demand(sound, "user.content: " + part);
            }
        }
    }

    private Set<String> checkAssistant(JsonNode message, String model, Set<String> used) {
        demandFields(message, List.of("role", "content", "tool_calls", "reasoning_content"));
        demand(message.has("content") || message.has("tool_calls"), "content or tool_calls is required: " + message);
        demand(!message.has("content") || message.path("content").isTextual(), "assistant.content: " + message);
        demand(!message.has("tool_calls") || !message.path("tool_calls").isEmpty(), "[] is too short - 'tool_calls'");
        if (message.has("reasoning_content")) {
            String thought = message.path("reasoning_content").asText();
            demand(message.has("tool_calls"), "reasoning_content without tool_calls");
            demand(issued.contains(new Issued(model, thought)), "reasoning_content of somebody else: " + thought);
        }
        Set<String> calls = new LinkedHashSet<>();
        for (JsonNode call : message.path("tool_calls")) {
            demandFields(call, List.of("id", "type", "function", "extra_content"));
            demand(isSigned(call, model), "extra_content of somebody else: " + call);
            String id = call.path("id").asText();
            demand(!id.isEmpty() && id.length() <= LONGEST_ID, "tool_calls.id: at most 40 characters: " + id);
            demand(used.add(id), "tool_calls.id: twice: " + id);
            demand(call.path("type").asText().equals("function"), "tool_calls.type: " + call);
            demand(call.path("function").path("name").asText().matches(TOOL_NAME), "tool_calls.function.name: " + call);
            demand(isObject(call.path("function").path("arguments")), "tool_calls.function.arguments: " + call);
            calls.add(id);
        }
        return calls;
    }

    /** OpenAI has no signatures. Google's service requires that its own signatures are sent back. */
    private boolean isSigned(JsonNode call, String model) {
        String signature = call.path("extra_content").toString();
        return !call.has("extra_content")
                || issued.stream()
                        .anyMatch(own ->
                                own.model().equals(model) && own.content().contains(signature));
    }

    @Override
    Script script(JsonNode request, String model, ModelAnswer.Speech speech) {
        List<List<String>> pieces = new ArrayList<>();
        int call = 0;
        for (Piece piece : speech.pieces()) {
            if (piece instanceof Piece.Words words) {
                pieces.add(List.of(chunk(model, JSON.createObjectNode().put("content", words.text()))));
            } else if (piece instanceof Piece.Thought thought) {
                issued.add(new Issued(model, thought.text()));
                pieces.add(List.of(chunk(model, JSON.createObjectNode().put("reasoning_content", thought.text()))));
            } else if (piece instanceof Piece.Call called) {
                pieces.add(call(model, call, called));
                call++;
            } else {
                ObjectNode strange = object(((Piece.Strange) piece).block());
                issued.add(new Issued(model, strange.toString()));
                pieces.add(List.of(chunk(model, strange)));
            }
        }
        ObjectNode role = JSON.createObjectNode().put("role", "assistant").put("content", "");
        ObjectNode last = object(chunk(model, JSON.createObjectNode()));
        ((ObjectNode) last.path("choices").get(0)).put("finish_reason", finishReason(speech.stopWord()));
        ObjectNode usage = object(chunk(model, JSON.createObjectNode()));
        usage.putArray("choices");
        ObjectNode counted = usage.putObject("usage");
        counted.putObject("prompt_tokens_details")
                .put("cached_tokens", speech.usage().cacheReadTokens())
                .put("cache_write_tokens", speech.usage().cacheWriteTokens());
        counted.putObject("completion_tokens_details")
                .put("reasoning_tokens", speech.usage().reasoningTokens());
        counted.put("prompt_tokens", speech.usage().inputTokens())
                .put("completion_tokens", speech.usage().outputTokens())
                .put(
                        "total_tokens",
                        speech.usage().inputTokens() + speech.usage().outputTokens());
        return new Script(List.of(chunk(model, role)), pieces, List.of(last.toString(), usage.toString(), "[DONE]"));
    }

    private static List<String> call(String model, int index, Piece.Call call) {
        int middle = call.arguments().length() / 2;
        ObjectNode first = JSON.createObjectNode();
        ObjectNode begun = first.putArray("tool_calls").addObject();
        begun.put("index", index).put("id", call.id()).put("type", "function");
        begun.putObject("function").put("name", call.name()).put("arguments", "");
        List<String> chunks = new ArrayList<>(List.of(chunk(model, first)));
        for (String half :
                List.of(call.arguments().substring(0, middle), call.arguments().substring(middle))) {
            ObjectNode more = JSON.createObjectNode();
            ObjectNode grown = more.putArray("tool_calls").addObject();
            grown.put("index", index).putObject("function").put("arguments", half);
            chunks.add(chunk(model, more));
        }
        return chunks;
    }

    private static String chunk(String model, ObjectNode delta) {
        ObjectNode chunk = object("{\"id\":\"chatcmpl-1\",\"object\":\"chat.completion.chunk\",\"usage\":null}");
        chunk.put("model", model);
        ObjectNode choice = chunk.putArray("choices").addObject();
        choice.put("index", 0).putNull("finish_reason").set("delta", delta);
        return chunk.toString();
    }

    private static String finishReason(String stop) {
        return switch (stop) {
            case "end_turn" -> "stop";
            case "tool_use" -> "tool_calls";
            case "max_tokens" -> "length";
            default -> stop;
        };
    }

    @Override
    String event(String data) {
        return "data: " + data + "\n\n";
    }
}
