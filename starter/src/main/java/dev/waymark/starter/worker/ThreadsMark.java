package dev.waymark.starter.worker;

import dev.waymark.saver.PrivateFiles;
import java.io.Closeable;
import java.io.IOException;
import java.nio.channels.FileChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * Marks a directory of threads as in use by a server while its process lives. Two servers may share the directory; the
 * second one finds the mark of the first.
 */
final class ThreadsMark implements Closeable {
    /** The lock is beyond the end of the file, so that other processes can read the file while it is locked. */
    private static final long LOCKED = Long.MAX_VALUE - 1;

    private @Nullable FileChannel held;

    /**
     * Marks a directory, and returns the address of the server that has already marked it, if any. A directory that
     * cannot be marked counts as unmarked, because saving will report the problem.
     */
    Optional<String> mark(Path directory, String address) {
        Path file = directory.resolveSibling(directory.getFileName() + ".server");
        try {
            PrivateFiles.createDirectories(
                    Objects.requireNonNull(file.toAbsolutePath().getParent()));
            FileChannel channel = FileChannel.open(
                    file,
                    Set.of(StandardOpenOption.CREATE, StandardOpenOption.WRITE),
                    PrivateFiles.fileAttributes(file));
            if (channel.tryLock(LOCKED, 1, false) != null) {
                held = channel;
                // Closing another channel of the file would release the lock.
                channel.truncate(0).write(StandardCharsets.UTF_8.encode(address));
                return Optional.empty();
            }
            channel.close();
            return Optional.of(Files.readString(file));
        } catch (IOException e) {
            return Optional.empty();
        }
    }

    @Override
    public void close() throws IOException {
        if (held != null) {
            held.close();
        }
    }
}
