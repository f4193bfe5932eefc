package dev.waymark.model;

import dev.waymark.conversation.Reply;

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
     * Whether a model can be asked for, as far as that is known without asking. An agent file that names one which can't
     * is refused with these words.
     *
     * @param model the part behind {@code provider:}
     */
    default void check(String model) throws ModelFailure {}
}
