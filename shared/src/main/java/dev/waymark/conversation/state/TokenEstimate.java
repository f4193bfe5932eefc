package dev.waymark.conversation.state;

import dev.waymark.conversation.message.Message;
import dev.waymark.conversation.message.Part;
import dev.waymark.conversation.value.Json;
import dev.waymark.conversation.value.Usage;
import java.util.List;
import java.util.Optional;

/**
 * An estimate of a conversation's tokens: the provider's last count, and an estimate for later messages.
 *
 * @param tokens the tokens of the newest model call and its reply
 * @param messages the total number of messages at that time
 * @param summary the step of the newest summary. As long as no other step follows, it is in progress or was just
 *     written.
 */
public record TokenEstimate(long tokens, int messages, Optional<Integer> summary) {
    static final TokenEstimate UNREAD = new TokenEstimate(0, 0, Optional.empty());

    /** Holds for Latin text; other scripts take more tokens. */
    private static final int CHARACTERS_PER_TOKEN = 4;

    private static final int TOKENS_PER_IMAGE = 1_600;

    /**
     * The estimate after a reply.
     *
     * @param call the tokens of the model call and its reply
     * @param said the total number of messages, including the reply
     */
    public TokenEstimate read(Usage call, int said) {
        return new TokenEstimate(call.total(), said, summary);
    }

    /** A copy for a changed conversation, whose tokens the provider has not counted yet. */
    public TokenEstimate unread() {
        return new TokenEstimate(0, 0, summary);
    }

    public TokenEstimate summarizing(int step) {
        return new TokenEstimate(tokens, messages, Optional.of(step));
    }

    /** Forgets the newest summary, which failed. */
    public TokenEstimate notSummarizing() {
        return new TokenEstimate(tokens, messages, Optional.empty());
    }

    public boolean isSummary(int step) {
        return summary.filter(own -> own == step).isPresent();
    }

    public static long guess(List<Message> messages) {
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
