package dev.waymark.worker.journal;

import dev.waymark.saver.PrivateFiles;
import java.io.IOException;
import java.nio.channels.FileChannel;
import java.nio.channels.FileLock;
import java.nio.channels.OverlappingFileLockException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.BasicFileAttributes;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;

/**
 * A lock on a file that this process holds until it ends. Another process that gets the lock knows that this one has
 * ended.
 */
final class ProcessLock {
    /**
     * The channels of all locks. They are never closed: on POSIX systems, closing any channel of a file releases the
     * process's lock on it.
     */
    private static final List<FileChannel> CHANNELS = new ArrayList<>();

    /** The files that this process has locked. */
    private static final Set<String> HELD = new HashSet<>();

    private final String id;
    private final long takenAt = System.nanoTime();

    private ProcessLock(String id) {
        this.id = id;
    }

    /**
     * Locks this file, which is created if it is missing. Empty if another process, or this one, already holds the
     * lock.
     */
    static Optional<ProcessLock> take(Path file) throws IOException {
        synchronized (HELD) {
            PrivateFiles.create(file);
            String id = id(file);
            if (HELD.contains(id)) {
                return Optional.empty();
            }
            FileChannel channel = FileChannel.open(file, StandardOpenOption.WRITE);
            try {
                FileLock lock = channel.tryLock();
                if (lock == null) {
                    channel.close(); // Safe, because this process has no lock on the file.
                    return Optional.empty();
                }
            } catch (OverlappingFileLockException e) {
                CHANNELS.add(channel); // Another class loader of this process has the lock.
                return Optional.empty();
            }
            CHANNELS.add(channel);
            HELD.add(id);
            return id(file).equals(id) ? Optional.of(new ProcessLock(id)) : Optional.empty();
        }
    }

    /** The device and inode of the file. A copy of the directory has others. */
    String id() {
        return id;
    }

    /** When the lock was taken, in the time of {@link System#nanoTime}. */
    long takenAt() {
        return takenAt;
    }

    private static String id(Path file) throws IOException {
        BasicFileAttributes found = Files.readAttributes(file, BasicFileAttributes.class);
        if (!found.isRegularFile()) {
            throw new IOException(file + " is not a file that can be locked"); // Opening a FIFO would block forever.
        }
        Object key = found.fileKey();
        if (key == null) {
            throw new IOException("the file system has no inodes");
        }
        return key.toString();
    }
}
