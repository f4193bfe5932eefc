package dev.waymark.worker.model.anthropic;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.MissingNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.waymark.conversation.message.Part;
import dev.waymark.conversation.message.Reply;
import dev.waymark.conversation.value.Json;
import dev.waymark.conversation.value.Usage;
import dev.waymark.model.ModelFailure;
import dev.waymark.model.ReplyListener;
import dev.waymark.worker.model.http.CallArguments;
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

/**
 * Assembles a streamed reply: content blocks that start, grow and stop, and a final {@code message_stop}. Without that
 * event the reply is incomplete.
 */
final class AnthropicReader implements EventReader {
    private final ProviderService service;
    private final String model;
    private final MaskedListener listener;

    private final SortedMap<Integer, Growing> blocks = new TreeMap<>();
    private long newTokens;
    private long cacheReadTokens;
    private long cacheWriteTokens;
    private long outputTokens;
    private long thinkingTokens;
    private String stop = "";
    private JsonNode stopDetails = MissingNode.getInstance();
    private boolean started;
    private boolean whole;
    private boolean droppedReasoning;
    private int size;
    private int begun;

    /** @param listener receives the text and the usage as they arrive */
    AnthropicReader(ProviderService service, String model, ReplyListener listener) {
        this.service = service;
        this.model = model;
        this.listener = new MaskedListener(service, listener);
    }

    /** A content block: the start event, and the deltas received so far. */
    private static final class Growing {
        private final ObjectNode block;
        private final StringBuilder text = new StringBuilder();
        private final StringBuilder signature = new StringBuilder();
        private final StringBuilder input = new StringBuilder();
        /** Whether the block received an unknown kind of delta, so that its content is incomplete. */
        private boolean isStrange;

        private boolean isOver;

        Growing(ObjectNode block) {
            this.block = block;
        }

        String type() {
            return block.path("type").asText();
        }
    }

    @Override
    public boolean read(String data) throws ModelFailure, JsonProcessingException {
        JsonNode tree = ProviderJson.event(data);
        StreamEvent event = ProviderJson.MAPPER.treeToValue(tree, StreamEvent.class);
        switch (event.type()) {
            case "message_start" -> {
                started = true;
                count(event.message().path("usage"));
                noteDropped(event.message().path("input_transformations"));
            }
            case "content_block_start" -> {
                size += data.length();
                begun++;
                begin(event);
            }
            case "content_block_delta" -> grow(growing(event), event.delta());
            case "content_block_stop" -> growing(event).isOver = true;
            case "message_delta" -> {
                stop = event.delta().path("stop_reason").asText(stop);
                stopDetails = event.delta().path("stop_details");
                count(event.usage());
                noteDropped(event.transformations());
            }
            case "message_stop" -> {
                whole = true;
                listener.end();
            }
            case "error" -> throw ErrorBody.of(tree).inStream(service);
            default -> {
                // ping, and event types added later.
            }
        }
        return whole;
    }

    /** The service reports dropped content at the start, and at the end if another model took over. */
    private void noteDropped(JsonNode transformations) {
        droppedReasoning |= transformations.findValuesAsText("type").contains("thinking_dropped");
    }

    private void begin(StreamEvent event) {
        if (!(event.block() instanceof ObjectNode block)) {
            throw new IllegalArgumentException("content_block_start without a content_block");
        }
        Growing begun = new Growing(block);
        blocks.put(event.index(), begun);
        if (begun.type().equals("text")) {
            say(begun, words(block, "text"));
        } else if (begun.type().equals("thinking")) {
            listener.newPassage();
            think(begun, words(block, "thinking"));
            begun.signature.append(words(block, "signature"));
        }
    }

    private Growing growing(StreamEvent event) {
        return Optional.ofNullable(blocks.get(event.index()))
                .filter(block -> !block.isOver)
                .orElseThrow(() -> new IllegalArgumentException("no open content block " + event.index()));
    }

    private void grow(Growing block, JsonNode delta) {
        switch (delta.path("type").asText()) {
            case "text_delta" -> say(block, kept(delta, "text"));
            case "input_json_delta" -> block.input.append(kept(delta, "partial_json"));
            case "thinking_delta" -> think(block, kept(delta, "thinking"));
            case "signature_delta" -> block.signature.append(kept(delta, "signature"));
            default -> block.isStrange = true;
        }
    }

    private String kept(JsonNode delta, String field) {
        String words = words(delta, field);
        size += words.length();
        return words;
    }

    /** Reads a text field. Gateways send null for missing values, which Jackson would turn into the text "null". */
    private static String words(JsonNode node, String field) {
        return node.path(field).asText("");
    }

    private void say(Growing block, String text) {
        block.text.append(text);
        if (block.type().equals("text")) {
            listener.words(text);
        }
    }

    private void think(Growing block, String text) {
        block.text.append(text);
        listener.reasoning(text);
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

    /** Each event replaces the earlier counts; missing and null counts stay unchanged. */
    private void count(JsonNode usage) {
        newTokens = count(usage, "input_tokens", newTokens);
        cacheWriteTokens = count(usage, "cache_creation_input_tokens", cacheWriteTokens);
        cacheReadTokens = count(usage, "cache_read_input_tokens", cacheReadTokens);
        outputTokens = count(usage, "output_tokens", outputTokens);
        thinkingTokens = count(usage.path("output_tokens_details"), "thinking_tokens", thinkingTokens);
        listener.usage(usage());
    }

    private static long count(JsonNode usage, String tokens, long before) {
        return Math.max(0, usage.path(tokens).asLong(before));
    }

    /** The input tokens include cached tokens. */
    private Usage usage() {
        return new Usage(
                        newTokens + cacheWriteTokens + cacheReadTokens, outputTokens, cacheReadTokens, cacheWriteTokens)
                .withReasoning(thinkingTokens);
    }

    @Override
    public Reply end() throws ModelFailure, JsonProcessingException {
        if (!whole || blocks.values().stream().anyMatch(block -> !block.isOver)) {
            throw ProviderFailures.streamCut(service);
        }
        List<Part> parts = new ArrayList<>();
        for (Growing block : blocks.values()) {
            part(block).ifPresent(parts::add);
        }
        boolean calls = parts.stream().anyMatch(Part.ToolUse.class::isInstance);
        switch (stop) {
            case "refusal" -> throw ProviderFailures.REFUSED.failure(refusal());
            case "model_context_window_exceeded" ->
                throw ProviderFailures.CONTEXT_WINDOW_EXCEEDED.failure(
                        "the conversation exceeds the context window of " + model);
            case "max_tokens" -> {
                if (calls) {
                    throw ProviderFailures.callCut();
                }
            }
            default -> {
                // With any other stop reason, the reply is complete.
            }
        }
        Reply reply = new Reply(parts, usage(), stop.isEmpty() ? "end_turn" : stop);
        return droppedReasoning ? reply.refusingReasoning() : reply;
    }

    private String refusal() {
        String category = words(stopDetails, "category");
        String explanation = service.withoutKey(words(stopDetails, "explanation"));
        return service.name() + " refuses to answer" + (category.isEmpty() ? "" : " (" + category + ")")
                + (explanation.isEmpty() ? "" : ": " + explanation);
    }

    private Optional<Part> part(Growing block) throws JsonProcessingException {
        String text = service.withoutKey(block.text.toString());
        String input = service.withoutKey(block.input.toString());
        switch (block.type()) {
            case "text":
                return text.isEmpty() ? Optional.empty() : Optional.of(new Part.Text(text));
            case "tool_use":
                Json args = input.isEmpty() ? json(block.block.path("input")) : CallArguments.read(input);
                return Optional.of(new Part.ToolUse(
                        words(block.block, "id"),
                        words(block.block, "name"),
                        args,
                        SentCall.of(block.block, CallArguments.spelling(input, args))));
            case "thinking":
                block.block.remove("thinking");
                if (block.signature.length() > 0) {
                    block.block.put("signature", block.signature.toString());
                }
                return Optional.of(OpaqueBlock.reasoning(model, text, json(block.block)));
            default:
                if (!input.isEmpty()) {
                    block.block.set("input", ProviderJson.MAPPER.valueToTree(CallArguments.read(input)));
                }
                boolean known = !block.isStrange && text.isEmpty();
                return known ? Optional.of(OpaqueBlock.reasoning(model, "", json(block.block))) : Optional.empty();
        }
    }

    private static Json json(JsonNode node) throws JsonProcessingException {
        return node.isMissingNode() || node.isNull()
                ? Json.EMPTY_OBJECT
                : Json.of(ProviderJson.MAPPER.treeToValue(node, Object.class));
    }
}
