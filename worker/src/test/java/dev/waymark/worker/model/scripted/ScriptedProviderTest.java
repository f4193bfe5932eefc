package dev.waymark.worker.model.scripted;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import dev.waymark.conversation.message.Message;
import dev.waymark.conversation.message.Part;
import dev.waymark.conversation.message.Reply;
import dev.waymark.conversation.message.Role;
import dev.waymark.conversation.value.Json;
import dev.waymark.conversation.value.Usage;
import dev.waymark.model.ModelFailure;
import dev.waymark.model.ModelRequest;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.FileTime;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class ScriptedProviderTest {

    private static final String BOOKING = """
            replies:
              - text: One thing first.
                tool_calls: [{ id: tu_7, name: ask_user, input: { question: "Which day?" } }]
                usage: { input_tokens: 41, output_tokens: 12 }
                delay: 1ms
              - text: Booked.
            """;

    @TempDir
    Path directory;

    @Test
    void reply_firstOfScript_hasAllItsParts() throws Exception {
        script(BOOKING);
        assertThat(reply(0))
                .isEqualTo(new Reply(
                        List.of(
                                new Part.Text("One thing first."),
                                new Part.ToolUse("tu_7", "ask_user", Json.of(Map.of("question", "Which day?")))),
                        new Usage(41, 12),
                        "tool_use"));
    }

    @Test
    void reply_afterTheLast_repeatsIt() throws Exception {
        script(BOOKING);
        Reply booked = Reply.of(new Part.Text("Booked."));
        assertThat(List.of(reply(1), reply(2), reply(9))).isEqualTo(List.of(booked, booked, booked));
    }

    @Test
    void reply_quotingResults_hasThemInTextsAndArguments() throws Exception {
        script("""
                replies:
                  - tool_calls: [{ id: look, name: look }, { id: tu_2, name: ask_user, input: { question: Which? } }]
                  - text: "Found {{look}}, not {{other}} nor {look}."
                    tool_calls: [{ id: tu_3, name: tag, input: { all: ["{{tu_2}}", 1, { of: "v{{tu_2}}" }] } }]
                """);
        List<Message> messages = List.of(
                Message.user("Hello"),
                Message.assistant(new Part.ToolUse("look", "look", Json.EMPTY_OBJECT)),
                new Message(
                        Role.USER,
                        List.of(
                                new Part.ToolResult("look", "3 files at $1\n", false),
                                new Part.ToolResult("tu_2", "1.0", false))));
        assertThat(reply(messages).content())
                .containsExactly(
                        new Part.Text("Found 3 files at $1, not {{other}} nor {look}."),
                        new Part.ToolUse(
                                "tu_3", "tag", Json.of(Map.of("all", List.of("1.0", 1, Map.of("of", "v1.0"))))));
    }

    @Test
    void reply_requestedAgain_isEqual() throws Exception {
        script(BOOKING);
        assertThat(reply(0)).isEqualTo(reply(0));
    }

    @Test
    void reply_editedScript_appliesAtOnce() throws Exception {
        script(BOOKING);
        reply(0);
        Path file = script("replies: [{ text: New. }]");
        Files.setLastModifiedTime(file, FileTime.from(Instant.parse("2040-01-01T00:00:00Z")));
        assertThat(reply(0)).isEqualTo(Reply.of(new Part.Text("New.")));
    }

    @Test
    void reply_scriptedError_failsAsWritten() throws Exception {
        script("replies: [{ error: { type: NoCredit, message: Used up., retryable: false } },"
                + " { error: { type: Overloaded, message: Later., retryable: true } }]");
        ModelFailure permanent = catchThrowableOfType(ModelFailure.class, () -> reply(0));
        ModelFailure passing = catchThrowableOfType(ModelFailure.class, () -> reply(1));
        assertThat(permanent)
                .returns("NoCredit", ModelFailure::type)
                .returns(false, ModelFailure::retryable)
                .hasMessage("Used up.");
        assertThat(passing)
                .returns("Overloaded", ModelFailure::type)
                .returns(true, ModelFailure::retryable)
                .hasMessage("Later.");
    }

    @Test
    void reply_interruptedWhileDelayed_throws() throws Exception {
        script("replies: [{ text: Late., delay: 1h }]");
        Thread.currentThread().interrupt();
        assertThatThrownBy(() -> reply(0)).isInstanceOf(InterruptedException.class);
    }

    @Test
    void reply_noScript_failsPermanently() {
        assertThat(catchThrowableOfType(ModelFailure.class, () -> reply(0)))
                .returns("AgentInvalid", ModelFailure::type)
                .returns(false, ModelFailure::retryable)
                .hasMessage("no such script: " + directory.resolve("a.script.yaml"));
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "{}                                               | 1: replies: is missing",
                "replies: []                                      | 1: replies: expected at least one reply",
                "replies: [{}]                                    | 1: replies[0]: expected text, tool_calls or error",
                "replies: [{ txt: a }]                            | 1: replies[0].txt: unknown field. Did you mean \"text\"?",
                "replies: [{ text: 1 }]                           | 1: replies[0].text: expected text, found 1",
                "replies: [{ tool_calls: [] }]                    | 1: replies[0].tool_calls: expected at least one call",
                "replies: [{ tool_calls: [{ id: a }] }]           | 1: replies[0].tool_calls[0].name: is missing",
                "replies: [{ tool_calls: [{ id: a, name: b }, { id: a, name: b }] }] "
                        + "| 1: replies[0].tool_calls[1].id: duplicate call id: a",
                "replies: [{ text: a, usage: { input_tokens: -1 } }] "
                        + "| 1: replies[0].usage.input_tokens: must be at least 0, found -1",
                "replies: [{ text: a, error: { type: A, message: b } }] "
                        + "| 1: replies[0].error: not allowed together with text, tool_calls or usage",
            })
    void check_brokenScript_namesPlaceAndProblem(String yaml, String place) throws Exception {
        Path file = script(yaml);
        assertThat(catchThrowableOfType(
                        ModelFailure.class, () -> new ScriptedProvider(directory).check("a.script.yaml")))
                .returns("AgentInvalid", ModelFailure::type)
                .returns(false, ModelFailure::retryable)
                .hasMessage(file + ":" + place);
    }

    private Path script(String yaml) throws IOException {
        return Files.writeString(directory.resolve("a.script.yaml"), yaml);
    }

    private Reply reply(int assistantMessages) throws ModelFailure, InterruptedException {
        List<Message> messages = new ArrayList<>(List.of(Message.user("Hello")));
        for (int i = 0; i < assistantMessages; i++) {
            messages.add(Message.assistant(new Part.Text("…")));
            messages.add(Message.user("Go on"));
        }
        return reply(messages);
    }

    private Reply reply(List<Message> messages) throws ModelFailure, InterruptedException {
        return new ScriptedProvider(directory)
                .reply(new ModelRequest("a.script.yaml", Optional.empty(), messages, List.of(), 100));
    }
}
