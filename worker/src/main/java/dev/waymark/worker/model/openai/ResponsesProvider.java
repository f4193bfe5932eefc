package dev.waymark.worker.model.openai;

import dev.waymark.agent.ModelOption;
import dev.waymark.agent.ModelOptions;
import dev.waymark.agent.Pricing;
import dev.waymark.conversation.message.Reply;
import dev.waymark.model.ModelFailure;
import dev.waymark.model.ModelProvider;
import dev.waymark.model.ModelRequest;
import dev.waymark.model.ReplyListener;
import dev.waymark.worker.model.http.EventStreams;
import dev.waymark.worker.model.http.ProviderFailures;
import dev.waymark.worker.model.http.ProviderService;
import dev.waymark.worker.model.price.PriceTable;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import okhttp3.Request;

/**
 * The models {@code openai-responses:MODEL}, through the Responses API, with the reasoning of earlier steps. The
 * environment variables are those of {@link OpenAiProvider}.
 *
 * <pre>{@code
 * ModelProvider responses = ResponsesProvider.of(System.getenv());
 * }</pre>
 */
public final class ResponsesProvider implements ModelProvider {
    /** The name in {@code openai-responses:MODEL}. */
    public static final String NAME = "openai-responses";

    private final ProviderService service;
    private final EventStreams streams;
    /** Models that have no reasoning to encrypt, and reject requests for it. */
    private final Set<String> withoutReasoning = ConcurrentHashMap.newKeySet();

    private ResponsesProvider(ProviderService service) {
        this.service = service;
        this.streams = new EventStreams(service);
    }

    /** @param environment the environment variables; only those of {@link OpenAiProvider} are read */
    public static ResponsesProvider of(Map<String, String> environment) {
        return new ResponsesProvider(OpenAiProvider.service(environment));
    }

    @Override
    public Optional<String> lacks() {
        return service.lacks();
    }

    @Override
    public Optional<Pricing> pricing(String model) {
        return PriceTable.builtIn().of(NAME + ":" + model);
    }

    @Override
    public Set<ModelOption> knownOptions() {
        return OpenAiOptions.KNOWN;
    }

    @Override
    public Map<ModelOption, String> optionProblems(ModelOptions options, int maxTokens) {
        return OpenAiOptions.problems(options);
    }

    @Override
    public Reply reply(ModelRequest request) throws ModelFailure, InterruptedException {
        return reply(request, words -> {});
    }

    @Override
    public Reply reply(ModelRequest request, ReplyListener listener) throws ModelFailure, InterruptedException {
        boolean encrypted = !withoutReasoning.contains(request.model());
        try {
            return reply(request, encrypted, listener);
        } catch (ModelFailure failure) {
            if (!encrypted || !refusesEncryption(failure)) {
                throw failure;
            }
        }
        // The rejected request had no effect, so it can be repeated at once.
        Reply reply = reply(request, false, listener);
        withoutReasoning.add(request.model());
        return reply;
    }

    private Reply reply(ModelRequest request, boolean encrypted, ReplyListener listener)
            throws ModelFailure, InterruptedException {
        ResponsesRequest body = ResponsesMapper.request(request, encrypted);
        Request.Builder http =
                new Request.Builder().url(service.at("responses")).post(EventStreams.once(body));
        service.credentials("Bearer ").ifPresent(key -> http.header("Authorization", key));
        return streams.ask(http.build(), new ResponsesReader(service, request.model(), listener));
    }

    private static boolean refusesEncryption(ModelFailure failure) {
        String words = String.valueOf(failure.getMessage()).toLowerCase(Locale.ROOT);
        return failure.type().equals(ProviderFailures.BAD_REQUEST.type())
                && words.contains("encrypted")
                && words.contains("not supported");
    }
}
