package dev.waymark.worker.model.openai;

import dev.waymark.model.ModelFailure;
import dev.waymark.model.ModelProvider;
import dev.waymark.model.ModelRequest;
import dev.waymark.model.ReplyListener;
import dev.waymark.worker.model.http.EventReader;
import dev.waymark.worker.model.http.ProviderFailures;
import dev.waymark.worker.model.http.ProviderService;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.regex.Pattern;

/**
 * The models {@code openai-chat:MODEL}, through chat completions. {@code OPENAI_API_KEY} is the key; {@code
 * OPENAI_BASE_URL}, with {@code /v1}, is the address of a compatible server.
 *
 * <p>{@code openai:MODEL} is {@link ResponsesProvider} at OpenAI's own address, where newer models refuse tools in chat
 * completions, and this provider at all others, many of which offer nothing else.
 *
 * <p>OpenAI's newer models reject the older name of the token limit, while many other servers support only the older
 * one. OpenAI itself always gets the newer name. Any other server gets the older name first, and the newer one after a
 * rejection.
 *
 * <pre>{@code
 * ModelProvider local = OpenAiProvider.of(Map.of("OPENAI_BASE_URL", "http://127.0.0.1:11434/v1"));
 * }</pre>
 */
public final class OpenAiProvider extends OpenAiApi {
    /** The name in {@code openai-chat:MODEL}. */
    public static final String NAME = "openai-chat";

    private static final String OLD_LIMIT = "max_tokens";
    private static final String NEW_LIMIT = "max_completion_tokens";
    private static final Pattern UNKNOWN_FIELD =
            Pattern.compile("unsupported|not supported|unrecognized|unknown|unexpected|extra inputs|not permitted");

    private OpenAiProvider(Map<String, String> environment) {
        super("chat/completions", environment);
    }

    /**
     * @param environment the environment variables; only {@code OPENAI_API_KEY} and {@code OPENAI_BASE_URL} are read
     */
    public static OpenAiProvider of(Map<String, String> environment) {
        return new OpenAiProvider(environment);
    }

    /** The providers of OpenAI's APIs by name, with these environment variables. */
    public static Map<String, ModelProvider> all(Map<String, String> environment) {
        OpenAiProvider chat = of(environment);
        ResponsesProvider responses = ResponsesProvider.of(environment);
        Map<String, ModelProvider> all = new LinkedHashMap<>();
        all.put(SERVICE, chat.isAtHome() ? responses : chat);
        all.put(ResponsesProvider.NAME, responses);
        all.put(NAME, chat);
        return all;
    }

    @Override
    ModelFailure advised(ModelFailure failure, ModelRequest request) {
        String words = words(failure);
        return failure.type().equals(ProviderFailures.BAD_REQUEST.type())
                        && words.contains("tools")
                        && words.contains("reasoning_effort")
                ? ProviderFailures.BAD_REQUEST.failure(failure.getMessage() + " In the agent file, write model: "
                        + ResponsesProvider.NAME + ":" + request.model() + ", or options: { effort: none }")
                : failure;
    }

    @Override
    Object body(ModelRequest request, boolean newLimit) {
        return OpenAiMapper.request(request, newLimit);
    }

    @Override
    EventReader reader(ProviderService service, String model, ReplyListener listener) {
        return new OpenAiReader(service, model, listener);
    }

    @Override
    boolean needsSecondForm(String model) {
        return isAtHome() || super.needsSecondForm(model);
    }

    /**
     * The error must also name the newer field, or say that the older one is not supported: the error for a limit that
     * is too high names the older field, too.
     */
    @Override
    boolean rejectsFirstForm(ModelFailure failure) {
        String words = words(failure);
        return !failure.retryable()
                && words.contains(OLD_LIMIT)
                && (words.contains(NEW_LIMIT) || UNKNOWN_FIELD.matcher(words).find());
    }
}
