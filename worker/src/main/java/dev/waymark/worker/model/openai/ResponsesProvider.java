package dev.waymark.worker.model.openai;

import dev.waymark.model.ModelFailure;
import dev.waymark.model.ModelRequest;
import dev.waymark.model.ReplyListener;
import dev.waymark.worker.model.http.EventReader;
import dev.waymark.worker.model.http.ProviderFailures;
import dev.waymark.worker.model.http.ProviderService;
import java.util.Map;

/**
 * The models {@code openai-responses:MODEL}, through the Responses API, with the reasoning of earlier steps. The
 * environment variables are those of {@link OpenAiProvider}. Models without reasoning to encrypt reject requests for it,
 * and are asked without.
 *
 * <pre>{@code
 * ModelProvider responses = ResponsesProvider.of(System.getenv());
 * }</pre>
 */
public final class ResponsesProvider extends OpenAiApi {
    /** The name in {@code openai-responses:MODEL}. */
    public static final String NAME = "openai-responses";

    private ResponsesProvider(Map<String, String> environment) {
        super(NAME, "responses", environment);
    }

    /** @param environment the environment variables; only those of {@link OpenAiProvider} are read */
    public static ResponsesProvider of(Map<String, String> environment) {
        return new ResponsesProvider(environment);
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
}
