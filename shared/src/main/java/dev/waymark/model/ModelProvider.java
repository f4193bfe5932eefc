package dev.waymark.model;

import dev.waymark.agent.Pricing;
import dev.waymark.conversation.message.Reply;
import java.util.Optional;

/**
 * A service that answers transcripts. One object serves all threads of a worker at once, so it is thread-safe. It does
 * not retry: that is left to Temporal, which needs to know only whether it may and from when.
 *
 * <pre>{@code
 * ModelProvider parrot = request ->
 *         Reply.of(new Part.Text(request.messages().get(request.messages().size() - 1).text()));
 * ModelProviders providers = ModelProviders.of(Map.of("parrot", parrot)); // model: parrot:any
 * }</pre>
 */
@FunctionalInterface
public interface ModelProvider {

    /**
     * Asks once.
     *
     * @throws ModelFailure when no complete reply came
     * @throws InterruptedException when the call was cancelled or the worker is closing; the request is given up at once
     */
    Reply reply(ModelRequest request) throws ModelFailure, InterruptedException;

    /**
     * As {@link #reply(ModelRequest)}, telling of the reply while it comes. A provider that can't stream tells nothing, and
     * the next attempt begins with the first word.
     */
    default Reply reply(ModelRequest request, ReplyListener listener) throws ModelFailure, InterruptedException {
        return reply(request);
    }

    /**
     * What is missing before any of its models can be asked, such as a key, in words for whoever runs the worker. A worker
     * says so when it starts, and starts: its other agents need nothing of the kind, and nothing is wrong with the file.
     */
    default Optional<String> lacks() {
        return Optional.empty();
    }

    /** What a model costs, where that is known. An agent file can say it, too, and is believed. */
    default Optional<Pricing> pricing(String model) {
        return Optional.empty();
    }

    /**
     * Whether a model can be asked for, as far as that is known without asking. An agent file that names one which can't
     * is refused with these words.
     *
     * @param model the part behind {@code provider:}
     */
    default void check(String model) throws ModelFailure {}
}
