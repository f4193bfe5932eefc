package dev.waymark.worker.model.openai;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import dev.waymark.conversation.message.Part;
import dev.waymark.conversation.message.Reply;
import dev.waymark.conversation.value.Json;
import dev.waymark.conversation.value.Usage;
import dev.waymark.model.ModelFailure;
import dev.waymark.model.ReplyListener;
import dev.waymark.worker.model.http.ErrorBody;
import dev.waymark.worker.model.http.EventReader;
import dev.waymark.worker.model.http.MaskedListener;
import dev.waymark.worker.model.http.ProviderFailures;
import dev.waymark.worker.model.http.ProviderJson;
import dev.waymark.worker.model.http.ProviderService;
import dev.waymark.worker.model.http.SentCall;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.stream.Collectors;
import java.util.stream.StreamSupport;

/**
 * Assembles a streamed response: output items that are added, grow and are done, and a final event with the usage.
 * Without that event the reply is incomplete. The reply consists of the finished items; text deltas are only passed to
 * the listener.
 */
final class ResponsesReader implements EventReader {
    private static final String LIMIT = "max_output_tokens";

    private final ProviderService service;
    private final String model;
    private final MaskedListener listener;

    private final SortedMap<Integer, Growing> items = new TreeMap<>();
    private Usage usage = Usage.NONE;
    private boolean started;
    private boolean whole;
    private String incomplete = "";
    private int size;
    private int begun;

    /** @param listener receives the text and the usage as they arrive */
    ResponsesReader(ProviderService service, String model, ReplyListener listener) {
        this.service = service;
        this.model = model;
        this.listener = new MaskedListener(service, listener);
    }

    /** The latest version of an output item. */
    private static final class Growing {
        private JsonNode item;
        private boolean isDone;

        Growing(JsonNode item) {
            this.item = item;
        }

        String type() {
            return item.path("type").asText("");
        }
    }

    @Override
    public boolean read(String data) throws ModelFailure, JsonProcessingException {
        JsonNode event = ProviderJson.event(data);
        switch (event.path("type").asText("")) {
            case "response.created" -> started = true;
            case "response.output_item.added" -> {
                begun++;
                listener.newPassage();
                items.put(index(event), new Growing(event.path("item")));
            }
            case "response.output_text.delta" -> listener.words(kept(event));
            case "response.reasoning_summary_part.added" -> listener.newPassage();
            case "response.reasoning_summary_text.delta", "response.reasoning_text.delta" ->
                listener.reasoning(kept(event));
            case "response.function_call_arguments.delta", "response.refusal.delta" -> kept(event);
            case "response.output_item.done" -> {
                Growing growing = Optional.ofNullable(items.get(index(event)))
                        .filter(item -> !item.isDone)
                        .orElseThrow(() -> new IllegalArgumentException("no open output item " + index(event)));
                growing.item = event.path("item");
                growing.isDone = true;
                size += growing.item.path("encrypted_content").asText("").length();
            }
            case "response.completed" -> end(event.path("response"));
            case "response.incomplete" -> {
                JsonNode response = event.path("response");
                incomplete = response.at("/incomplete_details/reason").asText("incomplete");
                end(response);
            }
            case "response.failed" -> {
                count(event.path("response").path("usage"));
                throw ErrorBody.of(event.path("response")).inStream(service);
            }
            case "error" -> throw ErrorBody.of(event).inStream(service);
            default -> {
                // Events whose content the finished items repeat, and event types added later.
            }
        }
        return whole;
    }

    private static int index(JsonNode event) {
        return event.path("output_index").asInt(0);
    }

    private String kept(JsonNode event) {
        String piece = event.path("delta").asText("");
        size += piece.length();
        return piece;
    }

    /** The last event repeats all items, including those that were cut. */
    private void end(JsonNode response) {
        whole = true;
        listener.end();
        items.forEach((index, growing) -> {
            JsonNode last = response.path("output").path(index);
            if (!growing.isDone && last.isObject()) {
                growing.item = last;
                growing.isDone = true;
            }
        });
        count(response.path("usage"));
    }

    /** Output tokens include reasoning, and input tokens include cached tokens. */
    private void count(JsonNode tokens) {
        long input = Math.max(0, tokens.path("input_tokens").asLong(0));
        long read = Math.min(
                input,
                Math.max(0, tokens.at("/input_tokens_details/cached_tokens").asLong(0)));
        long written = Math.max(
                0, tokens.at("/input_tokens_details/cache_write_tokens").asLong(0));
        usage = new Usage(
                        input,
                        Math.max(0, tokens.path("output_tokens").asLong(0)),
                        read,
                        Math.min(input - read, written))
                .withReasoning(
                        tokens.at("/output_tokens_details/reasoning_tokens").asLong(0));
        listener.usage(usage);
    }

    @Override
    public boolean hasBegun() {
        return started;
    }

    @Override
    public int size() {
        return size;
    }

    @Override
    public int parts() {
        return begun;
    }

    @Override
    public Reply end() throws ModelFailure, JsonProcessingException {
        boolean isOpen = items.values().stream().anyMatch(item -> !item.isDone);
        if (!whole || (isOpen && incomplete.isEmpty())) {
            throw ProviderFailures.streamCut(service);
        }
        if (incomplete.equals("content_filter")) {
            throw ProviderFailures.REFUSED.failure(service.name() + " withheld the reply");
        }
        boolean calls = items.values().stream().anyMatch(item -> item.type().equals("function_call"));
        if (!incomplete.isEmpty() && calls) {
            throw ProviderFailures.callCut();
        }
        List<Part> parts = new ArrayList<>();
        for (Growing growing : items.values()) {
            switch (growing.type()) {
                case "message" -> addMessage(growing.item, parts);
                case "function_call" -> parts.add(call(growing.item));
                case "reasoning" -> reasoning(growing.item).ifPresent(parts::add);
                default -> {
                    // Items of the service's own tools, which requests do not enable.
                }
            }
        }
        return new Reply(parts, usage, stop(calls));
    }

    private void addMessage(JsonNode item, List<Part> parts) throws ModelFailure {
        StringBuilder text = new StringBuilder();
        for (JsonNode part : item.path("content")) {
            if (part.path("type").asText("").equals("refusal")) {
                throw ProviderFailures.REFUSED.failure(service.name() + " refuses to answer: "
                        + service.withoutKey(part.path("refusal").asText("")));
            }
            text.append(part.path("text").asText(""));
        }
        if (text.length() > 0) {
            String phase = item.path("phase").asText("");
            if (!phase.isEmpty()) {
                parts.add(ResponseItems.phase(model, phase));
            }
            parts.add(new Part.Text(service.withoutKey(text.toString())));
        }
    }

    private Part call(JsonNode item) {
        return SentCall.read(
                item.path("call_id").asText(""),
                service.withoutKey(item.path("name").asText("")),
                service.withoutKey(item.path("arguments").asText("")));
    }

    /** Reasoning that was not encrypted cannot be sent back, because the service stores nothing. */
    private Optional<Part> reasoning(JsonNode item) throws JsonProcessingException {
        String summary =
                texts(item.path("summary")).isEmpty() ? texts(item.path("content")) : texts(item.path("summary"));
        boolean isEncrypted = !item.path("encrypted_content").asText("").isEmpty();
        if (summary.isEmpty() && !isEncrypted) {
            return Optional.empty();
        }
        Optional<Json> kept = isEncrypted ? Optional.of(json(item)) : Optional.empty();
        return Optional.of(ResponseItems.reasoning(model, service.withoutKey(summary), kept));
    }

    private Json json(JsonNode item) throws JsonProcessingException {
        var sent = JsonNodeFactory.instance.objectNode();
        item.properties().stream()
                .filter(field ->
                        !field.getKey().equals("status") && !field.getValue().isNull())
                .forEach(field -> sent.set(field.getKey(), field.getValue()));
        return Json.of(ProviderJson.MAPPER.readValue(service.withoutKey(sent.toString()), Object.class));
    }

    private static String texts(JsonNode list) {
        return StreamSupport.stream(list.spliterator(), false)
                .map(part -> part.path("text").asText(""))
                .collect(Collectors.joining("\n\n"));
    }

    /** The stop reason, in the terms that Waymark uses for all providers. */
    private String stop(boolean calls) {
        if (incomplete.isEmpty()) {
            return calls ? "tool_use" : "end_turn";
        }
        return incomplete.equals(LIMIT) ? "max_tokens" : incomplete;
    }
}
