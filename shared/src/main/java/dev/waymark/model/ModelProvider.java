package dev.waymark.model;

import dev.waymark.agent.ModelOption;
import dev.waymark.agent.ModelOptions;
import dev.waymark.agent.Pricing;
import dev.waymark.conversation.message.Reply;
import java.util.Map;
import java.util.Optional;
import java.util.Set;

/**
 * A service that answers transcripts. One instance serves all threads of a worker, so it must be thread-safe. It does
 * not retry; Temporal does, if the failure allows it.
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
     * Sends one request. Anything else that is thrown, and null, is a bug of the provider: the call fails at once.
     *
     * @throws ModelFailure if no complete reply was received
     * @throws InterruptedException if the call was cancelled, the model was silent for too long, or the worker is
     *     closing; the request must be aborted immediately, and its connection closed
     */
    Reply reply(ModelRequest request) throws ModelFailure, InterruptedException;

    /**
     * Like {@link #reply(ModelRequest)}, with a listener for partial text and progress. Providers that cannot stream do
     * not call the listener; the agent's {@code silence} then limits the whole reply. Each attempt sends the text from
     * its beginning.
     */
    default Reply reply(ModelRequest request, ReplyListener listener) throws ModelFailure, InterruptedException {
        return reply(request);
    }

    /**
     * A message for the operator if something that the provider needs is missing, such as a key. The worker prints the
     * message and starts anyway, since the agent file is valid and other agents may not need this provider.
     */
    default Optional<String> lacks() {
        return Optional.empty();
    }

    /** The price of a model, if known. A price in the agent file overrides it. */
    default Optional<Pricing> pricing(String model) {
        return Optional.empty();
    }

    /**
     * Distinguishes models of the same name that may answer differently, such as those of services at different
     * addresses. Rehearsals keep a model's answers until this changes.
     *
     * @param model the part after {@code provider:}
     */
    default String version(String model) {
        return "";
    }

    /**
     * Checks whether a model can be called, as far as that is known without a request. An agent file whose model fails
     * this check is rejected with the failure's message.
     *
     * @param model the part after {@code provider:}
     */
    default void check(String model) throws ModelFailure {}

    /** The options that this provider passes on. An agent that sets any other option is rejected. */
    default Set<ModelOption> knownOptions() {
        return Set.of();
    }

    /**
     * The problems of options in {@link #knownOptions} that are found without a request. An agent with such options is
     * rejected with these messages.
     *
     * @param maxTokens the maximum number of tokens of a reply
     * @return a message for each option that cannot be used
     */
    default Map<ModelOption, String> optionProblems(ModelOptions options, int maxTokens) {
        return Map.of();
    }
}
