package dev.waymark.worker.model.http;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import com.fasterxml.jackson.annotation.JsonPropertyDescription;
import com.fasterxml.jackson.databind.JsonNode;
import dev.waymark.agent.ModelOptions;
import dev.waymark.agent.ToolSpec;
import dev.waymark.conversation.message.Message;
import dev.waymark.conversation.message.Part;
import dev.waymark.conversation.message.Reply;
import dev.waymark.conversation.message.Role;
import dev.waymark.conversation.value.Json;
import dev.waymark.conversation.value.Usage;
import dev.waymark.fixtures.model.ModelServer;
import dev.waymark.model.ModelFailure;
import dev.waymark.model.ModelProvider;
import dev.waymark.model.ModelRequest;
import dev.waymark.model.ReplyListener;
import dev.waymark.testkit.model.ModelAnswer;
import dev.waymark.testkit.model.ModelProviderContract;
import dev.waymark.tool.RecordSchema;
import java.io.IOException;
import java.io.InputStream;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.time.LocalDate;
import java.util.ArrayList;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** The contract of providers, and further tests that apply to every wire format. */
public abstract class WireCases extends ModelProviderContract {
    private ModelServer server;
    private ModelProvider provider;

    protected abstract ModelServer newServer();

    protected abstract ModelProvider newProvider(Map<String, String> environment);

    /** The body of an error response in this service's format. */
    protected abstract String errorBody(String type, String message);

    /** An event that ends a stream with an error. */
    protected abstract String errorEvent(String type, String message);

    @BeforeEach
    void begin() {
        server = newServer();
        provider = newProvider(server.environment());
    }

    @AfterEach
    void end() {
        server.close();
        assertThat(server.complaints()).isEmpty();
    }

    @Override
    protected ModelProvider provider() {
        return provider;
    }

    @Override
    protected Optional<ModelProvider> providerAt(String address) {
        Map<String, String> environment = new LinkedHashMap<>(server.environment());
        environment.replaceAll((name, value) -> value.replaceFirst("http://[^/]+", address));
        return Optional.of(newProvider(environment));
    }

    protected final ModelServer server() {
        return server;
    }

    @Override
    protected String model() {
        return "some-model-1";
    }

    @Override
    protected void stage(ModelAnswer.Speech speech) {
        server.answers(speech);
    }

    @Override
    protected void stageFailure(boolean passing) {
        server.answers(ModelAnswer.error(passing ? 500 : 400, errorBody("some_error", "No.")));
    }

    @Override
    protected Optional<Integer> timesAsked() {
        return Optional.of(server.received().size());
    }

    protected final Reply reply(ModelAnswer answer) throws ModelFailure, InterruptedException {
        server.answers(answer);
        return provider.reply(request(List.of(Message.user("Hi"))));
    }

    /** The reply, preceded by the reasoning that the listener gets. */
    protected final Shown shown(ModelRequest request) throws ModelFailure, InterruptedException {
        StringBuilder reasoning = new StringBuilder();
        Reply reply = provider.reply(request, new ReplyListener() {
            @Override
            public void words(String piece) {}

            @Override
            public void reasoning(String piece) {
                reasoning.append(piece);
            }
        });
        return new Shown(reasoning.toString(), reply);
    }

    protected record Shown(String reasoning, Reply reply) {}

    /** How often the listener is notified of progress for these events, which are not a complete reply. */
    protected final int progress(String... events) {
        server.answers(ModelAnswer.events(events));
        AtomicInteger told = new AtomicInteger();
        ModelFailure failure = catchThrowableOfType(
                ModelFailure.class,
                () -> provider.reply(request(List.of(Message.user("Hi"))), new ReplyListener() {
                    @Override
                    public void words(String piece) {}

                    @Override
                    public void progress() {
                        told.incrementAndGet();
                    }
                }));
        assertThat(failure.type()).isEqualTo("StreamCut");
        return told.get();
    }

    protected final ModelFailure failure(ModelAnswer answer) {
        return catchThrowableOfType(ModelFailure.class, () -> reply(answer));
    }

    record Line(String text, int count) {}

    record Whole(
            LocalDate due,
            @JsonPropertyDescription("What was bought") List<Line> lines) {}

    record Partial(Optional<String> customer, List<Line> lines) {}

    record Open(Map<String, Integer> counts) {}

    private static final ToolSpec WEATHER = ToolSpec.java("weather")
            .describedAs("The weather", Json.of(Map.of("type", "object")))
            .build();

    private JsonNode sent(ModelRequest request) throws ModelFailure, InterruptedException {
        server.answers(ModelAnswer.says("{}"));
        provider.reply(request);
        return server.received().get(server.received().size() - 1).body();
    }

    private ModelRequest wanting(Class<? extends Record> type) {
        return request(List.of(Message.user("Hi"))).withReplySchema(Optional.of(RecordSchema.of(type)));
    }

    @Test
    void usage_hasCachedAndReasoningTokens() throws Exception {
        Usage usage = new Usage(50, 20, 30, 10, 8);

        assertThat(reply(ModelAnswer.says("Hi").using(usage)).usage()).isEqualTo(usage);
    }

    @Test
    void replySchema_isSentInTheServicesForm() throws Exception {
        JsonNode whole = sent(wanting(Whole.class));
        JsonNode partial = sent(wanting(Partial.class));

        for (JsonNode body : List.of(whole, partial)) {
            assertThat(body.findValues("additionalProperties")).hasSize(2).allMatch(more -> !more.asBoolean(true));
            assertThat(body.findParents("json_schema").size()
                            + body.findValuesAsText("type").stream()
                                    .filter("json_schema"::equals)
                                    .count())
                    .isPositive();
        }
        assertThat(whole.toString()).contains("What was bought").doesNotContain("pattern");
        assertThat(sent(wanting(Open.class)).findValues("additionalProperties")).isEmpty();
    }

    @Test
    void modelThatRejectsSchemas_getsNoneFromThenOn() throws Exception {
        server.answers(
                ModelAnswer.error(
                        400, errorBody("invalid_request_error", "json_schema is not supported by this model")),
                ModelAnswer.says("{}"));
        assertThat(provider.reply(wanting(Whole.class)).content()).containsExactly(new Part.Text("{}"));
        provider.reply(wanting(Whole.class));

        assertThat(server.received())
                .extracting(request ->
                        request.body().findValues("additionalProperties").size())
                .containsExactly(2, 0, 0);
    }

    @Test
    void requestWithASchema_rejectedForAnotherReason_isNotRepeated() {
        server.answers(ModelAnswer.error(400, errorBody("invalid_request_error", "no such option: effort")));

        assertThatThrownBy(() -> provider.reply(wanting(Whole.class))).isInstanceOf(ModelFailure.class);
        assertThat(server.received()).hasSize(1);
    }

    private JsonNode choosing(ModelOptions options, Message... messages) throws ModelFailure, InterruptedException {
        return sent(new ModelRequest(model(), Optional.empty(), List.of(messages), List.of(WEATHER), 100, options));
    }

    @Test
    void toolCall_isDemandedInTheFirstReplyOnly() throws Exception {
        Message hi = Message.user("Hi");
        Message[] later = {
            hi,
            Message.assistant(new Part.ToolUse("tu_1", "weather", Json.EMPTY_OBJECT)),
            Message.results(List.of(new Part.ToolResult("tu_1", "Rain", false)))
        };
        String required = choosing(ModelOptions.NONE.withToolChoice("required"), hi)
                .path("tool_choice")
                .toString();

        assertThat(required).matches(".*(any|required).*");
        assertThat(choosing(ModelOptions.NONE.withToolChoice("weather"), hi)
                        .path("tool_choice")
                        .toString())
                .contains("weather");
        assertThat(choosing(ModelOptions.NONE.withToolChoice("none"), later)
                        .path("tool_choice")
                        .toString())
                .contains("none");
        assertThat(choosing(ModelOptions.NONE.withToolChoice("required"), later).has("tool_choice"))
                .isFalse();
        assertThat(choosing(ModelOptions.NONE, hi).has("tool_choice")).isFalse();
    }

    @Test
    void parallelCalls_canBeSwitchedOff() throws Exception {
        ModelOptions single = ModelOptions.NONE.withParallelCalls(false);

        assertThat(choosing(single, Message.user("Hi")).toString())
                .containsAnyOf("\"disable_parallel_tool_use\":true", "\"parallel_tool_calls\":false");
        assertThat(choosing(single.withToolChoice("required"), Message.user("Hi"))
                        .toString())
                .containsAnyOf("\"disable_parallel_tool_use\":true", "\"parallel_tool_calls\":false");
        assertThat(sent(new ModelRequest(
                                model(), Optional.empty(), List.of(Message.user("Hi")), List.of(), 100, single))
                        .toString())
                .doesNotContain("parallel");
    }

    /**
     * A row of the table: the failure type, which must never change, and whether it is retryable. Each attempt makes
     * one call.
     */
    @ParameterizedTest
    @CsvSource({
        "301, x,                       -,                    Redirected,            false",
        "307, x,                       -,                    Redirected,            false",
        "400, invalid_request_error,   no,                   BadRequest,            false",
        "400, invalid_request_error,   prompt is too long: 9, ContextWindowExceeded, false",
        "400, context_length_exceeded, no,                   ContextWindowExceeded, false",
        "400, invalid_request_error,   Your credit balance is too low, NoCredit,    false",
        "400, exceed_context_size_error, no,                 ContextWindowExceeded, false",
        "400, x, 9 exceeds the maximum number of tokens allowed, ContextWindowExceeded, false",
        "400, content_filter,          no,                   Refused,               false",
        "401, authentication_error,    no,                   Unauthorized,          false",
        "402, billing_error,           no,                   NoCredit,              false",
        "403, permission_error,        no,                   Forbidden,             false",
        "404, not_found_error,         no,                   ModelNotFound,         false",
        "408, timeout,                 no,                   RequestTimedOut,       true",
        "409, conflict,                no,                   Conflict,              true",
        "413, request_too_large,       no,                   RequestTooLarge,       false",
        "418, x,                       no,                   BadRequest,            false",
        "422, x,                       no,                   BadRequest,            false",
        "429, rate_limit_error,        no,                   RateLimited,           true",
        "429, insufficient_quota,      no,                   NoCredit,              false",
        "500, api_error,               no,                   ServerError,           true",
        "500, context_length_exceeded, no,                   ServerError,           true",
        "502, x,                       no,                   ServerError,           true",
        "503, overloaded,              no,                   Overloaded,            true",
        "504, timeout_error,           no,                   ServerError,           true",
        "529, overloaded_error,        no,                   Overloaded,            true",
    })
    void errorStatus_isItsFailureAfterOneCall(int status, String name, String words, String type, boolean passing) {
        ModelAnswer.Error error =
                ModelAnswer.error(status, errorBody(name, words)).with("Location", "http://127.0.0.1:1/elsewhere");

        ModelFailure failure = failure(status == 503 ? error.with("Retry-After", "0") : error);

        assertThat(List.of(failure.type(), failure.retryable())).isEqualTo(List.of(type, passing));
        assertThat(failure.getMessage()).contains(String.valueOf(status), name, words);
        assertThat(failure.retryAfter()).isEmpty();
        assertThat(server.received()).hasSize(1);
    }

    @ParameterizedTest
    @CsvSource({
        "invalid_request_error, BadRequest,            false",
        "authentication_error,  Unauthorized,          false",
        "billing_error,         NoCredit,              false",
        "permission_error,      Forbidden,             false",
        "not_found_error,       ModelNotFound,         false",
        "request_too_large,     RequestTooLarge,       false",
        "rate_limit_error,      RateLimited,           true",
        "api_error,             ServerError,           true",
        "overloaded_error,      Overloaded,            true",
        "insufficient_quota,    NoCredit,              false",
        "context_length_exceeded, ContextWindowExceeded, false",
        "502,                   ServerError,           true",
        "never_heard_of,        ServerError,           true",
    })
    void stream_endingWithAnError_isThatError(String name, String type, boolean passing) {
        ModelFailure failure = failure(ModelAnswer.events(errorEvent(name, "Sorry.")));

        assertThat(List.of(failure.type(), failure.retryable())).isEqualTo(List.of(type, passing));
        assertThat(failure.getMessage()).contains(name, "Sorry.");
        assertThat(server.received()).hasSize(1);
    }

    /** The format of Google's compatible service. */
    @Test
    void error_inAList_isThatError() {
        ModelFailure failure = failure(
                ModelAnswer.error(400, "[{\"error\":{\"code\":null,\"type\":\"x\",\"message\":\"No such day.\"}}]"));

        assertThat(failure.getMessage()).endsWith("answered 400 (x): No such day.");
    }

    @Test
    void error_withStatus200_isThatError() {
        ModelFailure failure = failure(
                ModelAnswer.events(errorBody("overloaded_error", "Busy.")).as("application/json"));

        assertThat(List.of(failure.type(), failure.retryable())).isEqualTo(List.of("Overloaded", true));
    }

    @ParameterizedTest
    @CsvSource({
        "Retry-After,    2,                             2000",
        "retry-after,    1.5,                           1500",
        "Retry-After-Ms, 250,                           250",
        "Retry-After,    999999999999,                  86400000",
        "Retry-After,    soon,                          ",
        "Retry-After,    -3,                            ",
        "Retry-After,    NaN,                           ",
    })
    void retryAfter_isPassedOn(String header, String value, Long millis) {
        ModelFailure failure = failure(ModelAnswer.error(429, errorBody("rate_limit_error", "Slow down."))
                .with(header, value));

        assertThat(failure.retryAfter()).isEqualTo(Optional.ofNullable(millis).map(Duration::ofMillis));
    }

    @Test
    void retryAfter_withBothHeaders_isTheMoreExact() {
        ModelFailure failure =
                failure(ModelAnswer.error(503, "").with("Retry-After", "1").with("Retry-After-Ms", "80"));

        assertThat(failure.retryAfter()).contains(Duration.ofMillis(80));
    }

    @ParameterizedTest
    @CsvSource({"0", "1", "2"})
    void cutStream_isRetryable(int pieces) {
        ModelFailure failure =
                failure(ModelAnswer.says("Hello, ", "world.").using(1, 1).cutAfter(pieces));

        assertThat(List.of(failure.type(), failure.retryable())).isEqualTo(List.of("StreamCut", true));
        assertThat(server.received()).hasSize(1);
    }

    @Test
    void incompleteStreamThatEndsProperly_isACutStream() {
        assertThat(failure(ModelAnswer.events()).type()).isEqualTo("StreamCut");
    }

    @ParameterizedTest
    @CsvSource({"'{\"type\": '", "'not JSON'", "'[]{'", "null", "7", "'[7]'"})
    void malformedStream_isRetryable(String data) {
        ModelFailure failure = failure(ModelAnswer.events(data));

        assertThat(List.of(failure.type(), failure.retryable())).isEqualTo(List.of("MalformedReply", true));
        assertThat(failure.getMessage()).endsWith("sent an invalid reply: " + data);
    }

    @Test
    void pageOfAGateway_isAMalformedReply() {
        ModelFailure failure =
                failure(ModelAnswer.events("<html>Welcome to the hotel</html>").as("text/html"));

        assertThat(List.of(failure.type(), failure.retryable())).isEqualTo(List.of("MalformedReply", true));
        assertThat(failure.getMessage()).contains("Welcome to the hotel");
    }

    /** Many services close connections shortly after the last answer, without announcing it. */
    @Test
    void serviceThatClosesItsConnections_getsNewOnes() throws Exception {
        ExecutorService answering = Executors.newSingleThreadExecutor();
        try (ServerSocket service = new ServerSocket(0, 50, InetAddress.getLoopbackAddress())) {
            answering.submit(() -> answerEachAndClose(service));
            Map<String, String> environment = new LinkedHashMap<>(server.environment());
            environment.replaceAll((name, value) -> value.replaceFirst(":\\d+", ":" + service.getLocalPort()));
            ModelProvider elsewhere = newProvider(environment);

            for (int call = 0; call < 3; call++) {
                assertThatThrownBy(() -> elsewhere.reply(request(List.of(Message.user("Hi")))))
                        .isInstanceOfSatisfying(
                                ModelFailure.class,
                                failure -> assertThat(failure.type()).isEqualTo("Forbidden"));
            }
        } finally {
            answering.shutdownNow();
        }
    }

    private static Void answerEachAndClose(ServerSocket service) throws IOException {
        while (true) {
            try (Socket connection = service.accept()) {
                InputStream in = connection.getInputStream();
                StringBuilder head = new StringBuilder();
                while (head.indexOf("\r\n\r\n") < 0) {
                    head.append((char) in.read());
                }
                Matcher length = Pattern.compile("(?i)content-length: (\\d+)").matcher(head);
                in.readNBytes(length.find() ? Integer.parseInt(length.group(1)) : 0);
                connection
                        .getOutputStream()
                        .write("HTTP/1.1 403 Forbidden\r\nContent-Length: 2\r\n\r\nNo"
                                .getBytes(StandardCharsets.UTF_8));
            }
        }
    }

    @Test
    void unreachableService_isRetryable() {
        server.close();

        ModelFailure failure = failure(ModelAnswer.says("Hello."));

        assertThat(List.of(failure.type(), failure.retryable())).isEqualTo(List.of("Unreachable", true));
    }

    @Test
    void key_missingAtHome_isReportedBeforeAnythingIsSent() {
        ModelProvider keyless = newProvider(Map.of());

        ModelFailure failure =
                catchThrowableOfType(ModelFailure.class, () -> keyless.reply(request(List.of(Message.user("Hi")))));

        assertThat(keyless.lacks())
                .hasValueSatisfying(words -> assertThat(words).endsWith("_API_KEY is not set"));
        assertThat(failure.getMessage()).contains(keyless.lacks().orElseThrow());
        assertThat(List.of(failure.type(), failure.retryable())).isEqualTo(List.of("NotConfigured", false));
    }

    @Test
    void key_missingElsewhere_isAccepted() {
        Map<String, String> environment = new LinkedHashMap<>(server.environment());
        environment.keySet().removeIf(name -> name.endsWith("_API_KEY"));
        ModelServer strict = newServer();
        try (strict) {
            environment.replaceAll((name, value) -> strict.environment().get(name));
            ModelProvider keyless = newProvider(environment);

            ModelFailure failure =
                    catchThrowableOfType(ModelFailure.class, () -> keyless.reply(request(List.of(Message.user("Hi")))));

            assertThat(keyless.lacks()).isEmpty();
            assertThat(failure.type()).isEqualTo("Unauthorized");
        }
    }

    @Test
    void key_invalidInAHeader_isNotQuoted() {
        Map<String, String> environment = new LinkedHashMap<>(server.environment());
        environment.replaceAll((name, value) -> name.endsWith("_API_KEY") ? "sk-can\nary" : value);
        ModelProvider broken = newProvider(environment);

        ModelFailure failure =
                catchThrowableOfType(ModelFailure.class, () -> broken.reply(request(List.of(Message.user("Hi")))));

        assertThat(failure.type()).isEqualTo("NotConfigured");
        assertThat(trace(failure)).doesNotContain("ary");
    }

    @Test
    void key_echoedByTheService_isMasked() throws Exception {
        String key = ModelServer.KEY;
        List<ModelAnswer> echoes = List.of(
                ModelAnswer.error(401, errorBody("authentication_error", "invalid key " + key)),
                ModelAnswer.error(400, errorBody(key, key)).with("X-Echo", key),
                ModelAnswer.error(429, key).with("Retry-After", key),
                ModelAnswer.error(500, "<p>" + key + "</p>"),
                ModelAnswer.events(errorEvent(key, key)),
                ModelAnswer.events(key),
                ModelAnswer.events(key).as("text/plain"));
        for (ModelAnswer echo : echoes) {
            assertThat(trace(failure(echo))).doesNotContain(key);
        }
        Reply reply =
                reply(ModelAnswer.says("Your key is " + key).calls("tu_1", "weather", "{\"city\": \"" + key + "\"}"));
        assertThat(reply.toString()).doesNotContain(key).contains("[key]");
        assertThat(provider.toString()).doesNotContain(key);
    }

    /** A listener could join the pieces, so none of them may contain a part of the key. */
    @Test
    void key_echoedInPieces_isMasked() throws Exception {
        String key = ModelServer.KEY;
        server.answers(
                ModelAnswer.says("Your key is " + key.substring(0, 5), key.substring(5, 9), key.substring(9) + ", s"));
        StringBuilder told = new StringBuilder();

        provider.reply(request(List.of(Message.user("Hi"))), words -> {
            told.append(words);
            assertThat(told.toString()).doesNotContain(key.substring(0, 5));
        });

        assertThat(told).hasToString("Your key is [key], s");
    }

    @TempDir
    Path keys;

    /** The server's environment, with another source of the key. */
    private ModelProvider withKeyFrom(ModelServer service, String suffix, String value) {
        Map<String, String> environment = new LinkedHashMap<>(System.getenv());
        service.environment().forEach((name, own) -> {
            boolean isKey = name.endsWith("_API_KEY");
            environment.put(isKey ? name + suffix : name, isKey ? value : own);
            environment.remove(isKey ? name : "");
        });
        return newProvider(environment);
    }

    @ParameterizedTest
    @CsvSource({"_FILE, true", "_COMMAND, false"})
    void rotatedKey_isReadAgain(String suffix, boolean isFile) throws Exception {
        Path file = Files.writeString(keys.resolve("key"), "sk-before-it-was-rotated\n");
        try (ModelServer strict = newServer()) {
            strict.answers(ModelAnswer.says("Hello."));
            ModelProvider rotated = withKeyFrom(strict, suffix, isFile ? file.toString() : "cat " + file);
            ModelFailure refused =
                    catchThrowableOfType(ModelFailure.class, () -> rotated.reply(request(List.of(Message.user("Hi")))));

            Files.writeString(file, ModelServer.KEY + "\n");
            Reply reply = rotated.reply(request(List.of(Message.user("Hi"))));

            assertThat(refused.type()).isEqualTo("Unauthorized");
            assertThat(reply.content()).containsExactly(new Part.Text("Hello."));
            assertThat(rotated.lacks()).isEmpty();
        }
    }

    /** A key may be replaced between the moment at which it is read and that at which the service checks it. */
    @Test
    void key_replacedWhileItIsRefused_isSentAtOnce() throws Exception {
        Path count = keys.resolve("count");
        try (ModelServer strict = newServer()) {
            strict.answers(ModelAnswer.says("Hello."));
            ModelProvider rotated = withKeyFrom(
                    strict,
                    "_COMMAND",
                    "echo x >> " + count + "; test $(wc -l < " + count + ") -gt 1 && echo " + ModelServer.KEY
                            + " || echo sk-before-it-was-rotated");

            for (int i = 0; i < 2; i++) {
                assertThat(rotated.reply(request(List.of(Message.user("Hi")))).content())
                        .containsExactly(new Part.Text("Hello."));
            }
            assertThat(Files.readAllLines(count)).hasSize(2);
        }
    }

    @ParameterizedTest
    @CsvSource({
        "_FILE, /no/such/file, cannot be read",
        "_COMMAND, exit 3, exit",
        "_COMMAND, 'echo sk-can ary', characters",
        "_COMMAND, true, empty"
    })
    void unavailableKey_isReadAgainLater(String suffix, String value, String why) {
        ModelProvider keyless = withKeyFrom(server, suffix, value);

        ModelFailure failure =
                catchThrowableOfType(ModelFailure.class, () -> keyless.reply(request(List.of(Message.user("Hi")))));

        assertThat(List.of(failure.type(), failure.retryable())).isEqualTo(List.of("KeyUnavailable", true));
        assertThat(failure).hasMessageContaining("_API_KEY" + suffix).hasMessageContaining(why);
        assertThat(trace(failure)).doesNotContain("ary");
    }

    @ParameterizedTest
    @CsvSource({"_FILE", "_COMMAND"})
    void key_readAgain_isMasked(String suffix) throws Exception {
        Path file = Files.writeString(keys.resolve("key"), ModelServer.KEY);
        ModelProvider provided = withKeyFrom(server, suffix, suffix.equals("_FILE") ? file.toString() : "cat " + file);
        server.answers(ModelAnswer.says("Your key is " + ModelServer.KEY));
        StringBuilder told = new StringBuilder();

        Reply reply = provided.reply(request(List.of(Message.user("Hi"))), told::append);

        assertThat(reply.content()).containsExactly(new Part.Text("Your key is [key]"));
        assertThat(told).hasToString("Your key is [key]");
    }

    @Test
    void key_inTwoPlaces_isReportedBeforeAnythingIsSent() {
        Map<String, String> environment = new LinkedHashMap<>(server.environment());
        server.environment().keySet().stream()
                .filter(name -> name.endsWith("_API_KEY"))
                .forEach(name -> environment.put(name + "_FILE", "/run/secrets/key"));

        assertThat(newProvider(environment).lacks())
                .hasValueSatisfying(
                        words -> assertThat(words).matches("only one may be set of ([A-Z]+_API_KEY) and \\1_FILE"));
    }

    private static String trace(Throwable failure) {
        StringWriter trace = new StringWriter();
        failure.printStackTrace(new PrintWriter(trace));
        return trace.toString();
    }

    @Test
    void invalidAddress_isReportedWithoutQuotingIt() {
        Map<String, String> environment = new LinkedHashMap<>(server.environment());
        environment.replaceAll((name, value) -> name.endsWith("_BASE_URL") ? "ftp://me:secret@models" : value);
        ModelProvider lost = newProvider(environment);

        assertThat(lost.lacks())
                .hasValueSatisfying(words -> assertThat(words).matches("[A-Z]+_BASE_URL is not an HTTP address"));
        assertThat(lost.toString()).doesNotContain("secret");
    }

    @Test
    void tokenLimit_inText_endsTheReply() throws Exception {
        assertThat(reply(ModelAnswer.says("And so").using(5, 100).stopping("max_tokens")))
                .isEqualTo(new Reply(List.of(new Part.Text("And so")), new Usage(5, 100), "max_tokens"));
    }

    @ParameterizedTest
    @CsvSource({"'{\"city\": \"Tok'", "'{\"city\": \"Tokyo\"}'", "''"})
    void tokenLimit_inACall_runsNothing(String arguments) {
        ModelFailure failure = failure(ModelAnswer.says("Let me see.")
                .calls("tu_1", "weather", "{\"city\": \"Oslo\"}")
                .calls("tu_2", "weather", arguments)
                .stopping("max_tokens"));

        assertThat(List.of(failure.type(), failure.retryable())).isEqualTo(List.of("CallCut", false));
        assertThat(failure.getMessage()).contains("max_tokens");
    }

    @Test
    void stopReason_unknown_isKept() throws Exception {
        assertThat(reply(ModelAnswer.says("Hm.").stopping("bored")))
                .isEqualTo(new Reply(List.of(new Part.Text("Hm.")), Usage.NONE, "bored"));
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "{\"city\": ",
                "[1]",
                "\"Tokyo\"",
                "{\"a\": 1, \"a\": 2}",
                "{\"a\": 1} x",
                "{\"a\": 1e999}",
                "{a: 1}"
            })
    void arguments_notAnObject_areKept(String arguments) throws Exception {
        assertThat(reply(ModelAnswer.says().calls("tu_1", "weather", arguments)))
                .isEqualTo(Reply.of(new Part.ToolUse("tu_1", "weather", Json.of(arguments))));
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {"''", "' '", "null", "{}"})
    void arguments_missing_areEmpty(String arguments) throws Exception {
        assertThat(reply(ModelAnswer.says().calls("tu_1", "weather", arguments)))
                .isEqualTo(Reply.of(new Part.ToolUse("tu_1", "weather", Json.EMPTY_OBJECT)));
    }

    /** The server rejects reasoning that it did not issue. */
    @Test
    void reasoning_isSentBackToItsModelOnly() throws Exception {
        Reply thoughtful = reply(ModelAnswer.says()
                .plus(new ModelAnswer.Piece.Thought("Tokyo, they say. 🤔\n", "c2lnbmVk"))
                .plus(new ModelAnswer.Piece.Words("Let me see."))
                .calls("tu_1", "weather", "{}"));
        assertThat(thoughtful.content().get(0))
                .isInstanceOfSatisfying(
                        Part.Reasoning.class,
                        reasoning -> assertThat(reasoning.text()).isEqualTo("Tokyo, they say. 🤔\n"));
        List<Message> said = List.of(
                Message.user("Weather?"),
                new Message(Role.ASSISTANT, thoughtful.content()),
                Message.results(List.of(new Part.ToolResult("tu_1", "rain", false))));

        server.answers(ModelAnswer.says("Rain."));
        provider.reply(request(said));
        provider.reply(new ModelRequest("another-model", Optional.empty(), said, tools(), 10));

        assertThat(server.complaints()).isEmpty();
        List<ModelServer.Received> received = server.received();
        assertThat(received.get(1).body().toString()).contains("Tokyo, they say. 🤔");
        assertThat(received.get(2).body().toString()).doesNotContain("Tokyo, they say.");
    }

    private List<ToolSpec> tools() {
        return request(List.of(Message.user("Hi"))).tools();
    }

    @Test
    void endlessText_isAReplyTooLarge() {
        ModelFailure failure = failure(ModelAnswer.says("words ".repeat(10_000)).endless());

        assertThat(List.of(failure.type(), failure.retryable())).isEqualTo(List.of("ReplyTooLarge", false));
        assertThat(failure.getMessage()).endsWith("sent a reply of more than 1048576 characters");
        assertThat(server.received()).hasSize(1);
    }

    @Test
    @Tag("full")
    void endlessArguments_areAReplyTooLarge() {
        ModelFailure failure = failure(
                ModelAnswer.says().calls("tu_1", "weather", "x".repeat(100_000)).endless());

        assertThat(failure.type()).isEqualTo("ReplyTooLarge");
    }

    @Test
    @Tag("full")
    void endlessReasoning_isAReplyTooLarge() {
        ModelFailure failure = failure(ModelAnswer.says()
                .plus(new ModelAnswer.Piece.Thought("hm ".repeat(10_000), "c2lnbmVk"))
                .endless());

        assertThat(failure.type()).isEqualTo("ReplyTooLarge");
    }

    /** Parsed, the arguments would take thirty times the size of their text. */
    @Test
    void arguments_withTooManyValues_stayText() throws Exception {
        String arguments = "{\"a\": [" + "{},".repeat(100_000) + "{}]}";

        assertThat(reply(ModelAnswer.says().calls("tu_1", "weather", arguments)))
                .isEqualTo(Reply.of(new Part.ToolUse("tu_1", "weather", Json.of(arguments))));
    }

    @Test
    void event_withTooManyValues_isAMalformedReply() {
        ModelFailure failure = failure(ModelAnswer.events("{\"a\": [" + "{},".repeat(200_000) + "{}]}"));

        assertThat(failure.type()).isEqualTo("MalformedReply");
    }

    @Test
    void reply_withTooManyCalls_isTooLarge() {
        ModelAnswer.Speech calls = ModelAnswer.says();
        for (int call = 0; call <= 1_000; call++) {
            calls = calls.calls("tu_" + call, "weather", "{}");
        }

        ModelFailure failure = failure(calls);

        assertThat(List.of(failure.type(), failure.retryable())).isEqualTo(List.of("ReplyTooLarge", false));
        assertThat(failure.getMessage()).endsWith("sent a reply of more than 1000 parts");
    }

    @Test
    @Tag("full")
    void event_largerThanAReply_isAReplyTooLarge() {
        ModelFailure failure = failure(ModelAnswer.events(errorEvent("x", "x".repeat(3 * 1024 * 1024))));

        assertThat(List.of(failure.type(), failure.retryable())).isEqualTo(List.of("ReplyTooLarge", false));
        assertThat(failure.getMessage()).endsWith("sent an event of more than 2097152 bytes");
    }

    /** The reply itself is empty, but the stream around it does not end. */
    @Test
    @Tag("full")
    void endlessEmptyStream_isAReplyTooLarge() {
        String nothing = "{\"type\": \"ping\", \"choices\": [], \"padding\": \"" + "x".repeat(500_000) + "\"}";

        ModelFailure failure = failure(ModelAnswer.events(nothing).endless());

        assertThat(failure.type()).isEqualTo("ReplyTooLarge");
        assertThat(failure.getMessage()).endsWith("sent a stream of more than 134217728 bytes");
    }

    @Test
    void stuckRequests_doNotBlockOthers() throws Exception {
        int stuck = 12;
        List<ModelAnswer> answers = new ArrayList<>(
                Collections.nCopies(stuck, ModelAnswer.says("Wait.").silentAfter(0)));
        answers.add(ModelAnswer.says("Hello."));
        server.answers(answers.toArray(ModelAnswer[]::new));
        ExecutorService callers = Executors.newFixedThreadPool(stuck);
        try {
            for (int i = 0; i < stuck; i++) {
                callers.submit(() -> provider.reply(request(List.of(Message.user("Hi")))));
            }
            Awaitility.await()
                    .atMost(Duration.ofSeconds(60))
                    .until(() -> server.received().size() == stuck);

            assertThat(provider.reply(request(List.of(Message.user("Hi")))))
                    .isEqualTo(Reply.of(new Part.Text("Hello.")));
        } finally {
            callers.shutdownNow();
            assertThat(callers.awaitTermination(60, TimeUnit.SECONDS)).isTrue();
        }
    }
}
