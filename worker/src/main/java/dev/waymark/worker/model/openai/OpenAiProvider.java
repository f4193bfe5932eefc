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
import dev.waymark.worker.model.http.ProviderService;
import dev.waymark.worker.model.price.PriceTable;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.regex.Pattern;
import okhttp3.Request;

/**
 * The models {@code openai:MODEL}, through chat completions. {@code OPENAI_API_KEY} is the key; {@code
 * OPENAI_BASE_URL}, with {@code /v1}, is the address of a compatible server.
 *
 * <pre>{@code
 * ModelProvider local = OpenAiProvider.of(Map.of("OPENAI_BASE_URL", "http://127.0.0.1:11434/v1"));
 * }</pre>
 */
public final class OpenAiProvider implements ModelProvider {
    /** The name in {@code openai:MODEL}. */
    public static final String NAME = "openai";

    private static final String HOST = "api.openai.com";

    private static final String OLD_LIMIT = "max_tokens";
    private static final String NEW_LIMIT = "max_completion_tokens";
    private static final Pattern UNKNOWN_FIELD =
            Pattern.compile("unsupported|not supported|unrecognized|unknown|unexpected|extra inputs|not permitted");

    private final ProviderService service;
    /** Models at other addresses that rejected the older name of the token limit. */
    private final Set<String> takeNewLimit = ConcurrentHashMap.newKeySet();

    private final EventStreams streams;

    private OpenAiProvider(ProviderService service) {
        this.service = service;
        this.streams = new EventStreams(service);
    }

    /** @param environment the environment variables; only the two above are read */
    public static OpenAiProvider of(Map<String, String> environment) {
        return new OpenAiProvider(service(environment));
    }

    /** The service, for each of its APIs. */
    static ProviderService service(Map<String, String> environment) {
        return ProviderService.of(NAME, "https://" + HOST + "/v1", environment);
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
        // OpenAI's newer models reject the older name of the token limit, while many other servers know only that one.
        // At other addresses the rejection tells which one applies. The rejected request had no effect, so it can be
        // repeated at once.
        boolean newLimit = service.isAt(HOST) || takeNewLimit.contains(request.model());
        try {
            return reply(request, newLimit, listener);
        } catch (ModelFailure failure) {
            if (newLimit || !refusesOldLimit(failure)) {
                throw failure;
            }
        }
        Reply reply = reply(request, true, listener);
        takeNewLimit.add(request.model());
        return reply;
    }

    private Reply reply(ModelRequest request, boolean newLimit, ReplyListener listener)
            throws ModelFailure, InterruptedException {
        ChatRequest body = OpenAiMapper.request(request, newLimit);
        Request.Builder http =
                new Request.Builder().url(service.at("chat/completions")).post(EventStreams.once(body));
        service.credentials("Bearer ").ifPresent(key -> http.header("Authorization", key));
        return streams.ask(http.build(), new OpenAiReader(service, request.model(), listener));
    }

    /** A rejection of a limit that is too high contains the name, too. */
    private static boolean refusesOldLimit(ModelFailure failure) {
        String words = String.valueOf(failure.getMessage()).toLowerCase(Locale.ROOT);
        return !failure.retryable()
                && words.contains(OLD_LIMIT)
                && (words.contains(NEW_LIMIT) || UNKNOWN_FIELD.matcher(words).find());
    }
}
