package dev.waymark.springai;

import dev.waymark.conversation.message.Reply;
import dev.waymark.conversation.value.ProblemType;
import dev.waymark.model.ModelFailure;
import dev.waymark.model.ModelProvider;
import dev.waymark.model.ModelRequest;
import dev.waymark.model.ReplyListener;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import org.springframework.ai.chat.model.ChatModel;
import org.springframework.ai.chat.model.ChatResponse;
import org.springframework.ai.chat.prompt.Prompt;
import reactor.core.publisher.BaseSubscriber;

/**
 * Models of Spring AI, by names that you choose. If the provider is registered under {@code spring-ai}, an agent refers
 * to a model by {@code spring-ai:NAME}. Spring AI never executes tools here: Waymark does. Works with Spring AI 1.1 and 2.
 *
 * <p>Only Temporal retries, so that the cost of each attempt is recorded. Replies are streamed, because a model of Spring
 * AI 1 that streams does not use its {@code RetryTemplate}; build a model of Spring AI 2 with {@code maxRetries(0)}.
 * Name models that do not stream in {@link #withoutStreaming}. A model's own
 * options apply, except for the token limit: the agent sets it, unless the model has {@code maxCompletionTokens}.
 *
 * <pre>{@code
 * OpenAiChatModel gpt = OpenAiChatModel.builder()…build();
 * AgentWorker.on(connection)
 *         .provider("spring-ai", SpringAiProvider.of(Map.of("gpt", gpt))) // model: spring-ai:gpt
 * }</pre>
 */
public final class SpringAiProvider implements ModelProvider {
    private final Map<String, ChatModel> models;
    private final Set<String> whole;

    private SpringAiProvider(Map<String, ChatModel> models, Set<String> whole) {
        this.models = Collections.unmodifiableMap(new LinkedHashMap<>(models));
        this.whole = Collections.unmodifiableSet(new LinkedHashSet<>(whole));
    }

    /** Creates a provider of these models, which must stream. */
    public static SpringAiProvider of(Map<String, ? extends ChatModel> models) {
        return new SpringAiProvider(new LinkedHashMap<>(models), Set.of());
    }

    /**
     * Returns a provider that requests complete replies from these models, for services or Spring AI classes that do
     * not stream. Such a model must not retry, which the provider cannot check: build the model with {@code
     * retryTemplate(RetryTemplate.builder().maxAttempts(1).build())}.
     *
     * @throws IllegalArgumentException if there is no model with one of these names
     */
    public SpringAiProvider withoutStreaming(String... names) {
        Set<String> all = new LinkedHashSet<>(whole);
        for (String name : names) {
            if (!models.containsKey(name)) {
                throw new IllegalArgumentException(unknown(name));
            }
            all.add(name);
        }
        return new SpringAiProvider(models, all);
    }

    @Override
    public void check(String model) throws ModelFailure {
        find(model);
    }

    private ChatModel find(String name) throws ModelFailure {
        ChatModel model = models.get(name);
        if (model == null) {
            throw ModelFailure.permanent(ProblemType.MODEL_NOT_FOUND, unknown(name));
        }
        List<String> tools = RequestOptions.tools(model.getDefaultOptions());
        if (!tools.isEmpty()) {
            throw ModelFailure.permanent(
                    ProblemType.NOT_CONFIGURED,
                    "the model " + name + " has tools of its own (" + String.join(", ", tools)
                            + "), which Waymark cannot run. Build it without, and give them to the agent by"
                            + " SpringAiTools.of");
        }
        int retries = RequestOptions.retries(model.getDefaultOptions());
        if (retries > 0) {
            throw ModelFailure.permanent(
                    ProblemType.NOT_CONFIGURED,
                    "the model " + name + " retries up to " + retries + " times by itself, unseen by Temporal, which"
                            + " retries as well. Build it with maxRetries(0)");
        }
        return model;
    }

    private String unknown(String name) {
        return "no model " + name + ". Known models: " + String.join(", ", models.keySet());
    }

    @Override
    public Reply reply(ModelRequest request) throws ModelFailure, InterruptedException {
        return reply(request, words -> {});
    }

    @Override
    public Reply reply(ModelRequest request, ReplyListener listener) throws ModelFailure, InterruptedException {
        String name = request.model();
        ChatModel model = find(name);
        boolean streams = !whole.contains(name);
        Prompt prompt = SpringAiMapper.prompt(request, model.getDefaultOptions());
        Responses responses = new Responses();
        Thread caller = new Thread(() -> ask(model, prompt, streams, responses), "spring-ai model call");
        caller.setDaemon(true);
        caller.start();
        SpringAiReply reply = new SpringAiReply(listener);
        boolean complete = false;
        try {
            while (!complete) {
                Event event = responses.queue.take();
                if (event.failure().isPresent()) {
                    throw failure(name, event.failure().get(), reply);
                }
                event.response().ifPresent(reply::add);
                reply.checkSize();
                complete = event.response().isEmpty();
            }
            return reply.finish(streams);
        } finally {
            if (!complete) {
                responses.dispose();
                caller.interrupt();
            }
        }
    }

    private static ModelFailure failure(String name, Throwable thrown, SpringAiReply reply) {
        return thrown instanceof NotStreaming
                ? ModelFailure.permanent(
                        ProblemType.NOT_CONFIGURED,
                        "the model " + name + " does not stream. Build it with a RetryTemplate of one attempt, and name"
                                + " it in SpringAiProvider.withoutStreaming")
                : SpringAiFailures.of(thrown, reply.hasBegun());
    }

    private static void ask(ChatModel model, Prompt prompt, boolean streams, Responses responses) {
        try {
            if (streams) {
                model.stream(prompt).subscribe(responses);
            } else {
                responses.hookOnNext(model.call(prompt));
                responses.hookOnComplete();
            }
        } catch (UnsupportedOperationException e) {
            responses.hookOnError(streams ? new NotStreaming(e) : e);
        } catch (RuntimeException | Error e) {
            responses.hookOnError(e);
        }
    }

    /** Queues the model's responses, which may arrive in any Java thread, for the thread that calls the listener. */
    private static final class Responses extends BaseSubscriber<ChatResponse> {
        private final BlockingQueue<Event> queue = new LinkedBlockingQueue<>();

        @Override
        protected void hookOnNext(ChatResponse response) {
            queue.add(new Event(Optional.of(response), Optional.empty()));
        }

        @Override
        protected void hookOnComplete() {
            queue.add(new Event(Optional.empty(), Optional.empty()));
        }

        @Override
        protected void hookOnError(Throwable failure) {
            queue.add(new Event(Optional.empty(), Optional.of(failure)));
        }
    }

    /** A response, a failure, or, if both are empty, the end of the reply. */
    private record Event(Optional<ChatResponse> response, Optional<Throwable> failure) {}

    private static final class NotStreaming extends RuntimeException {
        NotStreaming(Throwable cause) {
            super(cause);
        }
    }
}
