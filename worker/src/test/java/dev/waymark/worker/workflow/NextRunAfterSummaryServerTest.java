package dev.waymark.worker.workflow;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import dev.waymark.connect.Connection;
import dev.waymark.contract.thread.StartInput;
import dev.waymark.conversation.fact.PersonFact;
import dev.waymark.conversation.message.Part;
import dev.waymark.conversation.message.Reply;
import dev.waymark.conversation.policy.SummaryRule;
import dev.waymark.conversation.value.Json;
import dev.waymark.conversation.value.Usage;
import dev.waymark.model.ModelProvider;
import dev.waymark.timeline.Moment;
import dev.waymark.timeline.Timeline;
import dev.waymark.tool.JavaTool;
import dev.waymark.worker.server.DevServer;
import dev.waymark.worker.server.TemporalBinary;
import io.temporal.api.history.v1.HistoryEvent;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** A thread with summaries on a real server that suggests early that runs should continue as new. */
@Tag("server")
@Tag("full")
@Timeout(300)
class NextRunAfterSummaryServerTest {
    private static final int ITERATIONS = 80;
    private static final int TOKENS = 500;

    @TempDir
    Path directory;

    record Nothing() {}

    /** A thread that looks at a text of this length in every iteration, on a server that suggests new runs early. */
    static WorkflowRig looking(Connection connection, int characters) {
        String text = "x".repeat(characters);
        AtomicInteger calls = new AtomicInteger();
        ModelProvider model = request -> {
            Usage usage = new Usage(request.messages().size() * TOKENS, TOKENS);
            if (request.tools().isEmpty()) {
                return new Reply(List.of(new Part.Text("Much was looked at.")), usage, "");
            }
            int call = calls.incrementAndGet();
            return call > ITERATIONS
                    ? Reply.of(new Part.Text("Done."))
                    : new Reply(
                            List.of(new Part.Text(text), new Part.ToolUse("tu_" + call, "look", Json.EMPTY_OBJECT)),
                            usage,
                            "");
        };
        JavaTool<Nothing> look = JavaTool.of("look", "Looks", Nothing.class, (nothing, context) -> text)
                .safeToRetry();
        return new WorkflowRig(connection, model, look)
                .with(agent -> agent.summaries(new SummaryRule(10_000, 6)).maxIterations(2 * ITERATIONS));
    }

    /** A server that suggests a new run after 60 events. */
    static DevServer suggestingEarly(Path directory) throws Exception {
        Optional<Path> binary = TemporalBinary.find();
        assumeTrue(binary.isPresent(), "no temporal binary: tests on the real server are skipped");
        Path wrapper = directory.resolve("temporal");
        Files.writeString(
                wrapper,
                "#!/bin/sh\nexec '" + binary.get() + "' \"$@\" --dynamic-config-value"
                        + " limit.historyCount.suggestContinueAsNew=60\n");
        Files.setPosixFilePermissions(wrapper, PosixFilePermissions.fromString("rwxr-xr-x"));
        return DevServer.temporal(wrapper, Optional.empty(), 0, 0);
    }

    @Test
    void run_withSummaries_continuesAsNewWhenItsConversationIsSmall() throws Exception {
        try (DevServer server = suggestingEarly(directory);
                Connection connection = Connection.to(server.address());
                WorkflowRig rig = looking(connection, 4 * TOKENS)) {
            String thread =
                    rig.start(StartInput.of("a").saying(PersonFact.UserSpoke.message("m-1", "Look at everything")));
            rig.awaitTurn(thread, 1);
            Timeline timeline = rig.timeline(thread);
            List<String> runs =
                    timeline.moments().stream().map(Moment::runId).distinct().toList();

            assertThat(timeline.now().turn().text()).isEqualTo("Done.");
            assertThat(runs).hasSizeGreaterThan(1);
            for (int i = 0; i + 1 < runs.size(); i++) {
                List<HistoryEvent> events =
                        rig.client().fetchHistory(thread, runs.get(i)).getEvents();
                assertThat(8 * bytesCarried(timeline, runs.get(i + 1))).isLessThan(historyBytes(events));
            }
        }
    }

    private static long bytesCarried(Timeline timeline, String run) {
        return timeline.moments().stream()
                .filter(moment -> moment.runId().equals(run))
                .findFirst()
                .orElseThrow()
                .state()
                .transcript()
                .bytes();
    }

    private static long historyBytes(List<HistoryEvent> events) {
        return events.stream()
                .filter(HistoryEvent::hasWorkflowTaskStartedEventAttributes)
                .mapToLong(
                        event -> event.getWorkflowTaskStartedEventAttributes().getHistorySizeBytes())
                .max()
                .orElseThrow();
    }
}
