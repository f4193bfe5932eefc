package dev.waymark.starter.render;

import static org.assertj.core.api.Assertions.assertThat;

import dev.waymark.cli.CommandError;
import dev.waymark.cli.CommandFailure;
import dev.waymark.client.AgentResult;
import dev.waymark.client.failure.Remedy;
import dev.waymark.client.failure.WaymarkException;
import dev.waymark.codec.KeyProblem;
import dev.waymark.conversation.fact.PersonFact;
import dev.waymark.conversation.fact.ThreadFact;
import dev.waymark.conversation.value.Problem;
import dev.waymark.conversation.value.ProblemType;
import dev.waymark.fixtures.ThreadFixture;
import io.grpc.Status;
import java.net.BindException;
import java.nio.file.NoSuchFileException;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Optional;
import org.junit.jupiter.api.Test;

class CommandErrorsTest {
    @Test
    void exceptions_eachKind_hasItsDocumentedCode() {
        Map<WaymarkException, Integer> codes = new LinkedHashMap<>();
        codes.put(new WaymarkException.NotFound("", ""), 3);
        codes.put(new WaymarkException.Closed("", ""), 3);
        codes.put(new WaymarkException.TooLarge("", ""), 2);
        codes.put(new WaymarkException.VolatileStore("", Remedy.NONE), 2);
        codes.put(new WaymarkException.Refused("AlreadyDecided", "", ""), 2);
        codes.put(new WaymarkException.Refused("CheckpointCorruption", "", ""), 2);
        codes.put(new WaymarkException.NotComplete("Stopped", "", "t1"), 1);
        codes.put(new WaymarkException.ServerUnreachable("", Remedy.NONE, null), 5);
        codes.put(new WaymarkException.NoWorker("", Remedy.NONE, "t1", true), 6);
        codes.put(new WaymarkException.TimedOut("", Remedy.NONE, "t1"), 6);
        codes.put(new WaymarkException.OutcomeUnreadable("", "t1", new IllegalStateException()), 6);

        codes.forEach((exception, code) -> assertThat(CommandErrors.exitCode(exception))
                .as(exception.getClass().getSimpleName())
                .isEqualTo(code));
    }

    @Test
    void libraryExceptions_eachKind_hasItsDocumentedCode() {
        Map<Exception, String> errors = new LinkedHashMap<>();
        errors.put(new CommandFailure(4, "Own", "own", ""), "4 Own");
        errors.put(new KeyProblem("no key"), "2 KeyProblem");
        errors.put(new BindException("7233 is in use"), "2 PortInUse");
        errors.put(new NoSuchFileException("a.yaml"), "3 NotFound");
        errors.put(Status.UNAVAILABLE.asRuntimeException(), "5 ServerUnreachable");
        errors.put(Status.DEADLINE_EXCEEDED.asRuntimeException(), "5 ServerUnreachable");
        errors.put(Status.NOT_FOUND.asRuntimeException(), "3 NotFound");
        errors.put(Status.INTERNAL.asRuntimeException(), "5 ServerUnreachable");
        errors.put(Status.INVALID_ARGUMENT.asRuntimeException(), "1 Unexpected");
        errors.put(new IllegalStateException(), "1 Unexpected");

        errors.forEach((exception, expected) -> {
            CommandError error = CommandErrors.of(exception);
            assertThat(error.exitCode() + " " + error.type()).isEqualTo(expected);
        });
    }

    @Test
    void results_eachOutcome_hasItsDocumentedCode() {
        ThreadFixture asked =
                ThreadFixture.resolved("ask_user").says("m1", "Hi").callsModel().asks("tu_7", "Which day?");
        ThreadFixture done =
                ThreadFixture.resolved().says("m1", "Hi").callsModel().replies("Hello.");
        ThreadFixture failed =
                ThreadFixture.resolved().says("m1", "Hi").callsModel().fails("overloaded");
        ThreadFixture stopped =
                ThreadFixture.resolved().says("m1", "Hi").callsModel().then(new PersonFact.Stopped(Optional.empty()));
        ThreadFixture cancelled =
                ThreadFixture.resolved().says("m1", "Hi").callsModel().then(new ThreadFact.CancelRequested());

        assertThat(codeOf(done)).isZero();
        assertThat(codeOf(asked)).isZero();
        assertThat(codeOf(failed)).isEqualTo(1);
        assertThat(codeOf(stopped)).isEqualTo(1);
        assertThat(codeOf(cancelled)).isEqualTo(1);
    }

    @Test
    void results_unknownAgent_isNotFound() {
        ThreadFixture refused = ThreadFixture.begun()
                .says("m1", "Hi")
                .then(new ThreadFact.AgentRequested())
                .then(new ThreadFact.AgentRefused(new Problem(ProblemType.NOT_FOUND, "no such agent: x")));

        assertThat(codeOf(refused)).isEqualTo(3);
    }

    private static int codeOf(ThreadFixture fixture) {
        return CommandErrors.exitCode(
                AgentResult.of("t1", "run-1", fixture.now(), fixture.now().turn()));
    }
}
