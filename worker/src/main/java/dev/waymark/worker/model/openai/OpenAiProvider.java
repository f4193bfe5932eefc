package dev.waymark.worker.model.openai;

import dev.waymark.conversation.Reply;
import dev.waymark.model.ModelFailure;
import dev.waymark.model.ModelProvider;
import dev.waymark.model.ModelRequest;
import dev.waymark.worker.model.http.EventStreams;
import dev.waymark.worker.model.http.Service;
import java.util.Map;
import java.util.Optional;
import java.util.function.Consumer;
import okhttp3.Request;

/**
 * The models {@code openai:MODEL}, by chat completions. {@code OPENAI_API_KEY} is the key, and {@code OPENAI_BASE_URL},
 * with {@code /v1}, the address of any compatible server.
 *
 * <pre>{@code
 * ModelProvider local = OpenAiProvider.of(Map.of("OPENAI_BASE_URL", "http://127.0.0.1:11434/v1"));
 * }</pre>
 */
public final class OpenAiProvider implements ModelProvider {
    /** The name in {@code openai:MODEL}. */
    public static final String NAME = "openai";

    private static final String HOST = "api.openai.com";

    private final Service service;
    private final EventStreams streams;

    private OpenAiProvider(Service service) {
        this.service = service;
        this.streams = new EventStreams(service);
    }

    /** @param environment variables, of which it reads its own two */
    public static OpenAiProvider of(Map<String, String> environment) {
        return new OpenAiProvider(Service.of(NAME, "https://" + HOST + "/v1", environment));
    }

    @Override
    public Optional<String> lacks() {
        return service.lacks();
    }

    @Override
    public Reply reply(ModelRequest request) throws ModelFailure, InterruptedException {
        return reply(request, words -> {});
    }

    @Override
    public Reply reply(ModelRequest request, Consumer<String> words) throws ModelFailure, InterruptedException {
        // OpenAI's newer models refuse the older name of the limit, many other servers know no other.
        ChatRequest body = OpenAiMapper.request(request, service.isAt(HOST));
        Request.Builder http =
                new Request.Builder().url(service.at("chat/completions")).post(EventStreams.once(body));
        service.credentials("Bearer ").ifPresent(key -> http.header("Authorization", key));
        return streams.ask(http.build(), new OpenAiReader(service, request.model(), words));
    }
}
