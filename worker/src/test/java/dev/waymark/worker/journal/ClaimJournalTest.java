package dev.waymark.worker.journal;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatCode;
import static org.awaitility.Awaitility.await;

import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.waymark.connect.Connection;
import dev.waymark.contract.PayloadJson;
import dev.waymark.contract.WireNames;
import dev.waymark.contract.thread.StartInput;
import dev.waymark.conversation.Conversation;
import dev.waymark.conversation.call.Call;
import dev.waymark.conversation.fact.PersonFact;
import dev.waymark.history.HistoryReader;
import dev.waymark.testkit.crash.WorkerProcess;
import dev.waymark.timeline.Timeline;
import dev.waymark.worker.AgentWorker;
import dev.waymark.worker.server.DevServer;
import dev.waymark.worker.server.InMemoryServer;
import io.temporal.activity.Activity;
import io.temporal.activity.ActivityInterface;
import io.temporal.activity.ActivityOptions;
import io.temporal.activity.DynamicActivity;
import io.temporal.api.history.v1.HistoryEvent;
import io.temporal.client.WorkflowOptions;
import io.temporal.testing.TestActivityEnvironment;
import java.io.IOException;
import java.io.RandomAccessFile;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.BasicFileAttributes;
import java.time.Duration;
import java.util.List;
import java.util.UUID;
import java.util.concurrent.FutureTask;
import java.util.function.UnaryOperator;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledOnOs;
import org.junit.jupiter.api.condition.OS;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** The notes of a worker about its claimed calls, and how the next worker of its host handles them. */
@EnabledOnOs(OS.LINUX)
@Tag("full")
class ClaimJournalTest {
    /** Below the heartbeat timeout of a claimed call, so that the server has not noticed the loss itself. */
    private static final Duration SOON = Duration.ofSeconds(12);

    private static final Duration PATIENCE = Duration.ofMinutes(1);

    @TempDir
    private Path directory;

    private DevServer server;
    private Connection connection;
    private Path journal;

    @BeforeEach
    void open() throws Exception {
        server = InMemoryServer.start(0);
        connection = Connection.to(server.address());
        journal = directory.resolve("journal");
    }

    @AfterEach
    void close() {
        connection.close();
        server.close();
    }

    // ---- workers that are killed

    @Test
    void killedWorker_isReportedByTheNextOneAtOnce() throws Exception {
        String thread = start();
        try (WorkerProcess killed = JournalingWorker.start(server.address(), directory, journal)) {
            awaitBegun();
            assertThat(notes()).hasSize(1);
        }
        try (AgentWorker next = JournalingWorker.worker(connection, directory, journal)) {
            next.start();
            Conversation state = await().atMost(SOON).until(() -> state(thread), ClaimJournalTest::isOver);

            assertThat(state.calls().get("tu_1").orElseThrow().status()).isEqualTo(Call.Status.LOST);
            assertThat(events(thread)).noneMatch(HistoryEvent::hasActivityTaskTimedOutEventAttributes);
            await().atMost(PATIENCE).until(() -> notes().isEmpty());
        }
    }

    @Test
    void runningWorker_isNotReportedByAnotherOne() throws Exception {
        String thread = start();
        try (WorkerProcess running = JournalingWorker.start(server.address(), directory, journal)) {
            awaitBegun();
            try (AgentWorker other = JournalingWorker.worker(connection, directory, journal)) {
                other.start();
                assertThat(Files.exists(journal.resolve("1.lock"))).isTrue();
                assertStaysClaimed(thread);
                Files.createFile(directory.resolve(JournalingWorker.GO_ON));

                assertCompletes(thread);
                await().atMost(PATIENCE).until(() -> notes().isEmpty());
            }
        }
    }

    /** A virtual machine that was copied while a call was running has the notes of a worker that is alive elsewhere. */
    @Test
    void noteOfAWorkerThatSendsHeartbeats_isNotReported() throws Exception {
        String thread = start();
        try (WorkerProcess running = JournalingWorker.start(server.address(), directory, journal)) {
            awaitBegun();
            Path copy = Files.createDirectory(directory.resolve("copy"));
            copyNote(copy, note -> note.put("lock", lockOf(copy)));

            List<ClaimJournal.Left> left = journal().open(copy);
            assertThat(left).hasSize(1);
            new EndedWorkers(connection.client()).report(left.get(0));

            assertThat(status(thread)).isEqualTo(Call.Status.CLAIMED);
            assertThat(notes(copy)).isEmpty();
            Files.createFile(directory.resolve(JournalingWorker.GO_ON));
            assertCompletes(thread);
        }
    }

    /** A report by the activity's id would end it. */
    @Test
    void noteOfAnotherAttempt_isNotReported() throws Exception {
        String thread = start();
        try (WorkerProcess killed = JournalingWorker.start(server.address(), directory, journal)) {
            awaitBegun();
        }
        Path copy = Files.createDirectory(directory.resolve("copy"));
        copyNote(copy, note -> note.put("lock", lockOf(copy)).put("attempt", 2));

        new EndedWorkers(connection.client()).report(journal().open(copy).get(0));

        assertThat(status(thread)).isEqualTo(Call.Status.CLAIMED);
    }

    // ---- notes that do not count

    @ParameterizedTest
    @ValueSource(strings = {"boot", "lock"})
    void noteOfAnotherBootOrDirectory_isDeleted(String field) throws Exception {
        leaveNote(note -> note.put(field, "another"));

        assertThat(journal().open(journal)).isEmpty();
        assertThat(notes()).isEmpty();
    }

    @Test
    void noteForAnotherServer_isLeftToItsWorkers() throws Exception {
        leaveNote(note -> note.put("server", "another:7233 default"));

        assertThat(journal().open(journal)).isEmpty();
        assertThat(notes()).hasSize(1);
    }

    @Test
    void noteWithAnUnknownField_counts() throws Exception {
        leaveNote(note -> note.put("added", "later"));

        assertThat(journal().open(journal)).hasSize(1);
    }

    @Test
    void incompleteNote_isDeleted() throws Exception {
        Files.createDirectories(journal);
        Files.writeString(journal.resolve("0-x.claim"), "{\"server\":\"");

        assertThat(journal().open(journal)).isEmpty();
        assertThat(notes()).isEmpty();
    }

    /** Such files would block the start of the worker, or exhaust its memory. */
    @ParameterizedTest
    @ValueSource(strings = {"0.lock", "0-fifo.claim"})
    void fifo_isNeitherReadNorOpened(String name) throws Exception {
        Files.createDirectory(journal);
        Path fifo = journal.resolve(name);
        assertThat(new ProcessBuilder("mkfifo", fifo.toString()).start().waitFor())
                .isZero();

        FutureTask<List<ClaimJournal.Left>> opened =
                new FutureTask<>(() -> journal().open(journal));
        new Thread(opened).start();
        try {
            assertThat(opened).succeedsWithin(Duration.ofSeconds(20)).isEqualTo(List.of());
        } finally {
            // Unblocks a thread that waits for the other end of the FIFO, which would block other journals.
            new RandomAccessFile(fifo.toFile(), "rw").close();
        }
        assertThat(fifo).exists();
    }

    @Test
    void fileOf8GiB_isNotRead() throws Exception {
        Files.createDirectory(journal);
        Path large = journal.resolve("0-large.claim");
        try (RandomAccessFile file = new RandomAccessFile(large.toFile(), "rw")) {
            file.setLength(8L << 30); // A sparse file.
        }

        // JUnit would not survive running out of memory.
        assertThatCode(() -> assertThat(journal().open(journal)).isEmpty()).doesNotThrowAnyException();
        assertThat(large).exists();
    }

    @Test
    void secondJournalOfThisProcess_getsNothingOfTheFirst() throws Exception {
        journal().open(journal);
        leaveNote(note -> note);

        assertThat(journal().open(journal)).isEmpty();
        assertThat(notes()).hasSize(1);
    }

    @Test
    void noteOfACallBeingCancelled_isWritten() {
        ClaimJournal journal = journal();
        journal.open(this.journal);
        DynamicActivity cancelled = arguments -> {
            Thread.currentThread().interrupt();
            try (ClaimJournal.Entry entry =
                    journal.note(Activity.getExecutionContext().getInfo(), "tu_1")) {
                assertThat(Thread.interrupted()).isTrue();
                return notes().size();
            } catch (IOException e) {
                throw Activity.wrap(e);
            }
        };
        TestActivityEnvironment environment = TestActivityEnvironment.newInstance();
        try {
            environment.registerActivitiesImplementations(cancelled);
            ActivityOptions options = ActivityOptions.newBuilder()
                    .setStartToCloseTimeout(PATIENCE)
                    .build();

            assertThat(environment.newActivityStub(Activities.class, options).notes())
                    .isEqualTo(1);
        } finally {
            environment.close();
        }
    }

    // ---- directories that cannot be used

    @Test
    void unusableDirectory_doesNotStopTheWorker() throws Exception {
        Path file = Files.writeString(directory.resolve("file"), "");
        Files.createFile(directory.resolve(JournalingWorker.GO_ON));
        try (AgentWorker worker = JournalingWorker.worker(connection, directory, file.resolve("journal"))) {
            worker.start();

            assertCompletes(start());
        }
    }

    @Test
    void directoryThatIsDeleted_doesNotStopTheCalls() throws Exception {
        Files.createFile(directory.resolve(JournalingWorker.GO_ON));
        try (AgentWorker worker = JournalingWorker.worker(connection, directory, journal)) {
            worker.start();
            try (Stream<Path> files = Files.list(journal)) {
                for (Path file : files.toList()) {
                    Files.delete(file);
                }
            }
            Files.delete(journal);

            assertCompletes(start());
            assertCompletes(start());
            assertThat(Files.exists(journal)).isFalse();
        }
    }

    /** Activities of any kind. */
    @ActivityInterface
    public interface Activities {
        int notes();
    }

    private ClaimJournal journal() {
        return new ClaimJournal(serverInNotes());
    }

    private String serverInNotes() {
        return connection.stubs().getOptions().getTarget() + " " + connection.namespace();
    }

    /** Leaves a note in the journal, like a killed process of this host. */
    private void leaveNote(UnaryOperator<ObjectNode> change) throws IOException {
        Files.createDirectories(journal);
        ClaimNote note = new ClaimNote(
                serverInNotes(),
                new byte[] {1},
                "thread",
                "run",
                "activity",
                1,
                "tu_1",
                Files.readString(Path.of("/proc/sys/kernel/random/boot_id")).strip(),
                lockOf(journal));
        write(journal, change.apply(PayloadJson.MAPPER.valueToTree(note)));
    }

    private void copyNote(Path to, UnaryOperator<ObjectNode> change) throws IOException {
        ObjectNode note =
                (ObjectNode) PayloadJson.MAPPER.readTree(notes().get(0).toFile());
        write(to, change.apply(note));
    }

    private static void write(Path directory, ObjectNode note) throws IOException {
        Files.write(directory.resolve("0-copied.claim"), PayloadJson.MAPPER.writeValueAsBytes(note));
    }

    /** The identity of the lock of the first process in this directory. */
    private static String lockOf(Path directory) {
        try {
            Path file = directory.resolve("0.lock");
            if (!Files.exists(file)) {
                Files.createFile(file);
            }
            return Files.readAttributes(file, BasicFileAttributes.class)
                    .fileKey()
                    .toString();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private List<Path> notes() throws IOException {
        return notes(journal);
    }

    private static List<Path> notes(Path journal) throws IOException {
        try (Stream<Path> files = Files.list(journal)) {
            return files.filter(file -> file.toString().endsWith(".claim")).toList();
        }
    }

    private String start() {
        String thread = UUID.randomUUID().toString();
        connection
                .client()
                .newUntypedWorkflowStub(
                        WireNames.WORKFLOW_TYPE,
                        WorkflowOptions.newBuilder()
                                .setTaskQueue(WireNames.TASK_QUEUE)
                                .setWorkflowId(thread)
                                .build())
                .start(StartInput.of("a").saying(PersonFact.UserSpoke.message("m-1", "Charge")));
        return thread;
    }

    private void awaitBegun() {
        await().atMost(PATIENCE).until(() -> Files.exists(directory.resolve(JournalingWorker.BEGAN)));
    }

    private void assertStaysClaimed(String thread) {
        await().during(Duration.ofSeconds(4)).atMost(PATIENCE).until(() -> status(thread) == Call.Status.CLAIMED);
    }

    private void assertCompletes(String thread) {
        Conversation state = await().atMost(PATIENCE).until(() -> state(thread), ClaimJournalTest::isOver);
        assertThat(state.calls().get("tu_1").orElseThrow().status()).isEqualTo(Call.Status.COMPLETED);
    }

    private Call.Status status(String thread) {
        return state(thread).calls().get("tu_1").orElseThrow().status();
    }

    private Conversation state(String thread) {
        return new HistoryReader(connection.client())
                .read(thread)
                .map(Timeline::now)
                .orElseThrow();
    }

    private static boolean isOver(Conversation state) {
        return state.turn().number() > 0 && !state.turn().isRunning();
    }

    private List<HistoryEvent> events(String thread) {
        return connection.client().fetchHistory(thread).getEvents();
    }
}
