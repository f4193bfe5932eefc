package dev.waymark.starter.render;

import static org.assertj.core.api.Assertions.assertThat;

import dev.waymark.client.AgentResult;
import dev.waymark.conversation.Conversation;
import dev.waymark.conversation.fact.ModelFact;
import dev.waymark.conversation.fact.PersonFact;
import dev.waymark.conversation.fact.ThreadFact;
import dev.waymark.conversation.message.Message;
import dev.waymark.conversation.message.Part;
import dev.waymark.conversation.message.Reply;
import dev.waymark.conversation.rule.Rules;
import dev.waymark.conversation.state.ThreadIdentity;
import dev.waymark.conversation.value.Json;
import dev.waymark.conversation.value.Problem;
import dev.waymark.conversation.value.Usage;
import dev.waymark.fixtures.GeneratedThread;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;

class OutcomeRendererTest {
    private static final Instant NOW = Instant.parse("2026-06-01T09:00:00Z");

    @Command
    private static final class Printing implements Runnable {
        @Mixin
        private Output output;

        @Override
        public void run() {}
    }

    /** The result of a turn that failed, in a thread that either closes after the turn or stays open. */
    private static AgentResult failed(String thread, boolean once) {
        return result(thread, once, new ModelFact.ModelFailed(1, new Problem("ModelError", "HTTP 400")));
    }

    /** The result of a turn that needs a second model call but is limited to one. */
    private static AgentResult stopped(String thread, boolean once) {
        Part.ToolUse todos = new Part.ToolUse("tu_1", "write_todos", Json.of(Map.of("todos", List.of())));
        return result(
                thread, once, new ModelFact.ModelReplied(1, new Reply(List.of(todos), new Usage(1, 1), "tool_use")));
    }

    private static AgentResult result(String thread, boolean once, ModelFact end) {
        Message hello = Message.user("Hello");
        Conversation state = Rules.apply(
                Rules.apply(
                        Rules.apply(
                                Rules.apply(
                                        Rules.apply(
                                                Rules.start(
                                                        new ThreadFact.RunStarted(
                                                                ThreadIdentity.RULES, "helper", once, Optional.of(1)),
                                                        NOW),
                                                new ThreadFact.AgentRequested(),
                                                NOW),
                                        new ThreadFact.AgentResolved(GeneratedThread.policy()),
                                        NOW),
                                new PersonFact.UserSpoke(Optional.empty(), Optional.empty(), Optional.of(hello), false),
                                NOW),
                        new ModelFact.ModelCalled(1),
                        NOW),
                end,
                NOW);
        return AgentResult.of(thread, "run-1", state, state.turn());
    }

    private static String printed(AgentResult result) {
        Printing command = new Printing();
        StringWriter notes = new StringWriter();
        CommandLine line = new CommandLine(command).setErr(new PrintWriter(notes, true));
        line.parseArgs();
        OutcomeRenderer.print(command.output, result);
        return notes.toString();
    }

    /** A user can choose a name that looks like a generated one. */
    @ParameterizedTest
    @ValueSource(strings = {"run-42", "resume-me", "trip"})
    void failedTurn_inAnOpenThread_canBeRetried(String thread) {
        assertThat(printed(failed(thread, false))).contains("say " + thread + " --retry");
    }

    @Test
    void failedTurn_withRefusedContent_advisesAnotherMessage() {
        ModelFact refused = new ModelFact.ModelFailed(1, new Problem("Refused", "anthropic refuses to answer"));

        assertThat(printed(result("trip", false, refused)))
                .contains("Send another message, which takes back what was refused, or, after a change of the agent")
                .contains("say trip --retry");
    }

    @ParameterizedTest
    @ValueSource(strings = {"run-42", "trip"})
    void failedTurn_ofASingleRun_canOnlyBeShown(String thread) {
        assertThat(printed(failed(thread, true))).contains("show " + thread).doesNotContain("--retry");
    }

    @ParameterizedTest
    @ValueSource(strings = {"run-42", "resume-me", "trip"})
    void turnLimit_inAnOpenThread_canBeRaised(String thread) {
        assertThat(printed(stopped(thread, false)))
                .contains("budget " + thread + " --iterations 2")
                .doesNotContain("resume " + thread);
    }

    @ParameterizedTest
    @ValueSource(strings = {"run-42", "trip"})
    void turnLimit_ofASingleRun_isRaisedInItsContinuation(String thread) {
        assertThat(printed(stopped(thread, true)))
                .contains("resume " + thread + " --max-iterations 2")
                .doesNotContain("budget");
    }
}
