package dev.waymark.conversation.message;

import static dev.waymark.conversation.message.Message.assistant;
import static dev.waymark.conversation.message.Message.user;
import static dev.waymark.conversation.rule.ConversationScript.result;
import static dev.waymark.conversation.rule.ConversationScript.results;
import static dev.waymark.conversation.rule.ConversationScript.text;
import static dev.waymark.conversation.rule.ConversationScript.use;
import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

class PairingTest {
    @Test
    void transcript_withAResultForEachCall_isValid() {
        assertThat(Pairing.violation(List.of(
                        user("?"),
                        assistant(text("!"), use("a", "add"), use("b", "add")),
                        results(result("b", "2"), result("a", "1")),
                        user("and?"),
                        assistant(text("."))))) // Results in another order than their calls are accepted.
                .isEmpty();
        assertThat(Pairing.violation(List.of())).isEmpty();
    }

    @ParameterizedTest
    @MethodSource("violations")
    void transcript_violatingTheRule_isRefused(String violation, List<Message> messages) {
        assertThat(Pairing.violation(messages)).contains(violation);
    }

    static Stream<Arguments> violations() {
        Message calls = assistant(use("a", "add"), use("b", "add"));
        return Stream.of(
                Arguments.of("calls without a result: [a, b]", List.of(calls)),
                Arguments.of("message 1: results for [] where [a, b] are due", List.of(calls, user("hm"))),
                Arguments.of(
                        "message 1: results for [a] where [a, b] are due", List.of(calls, results(result("a", "")))),
                Arguments.of(
                        "message 1: results for [a, a, b] where [a, b] are due",
                        List.of(calls, results(result("a", ""), result("a", ""), result("b", "")))),
                Arguments.of("message 0: results for [a] where [] are due", List.of(results(result("a", "")))),
                Arguments.of(
                        "message 1: text before its results",
                        List.of(
                                assistant(use("a", "add")),
                                new Message(Role.USER, List.of(text("hm"), result("a", ""))))),
                Arguments.of(
                        "message 0: calls and results are on the wrong side",
                        List.of(new Message(Role.USER, List.of(use("a", "add"))))),
                Arguments.of(
                        "message 1: calls and results are on the wrong side",
                        List.of(assistant(use("a", "add")), assistant(result("a", "")))),
                Arguments.of(
                        "message 2: call id used twice: a",
                        List.of(assistant(use("a", "add")), results(result("a", "")), assistant(use("a", "add")))),
                Arguments.of("message 0: call id used twice: a", List.of(assistant(use("a", "x"), use("a", "y")))),
                Arguments.of("message 0: a call without an id", List.of(assistant(use("", "add")))));
    }
}
