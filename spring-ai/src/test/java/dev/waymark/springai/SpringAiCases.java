package dev.waymark.springai;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import dev.waymark.conversation.message.Message;
import dev.waymark.fixtures.model.ModelServer;
import dev.waymark.model.ModelFailure;
import dev.waymark.model.ModelProvider;
import dev.waymark.testkit.model.ModelAnswer;
import dev.waymark.testkit.model.ModelProviderContract;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.springframework.ai.chat.model.ChatModel;
import org.springframework.ai.tool.ToolCallback;
import org.springframework.ai.tool.function.FunctionToolCallback;

/**
 * Tests a model of Spring AI with a fake service that is at least as strict as the real one. The model has Spring AI's
 * own retry template, which makes ten attempts.
 */
abstract class SpringAiCases extends ModelProviderContract {
    private ModelServer server;

    final ModelServer server() {
        return server;
    }

    abstract ModelServer newServer();

    /** A model that is configured with these tools. */
    abstract ChatModel model(String address, List<ToolCallback> tools);

    abstract String errorBody(String message);

    @BeforeEach
    void startService() {
        server = newServer();
    }

    @AfterEach
    void stopService() {
        server.close();
        assertThat(server.complaints()).isEmpty();
    }

    @Override
    protected SpringAiProvider provider() {
        return SpringAiProvider.of(Map.of("tested", model(server.address(), List.of())));
    }

    @Override
    protected Optional<ModelProvider> providerAt(String address) {
        return Optional.of(SpringAiProvider.of(Map.of("tested", model(address, List.of()))));
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

    /** The number of requests that one attempt sends if the service answers with this status. */
    int requests(int status) {
        return 1;
    }

    final ModelFailure failure(ModelProvider provider) {
        return catchThrowableOfType(ModelFailure.class, () -> provider.reply(request(List.of(Message.user("Hi")))));
    }

    @ParameterizedTest
    @CsvSource({
        "400, BadRequest, false",
        "401, Unauthorized, false",
        "403, Forbidden, false",
        "404, ModelNotFound, false",
        "408, RequestTimedOut, true",
        "409, Conflict, true",
        "413, RequestTooLarge, false",
        "429, RateLimited, true",
        "500, ServerError, true",
        "503, Overloaded, true",
        "529, Overloaded, true"
    })
    void failure_ofTheService_isClassified(int status, String type, boolean retryable) {
        server.answers(asked -> ModelAnswer.error(status, errorBody("no")));

        assertThat(failure(provider()))
                .returns(type, ModelFailure::type)
                .returns(retryable, ModelFailure::retryable)
                .returns(Optional.empty(), ModelFailure::retryAfter)
                .hasMessageStartingWith(status + ": ");
        assertThat(server.received()).hasSize(requests(status));
    }

    @Test
    void failure_withServiceErrorType_isClassifiedByIt() {
        server.answers(asked -> ModelAnswer.error(400, errorBody("prompt is too long: 200001 tokens")));

        assertThat(failure(provider()))
                .returns("ContextWindowExceeded", ModelFailure::type)
                .returns(false, ModelFailure::retryable)
                .hasMessageContaining("200001 tokens");
    }

    @Test
    void failure_keyInTheResponse_isNotInTheMessage() {
        server.answers(asked -> ModelAnswer.error(401, errorBody("Incorrect API key: " + ModelServer.KEY)));

        assertThat(failure(provider())).hasMessage("401: the service does not accept the key");
    }

    @Test
    void failure_noService_isUnreachable() {
        ModelProvider provider = provider();
        server.close();

        assertThat(failure(provider)).returns("Unreachable", ModelFailure::type).returns(true, ModelFailure::retryable);
    }

    @Test
    void reply_brokenOff_isNotTakenForWhole() {
        server.answers(asked -> ModelAnswer.says("One ", "two ", "three").cutAfter(2));

        assertThat(failure(provider())).returns("StreamCut", ModelFailure::type).returns(true, ModelFailure::retryable);
    }

    @Test
    void reply_tokenLimit_isTheStopReason() throws Exception {
        stage(ModelAnswer.says("One ").stopping("max_tokens"));

        assertThat(provider().reply(request(List.of(Message.user("Hi")))).stop())
                .isEqualTo("max_tokens");
        assertThat(server.received().get(0).body().path("max_tokens").asInt()).isEqualTo(100);
    }

    @Test
    void reply_tokenLimitWithinCalls_isAFailure() {
        stage(ModelAnswer.says("One ").calls("tu_1", "weather", "{}").stopping("max_tokens"));

        assertThat(failure(provider())).returns("CallCut", ModelFailure::type).returns(false, ModelFailure::retryable);
    }

    @Test
    void reply_endlessText_isGivenUp() {
        server.answers(asked -> ModelAnswer.says("word ".repeat(10_000)).endless());

        assertThat(failure(provider())).returns("ReplyTooLarge", ModelFailure::type);
    }

    @Test
    void check_unknownModel_isRefused() {
        assertThatThrownBy(() -> provider().check("other")).hasMessage("no model other. Known models: tested");
    }

    @Test
    void check_modelWithTools_isRefused() {
        ToolCallback tool = FunctionToolCallback.builder("pay", (Map<?, ?> arguments) -> "paid")
                .inputType(Map.class)
                .build();

        assertThatThrownBy(() -> SpringAiProvider.of(Map.of("tested", model(server.address(), List.of(tool))))
                        .check("tested"))
                .hasMessage("the model tested has tools of its own (pay), which Waymark cannot run. Build it without,"
                        + " and give them to the agent by SpringAiTools.of");
    }
}
