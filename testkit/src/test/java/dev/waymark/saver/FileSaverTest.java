package dev.waymark.saver;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.InstanceOfAssertFactories.type;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import dev.waymark.conversation.value.ProblemType;
import dev.waymark.testkit.DurableSaverContract;
import dev.waymark.testkit.SavedOwnersContract;
import dev.waymark.testkit.process.ChildProcess;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.FileTime;
import java.nio.file.attribute.PosixFilePermissions;
import java.time.Duration;
import java.time.Instant;
import java.util.Arrays;
import java.util.List;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.stream.Stream;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class FileSaverTest extends DurableSaverContract implements SavedOwnersContract {
    @TempDir
    Path temporary;

    @Override
    protected CheckpointSaver open() {
        return new FileSaver(directory());
    }

    @Override
    public CheckpointSaver saverWithOwners() {
        return open();
    }

    private Path directory() {
        return temporary.resolve("not/there/yet");
    }

    @Override
    protected void replaceStored(String threadId, String text) throws IOException {
        Files.writeString(directory().resolve(EntryFileName.of(threadId).documentName()), text);
    }

    @Test
    void save_filesAndDirectories_areReadableByTheirOwnerOnly() throws Exception {
        saver.save(checkpoint("trip", 1));
        saver.save(checkpoint("x".repeat(400), 1));

        try (Stream<Path> all = Files.walk(temporary.resolve("not"))) {
            assertThat(all.map(FileSaverTest::permissions).distinct().toList())
                    .containsExactlyInAnyOrder("rwx------", "rw-------");
        }
    }

    /** The new owner takes over the entry after the first owner has started to save, and before its save is done. */
    @Test
    @Timeout(60)
    void save_whileAnotherThreadTakesOver_isRefused() throws Exception {
        CheckpointOwner first = CheckpointOwner.first("run-1", "a", "trip");
        saver.save(checkpoint("trip", 1), () -> checkpoint("trip", 1), first);
        CompletableFuture<Void> late = new CompletableFuture<>();
        Thread earlier = new Thread(() -> {
            try {
                saver.save(checkpoint("trip", 2), () -> checkpoint("trip", 2), first);
                late.complete(null);
            } catch (SaverException e) {
                late.completeExceptionally(e);
            }
        });
        try (DirectoryLock lock = DirectoryLock.take(directory())) {
            earlier.start();
            Awaitility.await().until(() -> earlier.getState() == Thread.State.WAITING);
            saver.handOver("trip", first.succeededBy("run-2", "a"));
        }

        assertThatThrownBy(late::get).hasCauseInstanceOf(SaverException.class);
        assertThat(saver.load("trip")).contains(checkpoint("trip", 1));
    }

    @Test
    void save_fileReadableByOthers_becomesPrivate() throws Exception {
        saver.save(checkpoint("trip", 1));
        Path file = directory().resolve("trip.json");
        Files.setPosixFilePermissions(file, PosixFilePermissions.fromString("rw-r--r--"));

        saver.save(checkpoint("trip", 2));

        assertThat(permissions(file)).isEqualTo("rw-------");
    }

    private static String permissions(Path path) {
        try {
            return PosixFilePermissions.toString(Files.getPosixFilePermissions(path));
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    @ParameterizedTest
    @CsvSource({
        "trip, trip.json",
        "Trip, %54rip.json",
        "team/a:42, team%2fa%3a42.json",
        "'', %.json",
        ".., %2e%2e.json",
        "é, %c3%a9.json",
        "con, %63on.json",
        "CON, %43%4f%4e.json",
        "con.txt, con%2etxt.json",
    })
    void save_id_namesItsFile(String threadId, String name) throws Exception {
        saver.save(checkpoint(threadId, 1));

        assertThat(names(directory())).containsExactly(name);
    }

    @Test
    void save_longId_hasAFileOfItsHashAndOneOfItsId() throws Exception {
        String threadId = "é".repeat(2048);
        saver.save(checkpoint(threadId, 1));

        List<String> names = names(directory());
        assertThat(names).hasSize(2).allMatch(name -> name.matches("~[0-9a-f]{64}\\.(json|id)"));
        saver.delete(threadId);
        assertThat(names(directory())).isEmpty();
    }

    @Test
    void list_longIdWithoutItsIdFile_isReadFromTheDocument() throws Exception {
        String threadId = "x".repeat(300);
        saver.save(checkpoint(threadId, 1));
        Path idFile = directory().resolve(EntryFileName.of(threadId).idName());
        Files.delete(idFile);

        assertThat(saver.list()).containsExactly(threadId);
        replaceStored(threadId, "{");
        assertThatThrownBy(saver::list)
                .asInstanceOf(type(SaverException.class))
                .extracting(SaverException::type)
                .isEqualTo(ProblemType.CORRUPTION);
    }

    @Test
    void save_awkwardIds_leavesTheDirectory() throws Exception {
        for (String threadId : List.of("..", "../x", "/etc/x", "a/../../x", "\u0000")) {
            saver.save(checkpoint(threadId, 1));
        }

        assertThat(names(directory())).hasSize(5);
        assertThat(names(temporary)).containsExactly("not");
    }

    @Test
    void list_otherFiles_areIgnored() throws Exception {
        saver.save(checkpoint("t", 1));
        for (String other :
                List.of("README", "Notes.json", "%2F.json", "a%.json", "%61.json", ".x.tmp", "con.json", "~.json")) {
            Files.writeString(directory().resolve(other), "mine");
        }

        assertThat(saver.list()).containsExactly("t");
    }

    @Test
    void save_namespaces_areSeparate() throws Exception {
        CheckpointSaver billing = new FileSaver(directory(), new Namespace("Billing"));
        CheckpointSaver lower = new FileSaver(directory(), new Namespace("billing"));
        saver.save(checkpoint("t", 1));
        billing.save(checkpoint("t", 2));
        lower.save(checkpoint("u", 3));

        assertThat(saver.load("t")).contains(checkpoint("t", 1));
        assertThat(saver.list()).containsExactly("t");
        assertThat(billing.load("t")).contains(checkpoint("t", 2));
        assertThat(billing.list()).containsExactly("t");
        assertThat(lower.list()).containsExactly("u");
        assertThat(names(directory())).containsExactly("%42illing", "billing", "t.json");
    }

    @Test
    void save_leavesNoDraft() throws Exception {
        for (int i = 0; i < 5; i++) {
            saver.save(checkpoint("t", i));
        }

        assertThat(names(directory())).containsExactly("t.json");
    }

    @Test
    void save_draftsOfKilledProcesses_areRemovedWhenTheyAreOld() throws Exception {
        Files.createDirectories(directory());
        String old = "." + UUID.randomUUID() + ".tmp";
        String fresh = "." + UUID.randomUUID() + ".tmp";
        for (String name : List.of(old, fresh, ".mine.tmp", "notes.tmp")) {
            Path file = Files.writeString(directory().resolve(name), "{");
            Files.setLastModifiedTime(file, FileTime.from(Instant.now().minus(Duration.ofMinutes(61))));
        }
        Files.setLastModifiedTime(directory().resolve(fresh), FileTime.from(Instant.now()));

        saver.save(checkpoint("t", 1));

        assertThat(names(directory())).containsExactlyInAnyOrder(fresh, ".mine.tmp", "notes.tmp", "t.json");
    }

    @Test
    void load_notUtf8_isCorrupt() throws Exception {
        saver.save(checkpoint("t", 1));
        Files.write(directory().resolve("t.json"), new byte[] {'"', (byte) 0xff, '"'});

        assertThatThrownBy(() -> saver.load("t")).hasMessageContaining("t.json (not UTF-8)");
        assertThatThrownBy(() -> saver.save(checkpoint("t", 2))).hasMessageContaining("t.json (not UTF-8)");
    }

    @Test
    void load_truncatedAtEveryByte_isCorrupt() throws Exception {
        saver.save(checkpoint("t", 1));
        Path file = directory().resolve("t.json");
        byte[] whole = Files.readAllBytes(file);
        int closingBrace = whole.length - 2;
        for (int length = closingBrace; length >= 0; length--) {
            Files.write(file, Arrays.copyOf(whole, length));
            assertThatThrownBy(() -> saver.load("t"))
                    .asInstanceOf(type(SaverException.class))
                    .extracting(SaverException::type)
                    .isEqualTo(ProblemType.CORRUPTION);
        }
    }

    @Test
    void save_directoryIsAFile_saysSo() throws Exception {
        Path file = Files.writeString(temporary.resolve("file"), "mine");
        CheckpointSaver wrong = new FileSaver(file);

        assertFailed(() -> wrong.save(checkpoint("t", 1)), "Not a directory");
        assertFailed(wrong::list, "NotDirectoryException");
        assertFailed(() -> wrong.exists("t"), "Not a directory");
        assertThat(file).hasContent("mine");
    }

    @Test
    void save_readOnlyDirectory_saysSoAndKeepsTheOld() throws Exception {
        assumeTrue(!isRoot(), "root may write into any directory: see the read-only file system");
        saver.save(checkpoint("t", 1));
        Files.setPosixFilePermissions(directory(), PosixFilePermissions.fromString("r-xr-xr-x"));
        try {
            assertFailed(() -> saver.save(checkpoint("t", 2)), "AccessDenied");
            assertThat(saver.load("t")).contains(checkpoint("t", 1));
        } finally {
            Files.setPosixFilePermissions(directory(), PosixFilePermissions.fromString("rwxr-xr-x"));
        }
    }

    @Test
    void save_diskIsFull_saysSoAndKeepsTheOld() throws Exception {
        try (SmallDisk disk = SmallDisk.mounted(temporary.resolve("disk"))) {
            CheckpointSaver full = new FileSaver(disk.directory());
            full.save(checkpoint("t", 1));

            assertFailed(() -> full.save(checkpoint("t", 2, "x".repeat(1_000_000))), "No space left on device");
            assertFailed(() -> full.save(checkpoint("u", 1, "x".repeat(1_000_000))), "No space left on device");
            assertThat(full.load("t")).contains(checkpoint("t", 1));
            assertThat(full.list()).containsExactly("t");
            assertThat(names(disk.directory())).containsExactly("t.json");
            full.save(checkpoint("t", 3));
            assertThat(full.load("t")).contains(checkpoint("t", 3));
        }
    }

    @Test
    void save_readOnlyFileSystem_saysSoAndKeepsTheOld() throws Exception {
        try (SmallDisk disk = SmallDisk.mounted(temporary.resolve("disk"))) {
            CheckpointSaver readOnly = new FileSaver(disk.directory());
            readOnly.save(checkpoint("t", 1));
            disk.makeReadOnly();

            assertFailed(() -> readOnly.save(checkpoint("t", 2)), "Read-only file system");
            assertFailed(() -> readOnly.delete("t"), "Read-only file system");
            assertThat(readOnly.load("t")).contains(checkpoint("t", 1));
        }
    }

    @Test
    void save_processIsKilled_leavesAWholeDocument() throws Exception {
        saver.save(checkpoint("t", 0, "0".repeat(200_000)));
        for (int kill = 0; kill < 4; kill++) {
            ChildProcess writer = ChildProcess.java(
                            ChildProcess.SHORT_LIVED, Writer.class, directory().toString())
                    .start();
            writer.firstLine(Duration.ofMinutes(1));

            writer.kill();

            assertThat(writer.exitCodeWithin(Duration.ZERO))
                    .as("killed, not ended")
                    .hasValue(128 + 9);
            int step = ((Number) saver.load("t").orElseThrow().field("step")).intValue();
            assertThat(step).isPositive();
            assertThat(saver.load("t"))
                    .contains(checkpoint("t", step, String.valueOf(step % 10).repeat(200_000)));
            assertThat(saver.list()).containsExactly("t");
        }
    }

    /** A process that saves in an endless loop, and prints a line after the first save. */
    static final class Writer {
        public static void main(String[] args) {
            CheckpointSaver saver = new FileSaver(Path.of(args[0]));
            for (int i = 1; ; i++) {
                saver.save(checkpoint("t", i, String.valueOf(i % 10).repeat(200_000)));
                if (i == 1) {
                    System.out.println("saving");
                }
            }
        }
    }

    private static boolean isRoot() {
        return System.getProperty("user.name").equals("root");
    }

    private static List<String> names(Path directory) throws IOException {
        try (Stream<Path> files = Files.list(directory)) {
            return files.map(file -> file.getFileName().toString()).sorted().toList();
        }
    }

    private static void assertFailed(org.assertj.core.api.ThrowableAssert.ThrowingCallable call, String why) {
        assertThatThrownBy(call)
                .asInstanceOf(type(SaverException.class))
                .satisfies(e -> assertThat(e.type()).isEqualTo(ProblemType.SAVER_FAILED))
                .satisfies(e -> assertThat(e).hasMessageContaining(why));
    }

    /** A file system of 256 KiB in memory. */
    private record SmallDisk(Path directory) implements AutoCloseable {
        static SmallDisk mounted(Path directory) throws Exception {
            Files.createDirectories(directory);
            assumeTrue(
                    isRoot() && run("mount", "-t", "tmpfs", "-o", "size=256k", "waymark-test", directory.toString()),
                    "no file system can be mounted here: full and read-only ones are not tested");
            return new SmallDisk(directory);
        }

        void makeReadOnly() throws Exception {
            assertThat(run("mount", "-o", "remount,ro", directory.toString())).isTrue();
        }

        @Override
        public void close() throws Exception {
            assertThat(run("umount", directory.toString())).isTrue();
        }

        private static boolean run(String... command) throws Exception {
            Process process =
                    new ProcessBuilder(command).redirectErrorStream(true).start();
            process.getInputStream().readAllBytes();
            return process.waitFor() == 0;
        }
    }
}
