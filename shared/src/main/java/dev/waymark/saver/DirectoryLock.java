package dev.waymark.saver;

import java.io.Closeable;
import java.io.IOException;
import java.nio.channels.FileChannel;
import java.nio.channels.FileLock;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;

/**
 * Allows only one thread of one process on this machine at a time to read and change the files of a directory. The lock
 * is reentrant. The lock file is never deleted.
 */
public final class DirectoryLock implements Closeable {
    private static final String FILE = ".lock";

    /** The threads of a process share one lock, since a process cannot hold two locks on the same file. */
    private static final Map<Path, DirectoryLock> LOCKS = new ConcurrentHashMap<>();

    private final ReentrantLock inProcess = new ReentrantLock();
    private final Path file;
    private @Nullable FileChannel channel;
    private @Nullable FileLock lock;

    private DirectoryLock(Path file) {
        this.file = file;
    }

    /** Waits for the lock of an existing directory and takes it. Closing the lock releases it. */
    public static DirectoryLock take(Path directory) throws IOException {
        DirectoryLock lock = LOCKS.computeIfAbsent(directory.toRealPath().resolve(FILE), DirectoryLock::new);
        lock.take();
        return lock;
    }

    private void take() throws IOException {
        inProcess.lock();
        if (lock != null) {
            return;
        }
        try {
            channel = FileChannel.open(
                    file,
                    Set.of(StandardOpenOption.CREATE, StandardOpenOption.WRITE),
                    PrivateFiles.fileAttributes(file));
            lock = channel.lock();
        } catch (IOException | RuntimeException e) {
            close();
            throw e;
        }
    }

    @Override
    public void close() throws IOException {
        try {
            if (inProcess.getHoldCount() == 1 && channel != null) {
                // Closing the channel also releases the lock on the file.
                channel.close();
                channel = null;
                lock = null;
            }
        } finally {
            inProcess.unlock();
        }
    }
}
