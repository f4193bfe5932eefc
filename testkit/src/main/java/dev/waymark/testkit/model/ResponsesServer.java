package dev.waymark.testkit.model;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.waymark.testkit.model.ModelAnswer.Piece;
import java.net.URI;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;

/** OpenAI's Responses API: {@code POST /v1/responses}. It stores nothing, so requests have the whole conversation. */
public final class ResponsesServer extends OpenAiApiServer {
    private static final int LONGEST_ID = 64;
    private static final int LEAST_TOKENS = 16;
    private static final Set<String> EFFORTS = Set.of("none", "minimal", "low", "medium", "high", "xhigh", "max");
    private static final Set<String> TIERS = Set.of("auto", "default", "flex", "scale", "priority", "fast");

    public ResponsesServer() {
        super("/v1/responses");
    }

    @Override
    void check(URI uri, Map<String, String> headers, JsonNode body) {
        demandFields(
                body,
                List.of(
                        "model",
                        "instructions",
                        "input",
                        "tools",
                        "tool_choice",
                        "parallel_tool_calls",
                        "text",
                        "max_output_tokens",
                        "temperature",
                        "reasoning",
                        "service_tier",
                        "prompt_cache_key",
                        "include",
                        "store",
                        "stream"));
        demand(!body.path("model").asText().isEmpty(), "Missing required parameter: 'model'.");
        demand(body.path("stream").asBoolean(), "stream: this server only streams");
        demand(body.has("store") && !body.path("store").asBoolean(true), "store: this server stores nothing");
        demand(
                !body.has("max_output_tokens") || body.path("max_output_tokens").asInt() >= LEAST_TOKENS,
                "Invalid 'max_output_tokens': integer below minimum value. Expected a value >= 16");
        double temperature = body.path("temperature").asDouble(1);
        demand(temperature >= 0 && temperature <= 2, "Invalid 'temperature': " + temperature);
        demandFields(body.path("reasoning"), List.of("effort", "summary"));
        demand(EFFORTS.contains(body.path("reasoning").path("effort").asText("none")), "Invalid 'reasoning.effort'");
        demand(TIERS.contains(body.path("service_tier").asText("auto")), "Invalid 'service_tier'");
        body.path("include")
                .forEach(each ->
                        demand(each.asText().equals("reasoning.encrypted_content"), "Invalid 'include': " + each));
        checkTools(body);
        OpenAiServer.checkToolChoice(
                body, Set.copyOf(body.path("tools").findValuesAsText("name")), body.path("tool_choice"));
        if (body.has("text")) {
            demandFields(body.path("text"), List.of("format", "verbosity"));
            JsonNode format = body.path("text").path("format");
            demandFields(format, List.of("type", "name", "schema", "strict"));
            OpenAiServer.checkFormat(format.path("type").asText(), format);
        }
        checkInput(body);
    }

    private static void checkTools(JsonNode body) {
        Set<String> names = new LinkedHashSet<>();
        for (JsonNode tool : body.path("tools")) {
            demandFields(tool, List.of("type", "name", "description", "parameters", "strict"));
            demand(tool.path("type").asText().equals("function"), "Invalid 'tools.type': " + tool);
            demand(tool.path("name").asText().matches(TOOL_NAME), "Invalid 'tools.name': " + tool);
            demand(names.add(tool.path("name").asText()), "tools: twice: " + tool);
            demand(tool.path("parameters").path("type").asText().equals("object"), "parameters: " + tool);
            demand(tool.has("strict"), "Missing required parameter: 'tools.strict'.");
        }
    }

    private void checkInput(JsonNode body) {
        JsonNode input = body.path("input");
        demand(input.isArray() && !input.isEmpty(), "Missing required parameter: 'input'.");
        Set<String> used = new LinkedHashSet<>();
        Set<String> open = new LinkedHashSet<>();
        for (int i = 0; i < input.size(); i++) {
            JsonNode item = input.get(i);
            switch (item.path("type").asText("message")) {
                case "message" -> checkMessage(item);
                case "function_call" -> open.add(checkCall(item, used));
                case "function_call_output" -> {
                    demandFields(item, List.of("type", "call_id", "output"));
                    String id = item.path("call_id").asText();
                    demand(open.remove(id), "No tool call found for function call output with call_id " + id + ".");
                    demand(item.path("output").isTextual(), "Invalid type for 'input[" + i + "].output'");
                }
                case "reasoning" -> checkReasoning(item, body.path("model").asText(), input.path(i + 1));
                default ->
                    throw new Refused("Invalid value: '" + item.path("type").asText() + "'");
            }
        }
        demand(open.isEmpty(), "No tool output found for function call " + open + ".");
    }

    private static void checkMessage(JsonNode item) {
        demandFields(item, List.of("type", "role", "content", "phase"));
        String role = item.path("role").asText();
        JsonNode content = item.path("content");
        demand(Set.of("user", "assistant", "system", "developer").contains(role), "Invalid value: '" + role + "'");
        demand(content.isTextual() || (content.isArray() && !content.isEmpty()), "Invalid 'content': " + item);
        if (!content.isArray()) {
            return;
        }
        demand(!role.equals("assistant"), "Invalid 'content': this server takes replies as strings");
        for (JsonNode part : content) {
            boolean isText = part.path("type").asText().equals("input_text");
            demandFields(part, isText ? List.of("type", "text") : List.of("type", "image_url", "detail"));
            boolean sound = isText
                    ? part.path("text").isTextual()
                    : part.path("type").asText().equals("input_image")
                            && part.path("image_url").asText().matches("(?s)(https?://|data:image/).+")
                            && part.path("detail").asText().matches("auto|low|high|original");
            demand(sound, "Invalid 'content': " + part);
        }
    }

    private static String checkCall(JsonNode item, Set<String> used) {
        demandFields(item, List.of("type", "call_id", "name", "arguments"));
        String id = item.path("call_id").asText();
        demand(!id.isEmpty() && id.length() <= LONGEST_ID, "Invalid 'call_id': at most 64 characters: " + id);
        demand(used.add(id), "Duplicate call_id: " + id);
        demand(item.path("name").asText().matches(TOOL_NAME), "Invalid 'name': " + item);
        demand(isObject(item.path("arguments")), "Invalid 'arguments': " + item);
        return id;
    }

    private void checkReasoning(JsonNode item, String model, JsonNode next) {
        demandFields(item, List.of("type", "id", "summary", "content", "encrypted_content"));
        String id = item.path("id").asText();
        demand(id.startsWith("rs_"), "Invalid 'id': " + item);
        demand(item.path("summary").isArray(), "Missing required parameter: 'summary'.");
        demand(
                item.hasNonNull("encrypted_content"),
                "Item with id '" + id + "' not found. Items are not persisted when `store` is set to false.");
        demand(
                issued.contains(new Issued(model, item.path("encrypted_content").asText())),
                "The encrypted content for item " + id + " could not be verified.");
        boolean isFollowed = next.path("type").asText().matches("function_call|reasoning")
                || next.path("role").asText().equals("assistant");
        demand(isFollowed, "Item '" + id + "' of type 'reasoning' was provided without its required following item.");
    }

    @Override
    Script script(JsonNode request, String model, ModelAnswer.Speech speech) {
        Events events = new Events(model);
        String created = events.event("response.created", events.response("in_progress"));
        List<List<String>> pieces = new ArrayList<>();
        for (Piece piece : speech.pieces()) {
            pieces.add(events.of(piece));
        }
        return new Script(List.of(created), pieces, events.ending(speech));
    }

    /** The events of one response. */
    private final class Events {
        private final String model;
        private final ArrayNode output = JSON.createArrayNode();
        private final StringBuilder text = new StringBuilder();
        private boolean speaking;
        private int number;

        Events(String model) {
            this.model = model;
        }

        ObjectNode response(String status) {
            ObjectNode response = object("{\"object\":\"response\",\"created_at\":1700000000,\"error\":null,"
                    + "\"incomplete_details\":null,\"instructions\":null,\"metadata\":{},\"parallel_tool_calls\":true,"
                    + "\"temperature\":1.0,\"tool_choice\":\"auto\",\"tools\":[],\"top_p\":1.0,\"usage\":null}");
            response.put("id", "resp_1").put("model", model).put("status", status);
            response.set("output", output.deepCopy());
            return response;
        }

        String event(String type, ObjectNode response) {
            ObjectNode event = numbered(type);
            event.set("response", response);
            return event.toString();
        }

        private ObjectNode numbered(String type) {
            return JSON.createObjectNode().put("type", type).put("sequence_number", number++);
        }

        private ObjectNode indexed(String type) {
            return numbered(type).put("output_index", output.size());
        }

        private String item(String type, ObjectNode item) {
            ObjectNode event = indexed(type);
            event.set("item", item);
            return event.toString();
        }

        private String delta(String type, String item, String piece) {
            ObjectNode event = indexed(type).put("item_id", item).put("delta", piece);
            if (type.contains("text")) {
                event.put(type.contains("summary") ? "summary_index" : "content_index", 0);
            }
            if (type.equals("response.output_text.delta")) {
                event.putArray("logprobs");
            }
            return event.toString();
        }

        List<String> of(Piece piece) {
            List<String> events = new ArrayList<>();
            if (piece instanceof Piece.Words words) {
                if (!speaking) {
                    events.addAll(beginMessage());
                }
                text.append(words.text());
                events.add(delta("response.output_text.delta", id("msg_"), words.text()));
                return events;
            }
            events.addAll(endMessage());
            if (piece instanceof Piece.Call call) {
                events.addAll(call(call));
            } else if (piece instanceof Piece.Thought thought) {
                events.addAll(thought(thought));
            } else {
                ObjectNode strange = object(((Piece.Strange) piece).block());
                events.add(item("response.output_item.added", strange));
                events.add(item("response.output_item.done", strange));
                output.add(strange);
            }
            return events;
        }

        private String id(String prefix) {
            return prefix + output.size();
        }

        private ObjectNode message(String status) {
            ObjectNode item = JSON.createObjectNode().put("type", "message").put("id", id("msg_"));
            item.put("role", "assistant").put("status", status);
            ArrayNode content = item.putArray("content");
            if (status.equals("completed")) {
                content.add(part());
            }
            return item;
        }

        private ObjectNode part() {
            ObjectNode part = JSON.createObjectNode().put("type", "output_text").put("text", text.toString());
            part.putArray("annotations");
            part.putArray("logprobs");
            return part;
        }

        private List<String> beginMessage() {
            speaking = true;
            text.setLength(0);
            String added = item("response.output_item.added", message("in_progress"));
            ObjectNode part = indexed("response.content_part.added").put("item_id", id("msg_"));
            part.put("content_index", 0).set("part", part());
            return List.of(added, part.toString());
        }

        private List<String> endMessage() {
            if (!speaking) {
                return List.of();
            }
            speaking = false;
            ObjectNode done = indexed("response.output_text.done").put("item_id", id("msg_"));
            done.put("content_index", 0).put("text", text.toString()).putArray("logprobs");
            ObjectNode part = indexed("response.content_part.done").put("item_id", id("msg_"));
            part.put("content_index", 0).set("part", part());
            ObjectNode message = message("completed");
            List<String> events = List.of(done.toString(), part.toString(), item("response.output_item.done", message));
            output.add(message);
            return events;
        }

        private List<String> call(Piece.Call call) {
            List<String> events = new ArrayList<>();
            ObjectNode item =
                    JSON.createObjectNode().put("type", "function_call").put("id", id("fc_"));
            item.put("call_id", call.id())
                    .put("name", call.name())
                    .put("arguments", "")
                    .put("status", "in_progress");
            events.add(item("response.output_item.added", item));
            int middle = call.arguments().length() / 2;
            for (String half : List.of(
                    call.arguments().substring(0, middle), call.arguments().substring(middle))) {
                events.add(delta("response.function_call_arguments.delta", id("fc_"), half));
            }
            events.add(indexed("response.function_call_arguments.done")
                    .put("item_id", id("fc_"))
                    .put("name", call.name())
                    .put("arguments", call.arguments())
                    .toString());
            ObjectNode whole =
                    item.deepCopy().put("arguments", call.arguments()).put("status", "completed");
            events.add(item("response.output_item.done", whole));
            output.add(whole);
            return events;
        }

        private List<String> thought(Piece.Thought thought) {
            issued.add(new Issued(model, thought.signature()));
            ObjectNode item = JSON.createObjectNode().put("type", "reasoning").put("id", id("rs_"));
            item.putArray("summary");
            List<String> events = new ArrayList<>(List.of(item("response.output_item.added", item)));
            ObjectNode part =
                    JSON.createObjectNode().put("type", "summary_text").put("text", "");
            ObjectNode added = indexed("response.reasoning_summary_part.added").put("item_id", id("rs_"));
            events.add(added.put("summary_index", 0).set("part", part).toString());
            events.add(delta("response.reasoning_summary_text.delta", id("rs_"), thought.text()));
            ObjectNode said = part.deepCopy().put("text", thought.text());
            ObjectNode textDone =
                    indexed("response.reasoning_summary_text.done").put("item_id", id("rs_"));
            events.add(
                    textDone.put("summary_index", 0).put("text", thought.text()).toString());
            ObjectNode partDone =
                    indexed("response.reasoning_summary_part.done").put("item_id", id("rs_"));
            events.add(partDone.put("summary_index", 0).set("part", said).toString());
            ObjectNode whole = item.deepCopy().put("encrypted_content", thought.signature());
            whole.putArray("summary").add(said);
            events.add(item("response.output_item.done", whole));
            output.add(whole);
            return events;
        }

        List<String> ending(ModelAnswer.Speech speech) {
            List<String> events = new ArrayList<>(endMessage());
            String stop = speech.stopWord();
            boolean isComplete = stop.equals("end_turn") || stop.equals("tool_use");
            ObjectNode response = response(isComplete ? "completed" : "incomplete");
            if (!isComplete) {
                response.putObject("incomplete_details")
                        .put("reason", stop.equals("max_tokens") ? "max_output_tokens" : stop);
            }
            ObjectNode usage = response.putObject("usage");
            usage.put("input_tokens", speech.usage().inputTokens());
            usage.putObject("input_tokens_details")
                    .put("cached_tokens", speech.usage().cacheReadTokens())
                    .put("cache_write_tokens", speech.usage().cacheWriteTokens());
            usage.put("output_tokens", speech.usage().outputTokens());
            usage.putObject("output_tokens_details")
                    .put("reasoning_tokens", speech.usage().reasoningTokens());
            usage.put("total_tokens", speech.usage().total());
            events.add(event(isComplete ? "response.completed" : "response.incomplete", response));
            return events;
        }
    }

    @Override
    String event(String data) {
        String type = data.startsWith("{") && data.endsWith("}")
                ? object(data).path("type").asText()
                : "message";
        return "event: " + type + "\ndata: " + data + "\n\n";
    }
}
