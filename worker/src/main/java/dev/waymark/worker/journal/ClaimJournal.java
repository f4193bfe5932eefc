package dev.waymark.worker.journal;

import dev.waymark.contract.PayloadJson;
import dev.waymark.saver.PrivateFiles;
import io.temporal.activity.ActivityInfo;
import java.io.FileOutputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.nio.file.attribute.BasicFileAttributes;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.UUID;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The notes of this process in a directory that the workers of a host share. Each process locks a file of its own and
 * writes a small note for each claimed call that it executes. A process that gets the lock of another one knows that
 * the other has ended, and takes over its notes.
 *
 * <p>Notes are not forced to disk: a killed process does not take the file system's cache with it, and after a restart
 * of the host they do not count. If the directory cannot be used, or a note cannot be written, there are no more notes
 * until the process is restarted. Then the server notices a killed worker as it does without a journal. Thread-safe.
 */
public final class ClaimJournal {
    private static final Logger LOG = LoggerFactory.getLogger(ClaimJournal.class);

    private static final Path BOOT = Path.of("/proc/sys/kernel/random/boot_id");

    /** File systems on which a lock tells whether the process that had it has ended. */
    private static final Set<String> LOCAL =
            Set.of("ext2", "ext3", "ext4", "xfs", "btrfs", "zfs", "f2fs", "bcachefs", "tmpfs", "overlay");

    private static final int MOST_PROCESSES = 100;
    private static final int MOST_NOTE_BYTES = 1 << 20;
    private static final String LOCK = ".lock";
    private static final String NOTE = ".claim";

    /** Notes for other servers are deleted after this time. No activity of a tool runs that long. */
    private static final Duration STALE = Duration.ofDays(7);

    private final String server;

    private @Nullable Own own;

    /** @param server the address and namespace of the server; notes for other servers are left alone */
    public ClaimJournal(String server) {
        this.server = server;
    }

    /** Where this process writes its notes. */
    private record Own(Path directory, int number, ProcessLock lock, String boot) {
        Path newNote() {
            return directory.resolve(number + "-" + UUID.randomUUID() + NOTE);
        }
    }

    /** A note left by a process that has ended, and the time at which its end became known. */
    record Left(Path file, ClaimNote note, long knownAt) {
        void delete() {
            ClaimJournal.delete(file);
        }
    }

    /** Opens the directory, which is created if it is missing, and returns the notes of ended processes. */
    synchronized List<Left> open(Path directory) {
        try {
            PrivateFiles.createDirectories(directory);
            String type = Files.getFileStore(directory).type();
            if (!LOCAL.contains(type)) {
                throw new IOException("a file system of type " + type + " may not tell whether a process has ended");
            }
            return open(directory.toRealPath(), Files.readString(BOOT).strip());
        } catch (IOException | RuntimeException e) {
            giveUp(directory, e);
            return List.of();
        }
    }

    private List<Left> open(Path directory, String boot) throws IOException {
        List<Left> left = new ArrayList<>();
        for (int number = 0; number < MOST_PROCESSES; number++) {
            Path file = directory.resolve(number + LOCK);
            if (own != null && !Files.exists(file)) {
                return left;
            }
            Optional<ProcessLock> lock = ProcessLock.take(file);
            if (lock.isPresent()) {
                left.addAll(left(directory, number, lock.get(), boot));
                own = own == null ? new Own(directory, number, lock.get(), boot) : own;
            }
        }
        if (own == null) {
            throw new IOException(MOST_PROCESSES + " processes use the directory");
        }
        return left;
    }

    private List<Left> left(Path directory, int number, ProcessLock lock, String boot) throws IOException {
        List<Left> left = new ArrayList<>();
        try (DirectoryStream<Path> files = Files.newDirectoryStream(directory, number + "-*" + NOTE)) {
            for (Path file : files) {
                Optional<ClaimNote> note = read(file);
                boolean counts = note.filter(
                                each -> each.boot().equals(boot) && each.lock().equals(lock.id()))
                        .isPresent();
                if (!counts) {
                    delete(file);
                } else if (note.get().server().equals(server)) {
                    left.add(new Left(file, note.get(), lock.takenAt()));
                } else if (Files.getLastModifiedTime(file)
                        .toInstant()
                        .isBefore(Instant.now().minus(STALE))) {
                    delete(file);
                }
            }
        }
        return left;
    }

    /**
     * Reads a note. Empty if it is incomplete: its process was killed while writing it, before it asked for a claim.
     *
     * @throws IOException if the file is not a note; reading it might never end
     */
    private static Optional<ClaimNote> read(Path file) throws IOException {
        BasicFileAttributes found = Files.readAttributes(file, BasicFileAttributes.class, LinkOption.NOFOLLOW_LINKS);
        if (!found.isRegularFile() || found.size() > MOST_NOTE_BYTES) {
            throw new IOException(file + " is not a note of a worker");
        }
        try {
            return Optional.of(PayloadJson.MAPPER.readValue(Files.readAllBytes(file), ClaimNote.class));
        } catch (IOException e) {
            return Optional.empty();
        }
    }

    /** Notes that this process is about to ask for the claim of a call. */
    public synchronized Entry note(ActivityInfo info, String call) {
        if (own == null) {
            return new Entry(Optional.empty());
        }
        Path directory = own.directory();
        Path file = own.newNote();
        try {
            write(file, ClaimNote.of(info, server, call, own.boot(), own.lock().id()));
            return new Entry(Optional.of(file));
        } catch (IOException e) {
            delete(file);
            giveUp(directory, e);
            return new Entry(Optional.empty());
        }
    }

    /** Does not use a channel, because a cancelled call interrupts this thread, which would close the channel. */
    private static void write(Path file, ClaimNote note) throws IOException {
        byte[] bytes = PayloadJson.MAPPER.writeValueAsBytes(note);
        Files.createFile(file, PrivateFiles.fileAttributes(file));
        try (OutputStream stream = new FileOutputStream(file.toFile())) {
            stream.write(bytes);
        }
    }

    private void giveUp(Path directory, Exception why) {
        own = null;
        LOG.warn(
                "{} can't be used as a journal, so claimed calls of a killed worker are noticed later: {}. Fix it, and"
                        + " restart the worker.",
                directory,
                why.toString());
    }

    private static void delete(Path file) {
        try {
            Files.deleteIfExists(file);
        } catch (IOException e) {
            LOG.debug("a note stays in the journal: {}", e.toString());
        }
    }

    /** The note of one call. Close it when this process no longer executes the call. */
    public static final class Entry implements AutoCloseable {
        private final Optional<Path> file;
        private boolean kept;

        private Entry(Optional<Path> file) {
            this.file = file;
        }

        /** Keeps the note, because this process ends and cannot report the outcome. */
        public void keep() {
            kept = true;
        }

        @Override
        public void close() {
            if (!kept) {
                file.ifPresent(ClaimJournal::delete);
            }
        }
    }
}
