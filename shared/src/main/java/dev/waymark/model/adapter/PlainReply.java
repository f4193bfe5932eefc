package dev.waymark.model.adapter;

import com.fasterxml.jackson.core.JsonProcessingException;
import dev.waymark.contract.PayloadJson;
import dev.waymark.conversation.message.Part;
import dev.waymark.conversation.message.Reply;
import dev.waymark.conversation.value.Json;
import dev.waymark.conversation.value.Usage;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/** Builds replies from a text and calls, in the form in which libraries return them. */
public final class PlainReply {
    private PlainReply() {}

    /** A call as the model wrote it. Its arguments should be JSON, but may be invalid. */
    public record Call(
            @Nullable String id, String name, @Nullable String arguments) {}

    /** Builds the reply. Calls whose arguments are not a JSON object become faults. */
    public static Reply of(@Nullable String text, List<Call> calls, Usage usage, String stop) {
        List<Part> parts = new ArrayList<>();
        if (text != null && !text.isEmpty()) {
            parts.add(new Part.Text(text));
        }
        List<Reply.Fault> faults = new ArrayList<>();
        for (int i = 0; i < calls.size(); i++) {
            Call call = calls.get(i);
            String id = call.id() == null || call.id().isBlank() ? "call_" + (i + 1) : call.id();
            Optional<Json> arguments = arguments(call.arguments());
            if (arguments.isEmpty()) {
                faults.add(new Reply.Fault(i, "the arguments are not a JSON object"));
            }
            parts.add(new Part.ToolUse(id, call.name(), arguments.orElse(Json.EMPTY_OBJECT)));
        }
        Reply reply = new Reply(parts, usage, stop);
        return faults.isEmpty() ? reply : reply.withFaults(faults);
    }

    /** Libraries represent missing arguments differently; LangChain4j uses {@code null} for Gemini. */
    private static Optional<Json> arguments(@Nullable String text) {
        if (text == null || text.isBlank() || text.equals("null")) {
            return Optional.of(Json.EMPTY_OBJECT);
        }
        try {
            return Optional.ofNullable(PayloadJson.MAPPER.readValue(text, Json.class))
                    .filter(Json::isObject);
        } catch (JsonProcessingException e) {
            return Optional.empty();
        }
    }
}
