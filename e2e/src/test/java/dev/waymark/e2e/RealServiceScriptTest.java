package dev.waymark.e2e;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import dev.waymark.conversation.message.Summary;
import dev.waymark.fixtures.model.AnthropicServer;
import dev.waymark.fixtures.model.ModelServer;
import dev.waymark.fixtures.model.ModelServer.Received;
import dev.waymark.fixtures.model.ResponsesServer;
import dev.waymark.testkit.model.ModelAnswer;
import dev.waymark.testkit.model.ModelAnswer.Piece;
import dev.waymark.testkit.process.ChildProcess;
import java.time.Duration;
import java.util.LinkedHashSet;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** {@code bench/real} with the strict servers: its twelve conversations can pass, and it names those that do not. */
@Tag("full")
@Timeout(600)
class RealServiceScriptTest {
    private static final Pattern CITY = Pattern.compile("Oslo|Rome|Paris");
    private static final Pattern CODE = Pattern.compile("QX\\d+");

    private final AtomicInteger replies = new AtomicInteger();

    /** The last message of a user, and everything after it. */
    private static String last(JsonNode body) {
        JsonNode items = body.path("messages").isMissingNode() ? body.path("input") : body.path("messages");
        StringBuilder last = new StringBuilder();
        for (JsonNode item : items) {
            if (item.path("role").asText().equals("user")) {
                last.setLength(0);
            }
            last.append(item);
        }
        return last.toString();
    }

    private static Stream<String> all(Pattern words, String in) {
        return words.matcher(in).results().map(MatchResult::group);
    }

    /** A model that does what the script asks for. */
    private ModelAnswer answer(Received request) {
        String all = request.body().toString();
        String last = last(request.body());
        boolean isSummary = request.body().at("/system/0/text").asText().equals(Summary.INSTRUCTIONS)
                || request.body().path("instructions").asText().equals(Summary.INSTRUCTIONS);
        if (isSummary) {
            return ModelAnswer.says("Remember the heron.").using(50, 10);
        }
        int reply = replies.incrementAndGet();
        ModelAnswer.Speech thinking =
                ModelAnswer.says().plus(new Piece.Thought("", "sig" + reply)).using(50, 10);
        Optional<ModelAnswer.Speech> calling = calling(thinking, reply, last);
        return calling.orElseGet(() -> thinking.plus(new Piece.Words(words(all, last))));
    }

    private static Optional<ModelAnswer.Speech> calling(ModelAnswer.Speech thinking, int reply, String last) {
        if (last.contains("_result\"") || last.contains("_output\"")) {
            return Optional.empty();
        }
        if (last.contains("the tool pay")) {
            return Optional.of(thinking.calls("tu_" + reply, "pay", "{\"cents\": 100}"));
        }
        if (last.contains("ask_user")) {
            return Optional.of(thinking.calls("tu_" + reply, "ask_user", "{\"question\": \"Which?\"}"));
        }
        ModelAnswer.Speech calls = thinking;
        Set<String> cities = all(CITY, last).collect(Collectors.toCollection(LinkedHashSet::new));
        for (String city : cities) {
            calls = calls.calls("tu_" + reply + city, "code", "{\"city\": \"" + city + "\"}");
        }
        return cities.isEmpty() ? Optional.empty() : Optional.of(calls);
    }

    private static String words(String all, String last) {
        if (last.contains("spider") || last.contains("ant?")) {
            return last.contains("spider") ? "{\"legs\": 8}" : "{\"legs\": 6}";
        }
        return "pong 50 " + (all.contains("heron") ? "heron " : "") + (all.contains("turquoise") ? "turquoise " : "")
                + (last.contains("image/png") ? "red " : "") + all(CODE, last).collect(Collectors.joining(" "));
    }

    @ParameterizedTest
    @ValueSource(strings = {"anthropic:claude-opus-5-5", "openai-responses:gpt-6.1-sol"})
    void conversations_withStrictServer_pass(String model) throws Exception {
        try (ModelServer server = model.startsWith("anthropic") ? new AnthropicServer() : new ResponsesServer()) {
            server.answers(this::answer);

            ChildProcess.Ended ended = script(server, model);

            assertThat(ended.out()).doesNotContain("**").contains("`" + model + "`, 12 of 12 conversations");
            assertThat(ended.exitCode()).isZero();
            assertThat(server.complaints()).isEmpty();
        }
    }

    @Test
    void conversations_modelWithoutToolCalls_areReportedAsFailed() throws Exception {
        String model = "anthropic:claude-opus-5-5";
        try (ModelServer server = new AnthropicServer()) {
            server.answers(ModelAnswer.says("pong"));

            ChildProcess.Ended ended = script(server, model);

            assertThat(ended.out())
                    .contains("| words | held |", "| call | **run: no ", "`" + model + "`, 1 of 12 conversations");
            assertThat(ended.exitCode()).isEqualTo(1);
        }
    }

    private static ChildProcess.Ended script(ModelServer server, String model) throws Exception {
        return ChildProcess.of("../bench/real", model)
                .withoutEnvironment("WAYMARK_.*|.*_API_KEY")
                .environment(server.environment())
                .run(Duration.ofMinutes(8));
    }
}
