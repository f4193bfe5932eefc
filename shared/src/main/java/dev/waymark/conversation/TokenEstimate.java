package dev.waymark.conversation;

import com.fasterxml.jackson.annotation.JsonCreator;
import com.fasterxml.jackson.annotation.JsonIgnoreProperties;
import com.fasterxml.jackson.annotation.JsonInclude;
import com.fasterxml.jackson.annotation.JsonProperty;
import dev.waymark.conversation.message.Message;
import dev.waymark.conversation.message.Part;
import dev.waymark.conversation.value.Json;
import dev.waymark.conversation.value.Usage;
import java.util.List;
import java.util.Optional;

/**
 * How many tokens a conversation takes: what the provider counted last, and a guess at what was said since.
 *
 * @param tokens of the newest model call and its reply
 * @param messages how many had ever been said by then
 * @param summary the step of the newest summary. While no other step follows it is under way, or was just made.
 */
@JsonIgnoreProperties(ignoreUnknown = true)
@JsonInclude(JsonInclude.Include.NON_ABSENT)
public record TokenEstimate(
        @JsonProperty("tokens") long tokens,
        @JsonProperty("messages") int messages,
        @JsonProperty("summary") Optional<Integer> summary) {
    static final TokenEstimate UNREAD = new TokenEstimate(0, 0, Optional.empty());

    /** Of a Latin text; others take more. */
    private static final int CHARACTERS_PER_TOKEN = 4;

    private static final int TOKENS_PER_IMAGE = 1_600;

    @JsonCreator
    public TokenEstimate {
        summary = summary == null ? Optional.empty() : summary;
    }

    /** After a reply, when this many messages have been said. */
    TokenEstimate read(Usage call, int said) {
        return new TokenEstimate(call.total(), said, summary);
    }

    /** Nothing was counted of the conversation that there is now. */
    TokenEstimate unread() {
        return new TokenEstimate(0, 0, summary);
    }

    TokenEstimate summarising(int step) {
        return new TokenEstimate(tokens, messages, Optional.of(step));
    }

    /** The newest summary will not come, and may be asked for again. */
    TokenEstimate notSummarising() {
        return new TokenEstimate(tokens, messages, Optional.empty());
    }

    boolean isSummary(int step) {
        return summary.filter(own -> own == step).isPresent();
    }

    static long guess(List<Message> messages) {
        return messages.stream()
                .flatMap(message -> message.content().stream())
                .mapToLong(TokenEstimate::guess)
                .sum();
    }

    private static long guess(Part part) {
        boolean image = part instanceof Part.Image || part instanceof Part.ImageData;
        return image ? TOKENS_PER_IMAGE : Json.canonical(part.tree()).length() / CHARACTERS_PER_TOKEN;
    }
}
