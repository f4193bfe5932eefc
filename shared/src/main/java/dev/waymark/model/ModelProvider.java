package dev.waymark.model;

import dev.waymark.conversation.Reply;
import java.util.Optional;
import java.util.function.Consumer;

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
     * As {@link #reply(ModelRequest)}, telling the words of the reply while they come. What is told is for the eyes of
     * whoever waits and nothing else: a reply counts once it is returned, and the next attempt begins with its first word.
     *
     * @param words is given the text of the reply piece by piece, in order, in the calling thread; the pieces add up to
     *     it. A provider that can't stream gives nothing.
     */
    default Reply reply(ModelRequest request, Consumer<String> words) throws ModelFailure, InterruptedException {
        return reply(request);
    }

    /**
     * What is missing before any of its models can be asked, such as a key, in words for whoever runs the worker. A worker
     * says so when it starts, and starts: its other agents need nothing of the kind, and nothing is wrong with the file.
     */
    default Optional<String> lacks() {
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
