package dev.waymark.worker.model.openai;

import com.fasterxml.jackson.annotation.JsonIgnoreProperties;
import com.fasterxml.jackson.annotation.JsonProperty;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.NullNode;
import dev.waymark.conversation.value.Usage;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/** An event of the stream: a piece of the reply, or its usage. Any field may be missing or null. */
@JsonIgnoreProperties(ignoreUnknown = true)
record ChatChunk(List<Choice> choices, Optional<Tokens> usage) {
    ChatChunk {
        choices = present(choices);
    }

    @JsonIgnoreProperties(ignoreUnknown = true)
    record Choice(
            int index,
            Delta delta,
            @JsonProperty("finish_reason") String finishReason) {
        Choice {
            delta = delta == null ? new Delta(NullNode.getInstance(), "", "", "", List.of()) : delta;
            finishReason = orEmpty(finishReason);
        }
    }

    /**
     * The field for reasoning has two names, depending on the server. For Mistral's reasoning models the content is a
     * list.
     */
    @JsonIgnoreProperties(ignoreUnknown = true)
    record Delta(
            JsonNode content,
            String refusal,
            @JsonProperty("reasoning_content") String reasoningContent,
            String reasoning,
            @JsonProperty("tool_calls") List<CallPiece> toolCalls) {
        Delta {
            content = orNothing(content);
            refusal = orEmpty(refusal);
            reasoningContent = orEmpty(reasoningContent);
            reasoning = orEmpty(reasoning);
            toolCalls = present(toolCalls);
        }

        /**
         * The text of the content. For a list, its text items; reasoning items could not be sent back and are dropped.
         */
        String words() {
            StringBuilder words = new StringBuilder(content.isArray() ? "" : content.asText(""));
            for (JsonNode item : content) {
                words.append(item.path("text").asText(""));
            }
            return words.toString();
        }
    }

    @JsonIgnoreProperties(ignoreUnknown = true)
    record CallPiece(
            int index,
            String id,
            FunctionPiece function,
            @JsonProperty("extra_content") JsonNode extra) {
        CallPiece {
            extra = orNothing(extra);
            id = orEmpty(id);
            function = function == null ? new FunctionPiece("", NullNode.getInstance()) : function;
        }
    }

    @JsonIgnoreProperties(ignoreUnknown = true)
    record FunctionPiece(String name, JsonNode arguments) {
        FunctionPiece {
            name = orEmpty(name);
            arguments = orNothing(arguments);
        }

        /** The arguments as JSON text, or a piece of that text. Some servers send the object itself. */
        String words() {
            return arguments.isContainerNode() ? arguments.toString() : arguments.asText("");
        }
    }

    @JsonIgnoreProperties(ignoreUnknown = true)
    record Tokens(
            @JsonProperty("prompt_tokens") long promptTokens,
            @JsonProperty("completion_tokens") long completionTokens,
            @JsonProperty("prompt_tokens_details") Optional<Details> details,
            @JsonProperty("completion_tokens_details") Optional<ReplyDetails> replyDetails) {

        Usage usage() {
            long prompt = Math.max(0, promptTokens);
            long cached = Math.min(
                    prompt, Math.max(0, details.map(Details::cachedTokens).orElse(0L)));
            long written = Math.max(0, details.map(Details::cacheWriteTokens).orElse(0L));
            return new Usage(prompt, Math.max(0, completionTokens), cached, Math.min(prompt - cached, written))
                    .withReasoning(
                            replyDetails.map(ReplyDetails::reasoningTokens).orElse(0L));
        }
    }

    @JsonIgnoreProperties(ignoreUnknown = true)
    record Details(
            @JsonProperty("cached_tokens") long cachedTokens,
            @JsonProperty("cache_write_tokens") long cacheWriteTokens) {}

    @JsonIgnoreProperties(ignoreUnknown = true)
    record ReplyDetails(@JsonProperty("reasoning_tokens") long reasoningTokens) {}

    private static JsonNode orNothing(@Nullable JsonNode node) {
        return node == null ? NullNode.getInstance() : node;
    }

    private static <T> List<T> present(@Nullable List<T> items) {
        return items == null
                ? List.of()
                : items.stream().filter(Objects::nonNull).toList();
    }

    private static String orEmpty(@Nullable String text) {
        return text == null ? "" : text;
    }
}
