package dev.waymark.langchain4j;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import dev.langchain4j.model.chat.ChatModel;
import dev.langchain4j.model.chat.StreamingChatModel;
import dev.waymark.conversation.message.Message;
import dev.waymark.conversation.message.Reply;
import dev.waymark.fixtures.model.ModelServer;
import dev.waymark.model.ModelFailure;
import dev.waymark.model.ModelProvider;
import dev.waymark.testkit.model.ModelAnswer;
import dev.waymark.testkit.model.ModelProviderContract;
import dev.waymark.testkit.model.SilentServer;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Properties;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.FutureTask;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** A model of LangChain4j with a fake service that rejects requests that the real one would reject. */
abstract class LangChainCases extends ModelProviderContract {
    /** Whether this is LangChain4j 1.9. Later versions read and send the ids of Gemini's calls, and report more. */
    static final boolean IS_1_9 = version().startsWith("1.9.");

    private ModelServer server;
    /** How many requests the service is expected to reject because of their content. */
    private int complaints;

    private static String version() {
        Properties build = new Properties();
        try (InputStream in = ChatModel.class.getResourceAsStream(
                "/META-INF/maven/dev.langchain4j/langchain4j-core/pom.properties")) {
            build.load(in);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
        return build.getProperty("version");
    }

    final ModelServer server() {
        return server;
    }

    final void expectComplaint() {
        complaints++;
    }

    abstract ModelServer newServer();

    /** @param address the address of the service, without a path */
    abstract StreamingChatModel streaming(String address);

    abstract ChatModel whole(String address, int retries);

    abstract String errorBody(String message);

    @BeforeEach
    void startService() {
        server = newServer();
    }

    @AfterEach
    void stopService() {
        server.close();
        assertThat(server.complaints()).hasSize(complaints);
    }

    @Override
    protected ModelProvider provider() {
        return LangChainProvider.of(Map.of("tested", streaming(server.address())));
    }

    /**
     * A LangChain4j stream cannot be cancelled before its first piece, so the connections of the suite's services stay
     * open until the model's own timeout, or until the service closes them.
     */
    @Override
    protected Optional<ModelProvider> providerAt(String address) {
        return Optional.empty();
    }

    /** The beginning of a streamed reply, with a piece of text, in the wire format. */
    abstract String firstWords();

    @Test
    void interruption_ofAServiceSilentAfterItsFirstWords_closesTheConnection() throws Exception {
        try (SilentServer silent = SilentServer.streaming(firstWords(), ": keep-alive\n\n")) {
            ModelProvider provider = LangChainProvider.of(Map.of("tested", streaming(silent.address())));
            CountDownLatch begun = new CountDownLatch(1);
            FutureTask<Reply> reply = new FutureTask<>(
                    () -> provider.reply(request(List.of(Message.user("Hi"))), words -> begun.countDown()));
            Thread thread = new Thread(reply);
            thread.start();
            begun.await();

            thread.interrupt();

            assertThat(catchThrowableOfType(ExecutionException.class, reply::get))
                    .hasCauseInstanceOf(InterruptedException.class);
            silent.awaitDisconnects(1);
        }
    }

    /** A model that does not stream is called in a thread that can be interrupted. */
    @Test
    void interruption_ofASilentModelThatDoesNotStream_closesTheConnection() throws Exception {
        try (SilentServer silent = SilentServer.mute()) {
            ModelProvider provider = LangChainProvider.of(Map.of("tested", whole(silent.address(), 0)));
            FutureTask<Reply> reply = new FutureTask<>(() -> provider.reply(request(List.of(Message.user("Hi")))));
            Thread thread = new Thread(reply);
            thread.start();
            silent.awaitRequests(1);

            thread.interrupt();

            silent.awaitDisconnects(1);
            assertThat(catchThrowableOfType(ExecutionException.class, reply::get))
                    .hasCauseInstanceOf(InterruptedException.class);
        }
    }

    @Override
    protected String model() {
        return "tested";
    }

    @Override
    protected void stage(ModelAnswer.Speech speech) {
        server.answers(asked -> speech);
    }

    @Override
    protected void stageFailure(boolean passing) {
        server.answers(asked -> ModelAnswer.error(passing ? 529 : 401, errorBody("no")));
    }

    @Override
    protected Optional<Integer> timesAsked() {
        return Optional.of(server.received().size());
    }

    @ParameterizedTest
    @CsvSource({
        "400, BadRequest, false",
        "401, Unauthorized, false",
        "403, Forbidden, false",
        "404, ModelNotFound, false",
        "408, RequestTimedOut, true",
        "413, RequestTooLarge, false",
        "429, RateLimited, true",
        "500, ServerError, true",
        "503, Overloaded, true",
        "529, Overloaded, true"
    })
    void failure_ofTheService_isClassified(int status, String type, boolean retryable) {
        server.answers(asked -> ModelAnswer.error(status, errorBody("no")));

        ModelFailure failure =
                catchThrowableOfType(ModelFailure.class, () -> provider().reply(request(List.of(Message.user("Hi")))));

        assertThat(failure).returns(type, ModelFailure::type).returns(retryable, ModelFailure::retryable);
        assertThat(server.received()).hasSize(1);
    }

    @Test
    void failure_noService_isUnreachable() {
        ModelProvider provider = provider();
        server.close();

        ModelFailure failure =
                catchThrowableOfType(ModelFailure.class, () -> provider.reply(request(List.of(Message.user("Hi")))));

        assertThat(failure).returns("Unreachable", ModelFailure::type).returns(true, ModelFailure::retryable);
    }

    @Test
    void reply_brokenOff_isNotTakenForWhole() throws Exception {
        server.answers(asked -> ModelAnswer.says("One ", "two ", "three").cutAfter(2));

        ModelFailure failure =
                catchThrowableOfType(ModelFailure.class, () -> provider().reply(request(List.of(Message.user("Hi")))));

        assertThat(failure.retryable()).isTrue();
    }

    @Test
    void of_modelThatRetries_isRefused() {
        assertThatThrownBy(() -> LangChainProvider.of(Map.of("tested", whole(server.address(), 2))))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessage("the model tested retries up to 2 times by itself, unseen by Temporal, which retries as"
                        + " well. Build it with maxRetries(0)");
        assertThat(LangChainProvider.of(Map.of("tested", whole(server.address(), 0))))
                .isNotNull();
    }

    @Test
    void check_unknownModel_isRefused() {
        assertThatThrownBy(() -> provider().check("other")).hasMessage("no model other. Known models: tested");
    }
}
