package dev.waymark.langchain4j;

import dev.langchain4j.model.chat.ChatModel;
import dev.langchain4j.model.chat.StreamingChatModel;
import dev.langchain4j.model.chat.request.ChatRequest;
import dev.langchain4j.model.chat.request.ChatRequestParameters;
import dev.langchain4j.model.chat.response.ChatResponse;
import dev.langchain4j.model.chat.response.CompleteToolCall;
import dev.langchain4j.model.chat.response.PartialResponse;
import dev.langchain4j.model.chat.response.PartialResponseContext;
import dev.langchain4j.model.chat.response.PartialThinking;
import dev.langchain4j.model.chat.response.PartialThinkingContext;
import dev.langchain4j.model.chat.response.PartialToolCall;
import dev.langchain4j.model.chat.response.PartialToolCallContext;
import dev.langchain4j.model.chat.response.StreamingChatResponseHandler;
import dev.langchain4j.model.chat.response.StreamingHandle;
import dev.waymark.conversation.message.Reply;
import dev.waymark.conversation.value.ProblemType;
import dev.waymark.model.ModelFailure;
import dev.waymark.model.ModelProvider;
import dev.waymark.model.ModelRequest;
import dev.waymark.model.ReplyListener;
import dev.waymark.model.adapter.ReplySchemas;
import java.lang.reflect.Field;
import java.lang.reflect.Modifier;
import java.util.Arrays;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.function.Consumer;

/**
 * Models of LangChain4j, by names of your own. Agents refer to one by {@code langchain4j:NAME}, if the provider is
 * registered under {@code langchain4j}. Prefer streaming models: their text is shown as it arrives, and a cancelled
 * call ends at once.
 *
 * <p>The models must not retry: Temporal retries, and records the cost of each attempt. Build them with {@code
 * maxRetries(0)}. A model's own settings apply, except for the token limit, which the agent sets.
 *
 * <p>Thinking is stored with the reply if the model is built with {@code returnThinking(true)}, and sent back to the
 * same model if it is also built with {@code sendThinking(true)}. Gemini from version 3 on, and Anthropic's models with
 * thinking, need both: they reject the step after a call otherwise.
 *
 * <pre>{@code
 * StreamingChatModel gemini = GoogleAiGeminiStreamingChatModel.builder()…build();
 * AgentWorker.on(connection)
 *         .provider("langchain4j", LangChainProvider.of(Map.of("gemini", gemini))) // model: langchain4j:gemini
 * }</pre>
 */
public final class LangChainProvider implements ModelProvider {
    private final Map<String, StreamingChatModel> models;
    private final ReplySchemas schemas = new ReplySchemas();

    private LangChainProvider(Map<String, StreamingChatModel> models) {
        this.models = Collections.unmodifiableMap(models);
    }

    /**
     * Creates a provider of these models. Each is a {@link StreamingChatModel} or a {@link ChatModel}.
     *
     * @throws IllegalArgumentException if one is neither, retries by itself, or does not show whether it does
     */
    public static LangChainProvider of(Map<String, ?> models) {
        Map<String, StreamingChatModel> known = new LinkedHashMap<>();
        models.forEach((name, model) -> known.put(name, streaming(name, model)));
        return new LangChainProvider(known);
    }

    private static StreamingChatModel streaming(String name, Object model) {
        int retries = retries(name, model);
        if (retries > 0) {
            throw new IllegalArgumentException("the model " + name + " retries up to " + retries
                    + " times by itself, unseen by Temporal, which retries as well. Build it with maxRetries(0)");
        }
        if (model instanceof StreamingChatModel streaming) {
            return streaming;
        }
        if (model instanceof ChatModel whole) {
            return new WholeReplies(whole);
        }
        throw new IllegalArgumentException("the model " + name + " is neither a StreamingChatModel nor a ChatModel: "
                + model.getClass().getName());
    }

    /**
     * Reads the field that all retrying models of LangChain4j have, because their interface does not show whether they
     * retry. In Gemini's models, the field has another name. A model that retries and has neither field is refused,
     * because its retries would go unnoticed.
     */
    private static int retries(String name, Object model) {
        for (Class<?> type = model.getClass(); type != null; type = type.getSuperclass()) {
            for (String field : List.of("maxRetries", "maximumRetries")) {
                try {
                    Field retries = type.getDeclaredField(field);
                    retries.setAccessible(true);
                    return retries.get(model) instanceof Integer most ? most : 0;
                } catch (NoSuchFieldException e) {
                    // A superclass may have the field.
                } catch (IllegalAccessException | RuntimeException e) {
                    throw unknownRetries(name, model);
                }
            }
        }
        if (model instanceof ChatModel && isBuiltWithRetries(model.getClass())) {
            throw unknownRetries(name, model);
        }
        return 0;
    }

    /** Whether the builder of a model has {@code maxRetries}. Builders of streaming models lack it. */
    private static boolean isBuiltWithRetries(Class<?> type) {
        return Arrays.stream(type.getMethods())
                .filter(method -> Modifier.isStatic(method.getModifiers())
                        && method.getName().equals("builder"))
                .flatMap(method -> Arrays.stream(method.getReturnType().getMethods()))
                .anyMatch(method -> method.getName().equals("maxRetries"));
    }

    private static IllegalArgumentException unknownRetries(String name, Object model) {
        String version = model.getClass().getPackage().getImplementationVersion();
        return new IllegalArgumentException("cannot tell whether the model " + name + " retries by itself: "
                + model.getClass().getName() + " keeps maxRetries in an unknown way"
                + (version == null ? "" : " in version " + version)
                + ". Use its StreamingChatModel, which never retries");
    }

    @Override
    public void check(String model) throws ModelFailure {
        find(model);
    }

    private StreamingChatModel find(String name) throws ModelFailure {
        return Optional.ofNullable(models.get(name))
                .orElseThrow(() -> ModelFailure.permanent(
                        ProblemType.MODEL_NOT_FOUND,
                        "no model " + name + ". Known models: " + String.join(", ", models.keySet())));
    }

    @Override
    public Reply reply(ModelRequest request) throws ModelFailure, InterruptedException {
        return reply(request, words -> {});
    }

    @Override
    public Reply reply(ModelRequest request, ReplyListener listener) throws ModelFailure, InterruptedException {
        return schemas.ask(request, sent -> answer(sent, listener));
    }

    private Reply answer(ModelRequest request, ReplyListener listener) throws ModelFailure, InterruptedException {
        StreamingChatModel model = find(request.model());
        ModelTraits traits = ModelTraits.of(request.model(), model);
        ChatRequest translated = LangChainMapper.request(request, traits);
        Events events = new Events();
        Thread caller = new Thread(() -> ask(model, translated, events), "langchain4j model call");
        caller.setDaemon(true);
        caller.start();
        try {
            while (true) {
                Optional<ChatResponse> whole = events.queue.take().tell(listener);
                if (whole.isPresent()) {
                    listener.usage(LangChainMapper.usage(whole.get(), traits));
                    return LangChainMapper.reply(whole.get(), traits);
                }
            }
        } catch (InterruptedException e) {
            events.cancel();
            caller.interrupt();
            throw e;
        }
    }

    private static void ask(StreamingChatModel model, ChatRequest request, Events events) {
        try {
            model.chat(request, events);
        } catch (RuntimeException | Error e) {
            events.onError(e);
        }
    }

    /** Queues the model's events, which may arrive in any Java thread. The calling thread invokes the listener. */
    private static final class Events implements StreamingChatResponseHandler {
        private final BlockingQueue<Event> queue = new LinkedBlockingQueue<>();
        private Optional<StreamingHandle> handle = Optional.empty();
        private boolean cancelled;

        private void tell(Consumer<ReplyListener> news) {
            queue.add(listener -> {
                news.accept(listener);
                return Optional.empty();
            });
        }

        @Override
        public void onPartialResponse(PartialResponse partial, PartialResponseContext context) {
            hold(context.streamingHandle());
            onPartialResponse(partial.text());
        }

        @Override
        public void onPartialResponse(String words) {
            tell(listener -> listener.words(words));
        }

        @Override
        public void onPartialThinking(PartialThinking thinking, PartialThinkingContext context) {
            hold(context.streamingHandle());
            onPartialThinking(thinking);
        }

        @Override
        public void onPartialThinking(PartialThinking thinking) {
            tell(listener -> listener.reasoning(thinking.text()));
        }

        @Override
        public void onPartialToolCall(PartialToolCall call, PartialToolCallContext context) {
            hold(context.streamingHandle());
            onPartialToolCall(call);
        }

        @Override
        public void onPartialToolCall(PartialToolCall call) {
            tell(ReplyListener::progress);
        }

        /** Some models send a call in one piece. */
        @Override
        public void onCompleteToolCall(CompleteToolCall call) {
            tell(ReplyListener::progress);
        }

        @Override
        public void onCompleteResponse(ChatResponse response) {
            queue.add(listener -> Optional.of(response));
        }

        @Override
        public void onError(Throwable failure) {
            queue.add(listener -> {
                throw LangChainFailures.of(failure);
            });
        }

        private synchronized void hold(StreamingHandle known) {
            handle = Optional.of(known);
            if (cancelled) {
                known.cancel();
            }
        }

        private synchronized void cancel() {
            cancelled = true;
            handle.ifPresent(StreamingHandle::cancel);
        }
    }

    /** An event of a reply. */
    @FunctionalInterface
    private interface Event {
        /** Reports the event, and returns the response if it is complete. */
        Optional<ChatResponse> tell(ReplyListener listener) throws ModelFailure;
    }

    /** Adapts a model that does not stream. */
    private record WholeReplies(ChatModel model) implements StreamingChatModel {
        @Override
        public void chat(ChatRequest request, StreamingChatResponseHandler handler) {
            ChatResponse response = model.chat(request);
            String text = response.aiMessage().text();
            if (text != null && !text.isEmpty()) {
                handler.onPartialResponse(text);
            }
            handler.onCompleteResponse(response);
        }

        @Override
        public dev.langchain4j.model.ModelProvider provider() {
            return model.provider();
        }

        @Override
        public ChatRequestParameters defaultRequestParameters() {
            return model.defaultRequestParameters();
        }
    }
}
