package dev.waymark.e2e;

import static dev.waymark.client.AgentResult.assertComplete;
import static org.assertj.core.api.Assertions.assertThat;

import dev.waymark.client.AgentClient;
import dev.waymark.client.request.Prompt;
import dev.waymark.connect.Connection;
import dev.waymark.conversation.Conversation;
import dev.waymark.e2e.product.ReadingWorker;
import dev.waymark.testkit.crash.Crash;
import dev.waymark.testkit.crash.CrashPoint;
import dev.waymark.testkit.crash.Fault;
import dev.waymark.testkit.crash.WorkerProcess;
import dev.waymark.worker.AgentWorker;
import dev.waymark.worker.server.DevServer;
import dev.waymark.worker.server.TemporalBinary;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** A thread that reads on in long results, while its worker is killed with SIGKILL. It reads the same as without that. */
@Tag("server")
@Tag("full")
@Timeout(180)
class KilledReadsServerTest {
    private static DevServer server;
    private static AgentClient client;
    private static Connection connection;
    private static Conversation undisturbed;

    @BeforeAll
    static void readUndisturbed() throws Exception {
        Optional<Path> binary = TemporalBinary.find();
        Assumptions.assumeTrue(binary.isPresent(), "no temporal binary on PATH nor in TEMPORAL_CLI");
        server = DevServer.temporal(binary.get(), Optional.empty(), 0, 0);
        client = AgentClient.connect(server.address()).withTimeout(Duration.ofMinutes(2));
        connection = Connection.to(server.address());
        undisturbed = goOn(client.start(Prompt.of(ReadingWorker.AGENT, "Read")).thread());
    }

    @AfterAll
    static void stop() {
        if (server != null) {
            client.close();
            connection.close();
            server.close();
        }
    }

    /** Lets a worker end the turn of this thread, and returns the state after it. */
    private static Conversation goOn(String thread) {
        try (AgentWorker worker = ReadingWorker.worker(connection)) {
            worker.start();
            assertThat(assertComplete(client.turn(thread).await()).text()).isEqualTo("Read.");
        }
        return client.timeline(thread).now();
    }

    @ParameterizedTest
    @CsvSource({
        "REPLY_SAVED, 1", // The calls of the reply run, and their long results are nowhere yet.
        "BEFORE_COMPLETION, 1", // The long results are on their way.
        "AFTER_COMPLETION, 1", // They have arrived, and were cut.
        "MODEL_REQUESTED, 2", // The model is shown what was cut.
        "MODEL_REPLIED, 2", // The model wants to read on.
        "MODEL_REQUESTED, 3", // The rules have answered.
        "MODEL_REPLIED, 3"
    })
    void workerKilled_readsTheSame(CrashPoint point, int passing, @TempDir Path directory) throws Exception {
        Path witness = directory.resolve("witness");
        String fault = Fault.at(point).passing(passing).toString();
        String thread;
        try (WorkerProcess process =
                WorkerProcess.start(ReadingWorker.class, server.address(), fault, witness.toString())) {
            thread = client.start(Prompt.of(ReadingWorker.AGENT, "Read")).thread();
            assertThat(process.diesWithin(Duration.ofMinutes(1))).isTrue();
        }
        assertThat(Crash.witnessed(witness)).isPresent();

        Conversation state = goOn(thread);

        assertThat(state.transcript().messages())
                .isEqualTo(undisturbed.transcript().messages());
        // Calls that ran one by one again may have ended in another order.
        assertThat(state.callBook().longResults())
                .containsExactlyInAnyOrderElementsOf(undisturbed.callBook().longResults());
        assertThat(state.wholeResult("tu_1")).contains(ReadingWorker.PAGE);
        assertThat(state.transcript().digest())
                .isEqualTo(undisturbed.transcript().digest());
        assertThat(client.inspector().verify(thread).agrees()).isTrue();
        assertThat(activities(thread)).doesNotContain("read_result");
    }

    private static List<String> activities(String thread) {
        return connection.client().fetchHistory(thread).getEvents().stream()
                .filter(event -> event.hasActivityTaskScheduledEventAttributes())
                .map(event -> event.getActivityTaskScheduledEventAttributes()
                        .getActivityType()
                        .getName())
                .toList();
    }
}
