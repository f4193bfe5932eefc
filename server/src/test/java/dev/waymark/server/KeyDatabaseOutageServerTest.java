package dev.waymark.server;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import dev.waymark.client.AgentClient;
import dev.waymark.client.failure.WaymarkException;
import dev.waymark.client.request.Prompt;
import dev.waymark.conversation.state.Turn;
import dev.waymark.fixtures.process.PostgresServer;
import dev.waymark.testkit.process.ChildProcess;
import dev.waymark.timeline.Timeline;
import dev.waymark.worker.server.DevServer;
import dev.waymark.worker.server.TemporalBinary;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.stream.IntStream;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.api.parallel.Execution;
import org.junit.jupiter.api.parallel.ExecutionMode;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** The database with the keys of threads stops during turns. One worker has read the keys, and another has not. */
@Tag("full")
@Tag("server")
@Timeout(600)
@Execution(ExecutionMode.CONCURRENT)
class KeyDatabaseOutageServerTest {
    private static final int THREADS = 3;
    private static final int CALLS = 15;
    /** Workers read a key again after a minute. */
    private static final Duration UNTIL_KEYS_ARE_READ_AGAIN = Duration.ofSeconds(62);

    private static final Duration OUTAGE = Duration.ofSeconds(25);
    /** Long enough that no thread completes before the outage ends, even if everything but its calls takes no time. */
    private static final Duration CALL =
            UNTIL_KEYS_ARE_READ_AGAIN.plus(OUTAGE).dividedBy(CALLS).plusMillis(100);

    @TempDir
    Path directory;

    private final List<String> names =
            IntStream.range(0, THREADS).mapToObj(i -> "charging-" + i).toList();
    private DevServer temporal;
    private PostgresServer postgres;
    private EncryptedThreads threads;

    /** How the database stops. */
    private enum DatabaseStop {
        /** Connections stay open and new ones are accepted, but nothing answers. */
        SUSPENDED {
            @Override
            void begin(PostgresServer postgres) throws Exception {
                postgres.suspend();
            }

            @Override
            void end(PostgresServer postgres) throws Exception {
                postgres.resume();
            }
        },
        /** Connections are lost, and new ones are refused. */
        KILLED {
            @Override
            void begin(PostgresServer postgres) {
                postgres.kill();
            }

            @Override
            void end(PostgresServer postgres) throws Exception {
                postgres.restart();
            }
        };

        abstract void begin(PostgresServer postgres) throws Exception;

        abstract void end(PostgresServer postgres) throws Exception;
    }

    @BeforeEach
    void start() throws Exception {
        Optional<Path> binary = TemporalBinary.find();
        assumeTrue(binary.isPresent(), "no temporal binary on PATH nor in TEMPORAL_CLI");
        postgres = PostgresServer.start(directory);
        temporal = DevServer.temporal(binary.get(), Optional.of(directory.resolve("temporal.db")), 0, 0);
        threads = new EncryptedThreads(directory, temporal.address(), postgres);
        threads.program(
                "charge.sh",
                "cat >/dev/null; echo \"$WAYMARK_THREAD $WAYMARK_CALL_ID\" >>ledger; sleep "
                        + CALL.toMillis() / 1000.0);
        StringBuilder script = new StringBuilder("replies:\n");
        for (int i = 1; i <= CALLS; i++) {
            script.append("  - tool_calls: [{ id: tu_" + i + ", name: charge, input: { cents: " + i + " } }]\n");
        }
        threads.agent(
                "charger",
                "tools: [{ name: charge, command: [./charge.sh] }]\nmax_iterations: 100",
                script + "  - text: Charged.\n");
    }

    @AfterEach
    void stop() throws Exception {
        if (threads != null) {
            threads.close();
        }
        if (temporal != null) {
            temporal.close();
        }
        if (postgres != null) {
            postgres.close();
        }
    }

    @ParameterizedTest
    @EnumSource(DatabaseStop.class)
    void threads_keysUnavailableForAWhile_complete(DatabaseStop outage) throws Exception {
        ChildProcess worker = threads.startWorker("worker-1");
        AgentClient client = threads.client();
        long started = System.nanoTime();
        for (String name : names) {
            client.start(Prompt.of("charger", "Charge").withThread(name));
        }
        Awaitility.await()
                .atMost(Duration.ofMinutes(2))
                .until(() -> System.nanoTime() - started > UNTIL_KEYS_ARE_READ_AGAIN.toNanos()
                        && effects().size() > THREADS);

        outage.begin(postgres);
        long since = System.nanoTime();
        int before = effects().size();
        threads.startWorker("worker-2");
        assertNothingStarts();
        if (outage == DatabaseStop.KILLED) {
            worker.signal("TERM"); // worker-1 finishes its tasks, and leaves the rest to worker-2, which has no keys.
        }
        Awaitility.await().atMost(OUTAGE.multipliedBy(2)).until(() -> System.nanoTime() - since > OUTAGE.toNanos());
        int during = effects().size() - before;
        outage.end(postgres);

        AgentClient other = threads.client();
        for (String name : names) {
            Timeline timeline = Awaitility.await()
                    .atMost(Duration.ofMinutes(5))
                    .pollInterval(Duration.ofSeconds(1))
                    .until(() -> other.timeline(name), now -> now.now().isSettled());
            assertThat(timeline.now().turn().status()).as(name).isEqualTo(Turn.Status.COMPLETE);
        }
        assertThat(before).as("the outage was in the middle").isLessThan(THREADS * CALLS);
        assertThat(effects()).containsExactlyInAnyOrderElementsOf(expected());
        System.out.printf(
                "%s: %d effects before, %d during %d s, all after %d s%n",
                outage,
                before,
                during,
                OUTAGE.toSeconds(),
                Duration.ofNanos(System.nanoTime() - started).toSeconds());
        for (String name : List.of("worker-1", "worker-2")) {
            assertThat(threads.log(name)).doesNotContain(EncryptedThreads.PASSWORD, EncryptedThreads.MASTER_KEY);
        }
    }

    private List<String> expected() {
        return names.stream()
                .flatMap(name -> IntStream.rangeClosed(1, CALLS).mapToObj(i -> name + " tu_" + i))
                .toList();
    }

    /** Checks that no thread starts while its key cannot be created, and that the caller receives the reason. */
    private void assertNothingStarts() throws Exception {
        AgentClient client = threads.client();
        assertThatThrownBy(() -> client.start(Prompt.of("charger", "Charge").withThread("late")))
                .isInstanceOf(WaymarkException.ServerUnreachable.class)
                .hasMessageStartingWith(
                        "the keys of threads are not available: the database can't be read: jdbc:postgresql://127.0.0.1:")
                .hasMessageNotContaining(EncryptedThreads.PASSWORD);
    }

    /** The effects so far, which the program writes to the directory of the agents. */
    private List<String> effects() throws IOException {
        Path ledger = directory.resolve("agents").resolve("ledger");
        return Files.exists(ledger) ? Files.readAllLines(ledger) : List.of();
    }
}
