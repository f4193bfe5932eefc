package dev.waymark.worker.model.openai;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.JsonNode;
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
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * Assembles a streamed reply: pieces of text and of calls, usage, and a {@code finish_reason}. Without a finish reason
 * the reply is incomplete.
 */
final class OpenAiReader implements EventReader {
    private static final String LAST = "[DONE]";

    private final ProviderService service;
    private final String model;
    private final MaskedListener listener;

    private final StringBuilder text = new StringBuilder();
    private final StringBuilder thoughts = new StringBuilder();
    private final StringBuilder refusal = new StringBuilder();
    private final List<Growing> calls = new ArrayList<>();
    private final Map<Integer, Growing> newest = new LinkedHashMap<>();
    private Usage usage = Usage.NONE;
    private String finish = "";
    private boolean started;
    private int size;

    /** The request, if it has tools: without tools, the API rejects settings for calls. */
    OpenAiReader(ProviderService service, String model, ReplyListener listener) {
        this.service = service;
        this.model = model;
        this.listener = new MaskedListener(service, listener);
    }

    /** A call: the pieces received so far. */
    private static final class Growing {
        private String id = "";
        private final StringBuilder name = new StringBuilder();
        private final StringBuilder arguments = new StringBuilder();
        private Json extra = Json.of(null);
        private int extraLength;
    }

    @Override
    public boolean read(String data) throws ModelFailure, JsonProcessingException {
        if (data.strip().equals(LAST)) {
            return true;
        }
        JsonNode tree = ProviderJson.event(data);
        // Some servers send the error object itself as the event.
        if (tree.hasNonNull("error") || tree.path("object").asText().equals("error")) {
            throw ErrorBody.of(tree).inStream(service);
        }
        ChatChunk chunk = ProviderJson.MAPPER.treeToValue(tree, ChatChunk.class);
        chunk.choices().stream().filter(choice -> choice.index() == 0).forEach(this::take);
        chunk.usage().ifPresent(tokens -> {
            usage = tokens.usage();
            listener.usage(usage);
        });
        return false;
    }

    private void take(ChatChunk.Choice choice) {
        started = true;
        ChatChunk.Delta delta = choice.delta();
        String thought = delta.reasoningContent().isEmpty() ? delta.reasoning() : delta.reasoningContent();
        keep(thoughts, thought);
        listener.reasoning(thought);
        keep(refusal, delta.refusal());
        String words = delta.words();
        keep(text, words);
        listener.words(words);
        delta.toolCalls().forEach(this::take);
        if (!choice.finishReason().isEmpty()) {
            finish = choice.finishReason();
            listener.end();
        }
    }

    private void take(ChatChunk.CallPiece piece) {
        Growing call = newest.get(piece.index());
        if (call == null || isOfAnother(piece, call)) {
            call = new Growing();
            calls.add(call);
            newest.put(piece.index(), call);
        }
        if (!piece.id().isEmpty()) {
            size += piece.id().length() - call.id.length();
            call.id = piece.id();
        }
        if (!piece.extra().isNull()) {
            call.extra = Json.of(ProviderJson.MAPPER.convertValue(piece.extra(), Object.class));
            int length = piece.extra().toString().length();
            size += length - call.extraLength;
            call.extraLength = length;
        }
        keep(call.name, piece.function().name());
        keep(call.arguments, piece.function().words());
    }

    private void keep(StringBuilder pieces, String piece) {
        pieces.append(piece);
        size += piece.length();
    }

    /** True from the first choice on. The first choice usually has only the role and no text. */
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
        return calls.size();
    }

    /**
     * Whether a piece starts another call. Some servers use one index for all calls of a reply; then a new id marks a
     * new call, or a new name if there are no ids.
     */
    private static boolean isOfAnother(ChatChunk.CallPiece piece, Growing call) {
        if (piece.id().isEmpty() || call.id.isEmpty()) {
            return piece.id().equals(call.id) && !piece.function().name().isEmpty() && call.arguments.length() > 0;
        }
        return !piece.id().equals(call.id);
    }

    @Override
    public Reply end() throws ModelFailure {
        if (refusal.length() > 0) {
            throw ProviderFailures.REFUSED.failure(service.name() + " refuses to answer: " + whole(refusal));
        }
        switch (finish) {
            case "" -> throw ProviderFailures.streamCut(service);
            case "error" ->
                throw ProviderFailures.SERVER_ERROR.failure(service.name() + " ended the stream with an error");
            case "content_filter" -> throw ProviderFailures.REFUSED.failure(service.name() + " withheld the reply");
            case "length" -> {
                if (!calls.isEmpty()) {
                    throw ProviderFailures.callCut();
                }
            }
            default -> {
                // With any other finish reason, the reply is complete.
            }
        }
        List<Part> parts = new ArrayList<>();
        if (thoughts.length() > 0) {
            parts.add(ReasoningDetails.reasoning(model, whole(thoughts)));
        }
        if (text.length() > 0) {
            parts.add(new Part.Text(whole(text)));
        }
        if (calls.stream().anyMatch(call -> !call.extra.isNull())) {
            parts.add(ReasoningDetails.signing(
                    model, calls.stream().map(call -> call.extra).toList()));
        }
        for (Growing call : calls) {
            parts.add(SentCall.read(call.id, whole(call.name), whole(call.arguments)));
        }
        return new Reply(parts, usage, stop());
    }

    /** Joins the pieces before it masks the key, which may be split between them. */
    private String whole(StringBuilder pieces) {
        return service.withoutKey(pieces.toString());
    }

    /** The finish reason, in the terms that Waymark uses for all providers. */
    private String stop() {
        return switch (finish) {
            case "stop" -> "end_turn";
            case "tool_calls", "function_call" -> "tool_use";
            case "length" -> "max_tokens";
            default -> finish;
        };
    }
}
