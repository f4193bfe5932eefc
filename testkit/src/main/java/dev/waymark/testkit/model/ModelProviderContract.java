package dev.waymark.testkit.model;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import dev.waymark.agent.BuiltInTools;
import dev.waymark.agent.ToolSpec;
import dev.waymark.conversation.message.Message;
import dev.waymark.conversation.message.Part;
import dev.waymark.conversation.message.Reply;
import dev.waymark.conversation.value.Json;
import dev.waymark.conversation.value.Usage;
import dev.waymark.model.ModelFailure;
import dev.waymark.model.ModelProvider;
import dev.waymark.model.ModelRequest;
import dev.waymark.model.ReplyListener;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.concurrent.Callable;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.FutureTask;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * The contract of {@link ModelProvider}, as tests. Each provider's test extends it and controls the service that the
 * provider calls.
 */
@Timeout(120)
public abstract class ModelProviderContract {
    private static final ToolSpec WEATHER = ToolSpec.java("weather")
            .describedAs(
                    "The weather in a city",
                    Json.of(Map.of("type", "object", "properties", Map.of("city", Map.of("type", "string")))))
            .build();

    /** The provider, configured for the service. */
    protected abstract ModelProvider provider();

    /** A model of the service: the part after {@code provider:}. */
    protected abstract String model();

    /** From now on, the service answers every request with this reply. */
    protected abstract void stage(ModelAnswer.Speech speech);

    /** From now on, the service answers every request with an error, retryable or not. */
    protected abstract void stageFailure(boolean passing);

    /** How often the service was called, if that can be counted. */
    protected abstract Optional<Integer> timesAsked();

    /**
     * The provider, configured for another service at this address, such as {@code http://127.0.0.1:4711}. If it is
     * empty, the suite does not check that connections of interrupted calls are closed.
     */
    protected Optional<ModelProvider> providerAt(String address) {
        return Optional.empty();
    }

    /** A request with these messages, and the tools of this suite. */
    protected final ModelRequest request(List<Message> messages) {
        return new ModelRequest(
                model(), Optional.of("Be brief."), messages, List.of(WEATHER, BuiltInTools.askUser()), 100);
    }

    private ModelRequest hello() {
        return request(List.of(Message.user("Hi")));
    }

    @Test
    protected void reply_text_isWhole() throws Exception {
        stage(ModelAnswer.says("Hello, ", "world", ".").using(41, 12));

        assertThat(provider().reply(hello()))
                .isEqualTo(new Reply(List.of(new Part.Text("Hello, world.")), new Usage(41, 12), "end_turn"));
    }

    @Test
    protected void reply_calls_areInOrderBehindTheText() throws Exception {
        stage(ModelAnswer.says("One moment.")
                .calls("tu_1", "weather", "{\"city\": \"Tokyo\"}")
                .calls("tu_2", "ask_user", "{\"question\": \"And \\u00fcber all?\", \"n\": [1, null, 2.5]}"));

        Map<String, Object> second = new LinkedHashMap<>();
        second.put("question", "And über all?");
        second.put("n", Arrays.asList(1, null, 2.5));
        Reply reply = provider().reply(hello());

        assertThat(reply.content().stream().map(ModelProviderContract::read))
                .containsExactly(
                        new Part.Text("One moment."),
                        new Part.ToolUse("tu_1", "weather", Json.of(Map.of("city", "Tokyo"))),
                        new Part.ToolUse("tu_2", "ask_user", Json.of(second)));
        assertThat(reply)
                .usingRecursiveComparison()
                .ignoringFields("content")
                .isEqualTo(new Reply(reply.content(), Usage.NONE, "tool_use"));
    }

    /** Removes the data that a provider keeps in order to send a call back unchanged. */
    private static Part read(Part part) {
        return part instanceof Part.ToolUse use ? new Part.ToolUse(use.id(), use.name(), use.input()) : part;
    }

    @Test
    protected void reply_askedAgain_isGivenAgain() throws Exception {
        stage(ModelAnswer.says("Hello."));

        assertThat(provider().reply(hello())).isEqualTo(provider().reply(hello()));
    }

    @Test
    protected void words_addUpToTheText_inTheCallersThread() throws Exception {
        stage(ModelAnswer.says("Hello, ", "world", "."));
        StringBuilder told = new StringBuilder();
        List<Thread> threads = new ArrayList<>();

        provider().reply(hello(), new ReplyListener() {
            @Override
            public void words(String piece) {
                told.append(piece);
                threads.add(Thread.currentThread());
            }

            @Override
            public void progress() {
                threads.add(Thread.currentThread());
            }
        });

        assertThat(told).hasToString("Hello, world.");
        assertThat(threads).containsOnly(Thread.currentThread());
    }

    @Test
    protected void failure_passing_isNotRetriedByTheProvider() {
        stageFailure(true);

        ModelFailure failure =
                catchThrowableOfType(ModelFailure.class, () -> provider().reply(hello()));

        assertThat(failure.retryable()).isTrue();
        assertThat(failure.type()).matches("[A-Za-z]+");
        timesAsked().ifPresent(times -> assertThat(times).isEqualTo(1));
    }

    @Test
    protected void failure_forGood_saysSo() {
        stageFailure(false);

        ModelFailure failure =
                catchThrowableOfType(ModelFailure.class, () -> provider().reply(hello()));

        assertThat(failure.retryable()).isFalse();
        assertThat(failure.getMessage()).isNotBlank();
        timesAsked().ifPresent(times -> assertThat(times).isEqualTo(1));
    }

    @Test
    protected void interruption_inMidReply_givesUpAtOnce() throws Exception {
        stage(ModelAnswer.says("Let ", "me ", "think.").every(Duration.ofSeconds(30)));
        CountDownLatch asked = new CountDownLatch(1);
        FutureTask<Reply> reply = new FutureTask<>(() -> {
            asked.countDown();
            return provider().reply(hello());
        });
        Thread thread = new Thread(reply);
        thread.start();
        asked.await();

        thread.interrupt();

        thread.join(20_000);
        assertThat(thread.isAlive()).isFalse();
        assertThat(catchThrowableOfType(ExecutionException.class, reply::get))
                .hasCauseInstanceOf(InterruptedException.class);
    }

    static List<String> silences() {
        return List.of("nothing", "headers", "keep-alives");
    }

    /**
     * A worker interrupts the call of a silent model in this way. A connection that stayed open would continue to cost
     * money.
     */
    @ParameterizedTest
    @MethodSource("silences")
    protected void interruption_ofASilentService_closesTheConnection(String sent) throws Exception {
        try (SilentServer silent = sent.equals("nothing")
                ? SilentServer.mute()
                : SilentServer.streaming("", sent.equals("headers") ? "" : ": keep-alive\n\n")) {
            Optional<ModelProvider> provider = providerAt(silent.address());
            Assumptions.assumeTrue(provider.isPresent(), "the provider cannot be configured for another service");
            AtomicInteger progress = new AtomicInteger();
            FutureTask<Reply> reply = new FutureTask<>(() -> provider.get().reply(hello(), new ReplyListener() {
                @Override
                public void words(String piece) {
                    progress.incrementAndGet();
                }

                @Override
                public void progress() {
                    progress.incrementAndGet();
                }
            }));
            Thread thread = new Thread(reply);
            thread.start();
            silent.awaitRequests(1);

            thread.interrupt();

            assertThat(catchThrowableOfType(ExecutionException.class, reply::get))
                    .hasCauseInstanceOf(InterruptedException.class);
            silent.awaitDisconnects(1);
            assertThat(progress).hasValue(0);
        }
    }

    @Test
    protected void requests_manyAtOnce_doNotWaitForEachOther() throws Exception {
        int many = 24;
        stage(ModelAnswer.says("One ", "after ", "another."));
        ExecutorService callers = Executors.newFixedThreadPool(many);
        try {
            Callable<Reply> call = () -> provider().reply(hello());
            List<Reply> replies = new ArrayList<>();
            for (Future<Reply> reply : callers.invokeAll(Collections.nCopies(many, call))) {
                replies.add(reply.get(60, TimeUnit.SECONDS));
            }
            assertThat(replies).hasSize(many).containsOnly(Reply.of(new Part.Text("One after another.")));
        } finally {
            callers.shutdownNow();
        }
    }

    static List<String> hardTranscripts() {
        return List.copyOf(HardTranscripts.all().keySet());
    }

    @ParameterizedTest
    @MethodSource("hardTranscripts")
    protected void transcript_soundButHard_isAnswered(String name) throws Exception {
        stage(ModelAnswer.says("Fine."));

        assertThat(provider()
                        .reply(request(
                                Objects.requireNonNull(HardTranscripts.all().get(name)))))
                .isEqualTo(Reply.of(new Part.Text("Fine.")));
    }
}
