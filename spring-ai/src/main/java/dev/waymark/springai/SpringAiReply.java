package dev.waymark.springai;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.MissingNode;
import dev.waymark.contract.PayloadJson;
import dev.waymark.conversation.message.Reply;
import dev.waymark.conversation.value.ProblemType;
import dev.waymark.conversation.value.Usage;
import dev.waymark.model.ModelFailure;
import dev.waymark.model.ReplyListener;
import dev.waymark.model.adapter.PlainReply;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import org.springframework.ai.chat.messages.AssistantMessage;
import org.springframework.ai.chat.metadata.EmptyUsage;
import org.springframework.ai.chat.model.ChatResponse;
import org.springframework.ai.chat.model.Generation;

/** Collects the pieces of a reply as they arrive. */
final class SpringAiReply {
    private static final int LONGEST = 1024 * 1024;

    private static final String MAX_TOKENS = "max_tokens";

    /** Finish reasons of complete replies, in lower case. The next two sets hold those of cut and refused replies. */
    private static final Set<String> COMPLETE = Set.of(
            "stop", "end_turn", "stop_sequence", "tool_use", "tool_calls", "tool_call", "function_call", "complete");

    private static final Set<String> CUT = Set.of("length", MAX_TOKENS, "model_length");

    private static final Set<String> REFUSED = Set.of(
            "content_filter",
            "content_filtered",
            "guardrail_intervened",
            "refusal",
            "safety",
            "blocklist",
            "prohibited_content",
            "recitation",
            "spii");

    /** Metadata that marks a generation as a thought: Anthropic's models add a signature or data. */
    private static final Set<String> MARKS_OF_THOUGHTS = Set.of("signature", "data");

    private final ReplyListener listener;
    private final StringBuilder text = new StringBuilder();
    /** Calls by id, because some models repeat the last call at the end of the reply. */
    private final Map<String, PlainReply.Call> calls = new LinkedHashMap<>();

    private Usage usage = Usage.NONE;
    private String stop = "";
    private int size;
    private boolean begun;

    SpringAiReply(ReplyListener listener) {
        this.listener = listener;
    }

    /** Whether a response of the service has arrived. */
    boolean hasBegun() {
        return begun;
    }

    void add(ChatResponse response) {
        if (!begun) {
            begun = true;
            listener.progress();
        }
        for (Generation generation : response.getResults()) {
            addOutput(generation.getOutput());
            String reason = generation.getMetadata().getFinishReason();
            if (reason != null && !reason.isBlank()) {
                stop = reason;
            }
        }
        addUsage(response.getMetadata().getUsage());
    }

    private void addOutput(AssistantMessage output) {
        for (AssistantMessage.ToolCall call : output.getToolCalls()) {
            String key = isGiven(call.id()) ? call.id() : "call_" + (calls.size() + 1);
            calls.put(key, new PlainReply.Call(key, call.name(), call.arguments()));
            size += key.length()
                    + (call.arguments() == null ? 0 : call.arguments().length());
            listener.progress();
        }
        String words = output.getText();
        if (isThought(output)) {
            listener.progress();
        } else if (isGiven(words)) {
            text.append(words);
            size += words.length();
            listener.words(words);
        }
    }

    private static boolean isGiven(@Nullable String value) {
        return value != null && !value.isEmpty();
    }

    private static boolean isThought(AssistantMessage output) {
        return MARKS_OF_THOUGHTS.stream().anyMatch(output.getMetadata()::containsKey)
                || Boolean.TRUE.equals(output.getMetadata().get("isThought"));
    }

    private void addUsage(org.springframework.ai.chat.metadata.@Nullable Usage told) {
        if (told == null || told instanceof EmptyUsage) {
            return;
        }
        JsonNode details = details(told.getNativeUsage());
        long input = count(told.getPromptTokens());
        long output = count(told.getCompletionTokens());
        if (input == 0 && output == 0 && details.isMissingNode()) {
            return;
        }
        // Anthropic's input count excludes tokens that its cache read or wrote. OpenAI's includes cached tokens.
        long read = details.path("cache_read_input_tokens").asLong(told(told, "cacheReadInputTokens"));
        long written = details.path("cache_creation_input_tokens").asLong(told(told, "cacheWriteInputTokens"));
        long included =
                details.path("prompt_tokens_details").path("cached_tokens").asLong();
        usage = new Usage(Math.max(input + read + written, usage.inputTokens()), output, read + included, written);
        listener.usage(usage);
    }

    /** Returns a count of Anthropic's that only Spring AI 2 has. */
    private static long told(org.springframework.ai.chat.metadata.Usage told, String property) {
        Object whole = told.getNativeUsage();
        return whole != null
                        && whole.getClass().getName().startsWith("com.anthropic.")
                        && BeanProperties.read(told, property).orElse(0L) instanceof Long count
                ? count
                : 0;
    }

    private static long count(@Nullable Integer tokens) {
        return tokens == null ? 0 : Math.max(0, tokens);
    }

    /** Returns the service's own usage report; a missing node if there is none or it can't be converted to JSON. */
    private static JsonNode details(@Nullable Object told) {
        try {
            return told == null || told instanceof Map<?, ?>
                    ? MissingNode.getInstance()
                    : PayloadJson.MAPPER.valueToTree(told);
        } catch (IllegalArgumentException e) {
            return MissingNode.getInstance();
        }
    }

    void checkSize() throws ModelFailure {
        if (size > LONGEST) {
            throw ModelFailure.permanent(
                    ProblemType.REPLY_TOO_LARGE, "the reply has more than " + LONGEST + " characters");
        }
    }

    /** @param streamed whether the reply was streamed, so that a missing finish reason means that it broke off */
    Reply finish(boolean streamed) throws ModelFailure {
        if (stop.isEmpty() && streamed) {
            throw ModelFailure.passing(ProblemType.STREAM_CUT, "the reply ended without a reason");
        }
        return PlainReply.of(text.toString(), List.copyOf(calls.values()), usage, reason());
    }

    private String reason() throws ModelFailure {
        String word = stop.toLowerCase(Locale.ROOT);
        if (REFUSED.contains(word)) {
            throw ModelFailure.permanent(ProblemType.REFUSED, "the provider refuses to answer (" + stop + ")");
        }
        if (!CUT.contains(word)) {
            return stop.isEmpty() || COMPLETE.contains(word) ? "end_turn" : stop;
        }
        if (!calls.isEmpty()) {
            throw ModelFailure.permanent(
                    ProblemType.CALL_CUT, "the reply reached the limit of tokens in the middle of its calls");
        }
        return MAX_TOKENS;
    }
}
