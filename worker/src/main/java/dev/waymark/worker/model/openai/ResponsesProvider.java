package dev.waymark.worker.model.openai;

import dev.waymark.agent.ModelOption;
import dev.waymark.conversation.message.Message;
import dev.waymark.conversation.message.Part;
import dev.waymark.model.ModelFailure;
import dev.waymark.model.ModelRequest;
import dev.waymark.model.ReplyListener;
import dev.waymark.worker.model.http.EventReader;
import dev.waymark.worker.model.http.ProviderFailures;
import dev.waymark.worker.model.http.ProviderService;
import java.util.EnumSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;

/**
 * The models {@code openai-responses:MODEL}, through the Responses API, with the reasoning of earlier steps. The
 * environment variables are those of {@link OpenAiProvider}. Models that do not support encrypted reasoning reject
 * requests for it, and are then called without it. If the service rejects the encrypted reasoning in a request, the
 * request is sent once more without it.
 *
 * <pre>{@code
 * ModelProvider responses = ResponsesProvider.of(System.getenv());
 * }</pre>
 */
public final class ResponsesProvider extends OpenAiApi {
    /** The name in {@code openai-responses:MODEL}. */
    public static final String NAME = "openai-responses";

    private ResponsesProvider(Map<String, String> environment) {
        super("responses", environment);
    }

    /** @param environment the environment variables; only those of {@link OpenAiProvider} are read */
    public static ResponsesProvider of(Map<String, String> environment) {
        return new ResponsesProvider(environment);
    }

    @Override
    public Set<ModelOption> knownOptions() {
        Set<ModelOption> known = EnumSet.copyOf(super.knownOptions());
        known.add(ModelOption.THINKING_DISPLAY);
        return known;
    }

    @Override
    Object body(ModelRequest request, boolean withoutReasoning) {
        return ResponsesMapper.request(request, !withoutReasoning);
    }

    @Override
    EventReader reader(ProviderService service, String model, ReplyListener listener) {
        return new ResponsesReader(service, model, listener);
    }

    @Override
    boolean rejectsFirstForm(ModelFailure failure) {
        String words = words(failure);
        return failure.type().equals(ProviderFailures.BAD_REQUEST.type())
                && words.contains("encrypted")
                && words.contains("not supported");
    }

    /**
     * The service cannot always decrypt reasoning that it once encrypted, for instance if the key now belongs to
     * another organization. The model then continues without that reasoning.
     */
    @Override
    Optional<ModelRequest> withoutWhatIsRejected(ModelRequest request, ModelFailure failure) {
        String words = words(failure);
        boolean rejected = failure.type().equals(ProviderFailures.BAD_REQUEST.type())
                && (words.contains("invalid_encrypted_content")
                        || (words.contains("encrypted content") && words.contains("could not be verified")));
        List<Message> messages = request.messages().stream()
                .map(ResponsesProvider::withoutReasoning)
                .toList();
        return rejected && !messages.equals(request.messages())
                ? Optional.of(request.withMessages(messages))
                : Optional.empty();
    }

    /** Keeps the phases of messages, which are also stored as reasoning. */
    private static Message withoutReasoning(Message message) {
        return new Message(
                message.role(),
                message.content().stream()
                        .filter(part -> !(part instanceof Part.Reasoning reasoning
                                && ResponseItems.item(reasoning).isPresent()))
                        .toList());
    }
}
