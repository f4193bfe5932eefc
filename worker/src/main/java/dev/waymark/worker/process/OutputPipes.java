package dev.waymark.worker.process;

import java.io.Closeable;
import java.io.File;
import java.io.IOException;
import java.io.InputStream;
import java.nio.channels.Channels;
import java.nio.channels.FileChannel;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.ArrayList;
import java.util.List;

/**
 * Named pipes for the output of a program and its children, in a private directory, so that the launcher opens them for
 * that program only, and one for the reports of the launcher. A pipe ends when its last writer closes it, or at {@link
 * #close}, even if a process still holds it open.
 */
final class OutputPipes implements Closeable {

    private final Path directory;
    /** While these are open, no reader sees an early end. */
    private final List<Closeable> forProgram = new ArrayList<>();

    private final List<Closeable> forLauncher = new ArrayList<>();
    private final List<Closeable> readers = new ArrayList<>();
    private final InputStream stdout;
    private final InputStream stderr;
    private final InputStream reports;

    private OutputPipes(Path directory) throws IOException, InterruptedException {
        this.directory = directory;
        try {
            Path out = directory.resolve("out");
            Path err = directory.resolve("err");
            Path said = reportsFile().toPath();
            Process mkfifo = new ProcessBuilder("mkfifo", "-m", "600", out.toString(), err.toString(), said.toString())
                    .redirectErrorStream(true)
                    .redirectOutput(ProcessBuilder.Redirect.DISCARD)
                    .start();
            if (mkfifo.waitFor() != 0) {
                throw new IOException("mkfifo failed in " + directory);
            }
            this.stdout = open(out, forProgram);
            this.stderr = open(err, forProgram);
            this.reports = open(said, forLauncher);
        } catch (IOException | InterruptedException e) {
            close();
            throw e;
        }
    }

    static OutputPipes create() throws IOException, InterruptedException {
        return new OutputPipes(Files.createTempDirectory(prefix()));
    }

    /** The prefix of the names of all directories that this JVM creates for pipes. */
    static String prefix() {
        return "waymark-" + ProcessHandle.current().pid() + "-";
    }

    Path directory() {
        return directory;
    }

    InputStream stdout() {
        return stdout;
    }

    InputStream stderr() {
        return stderr;
    }

    InputStream reports() {
        return reports;
    }

    /** The stdout of the launcher. */
    File reportsFile() {
        return directory.resolve("reports").toFile();
    }

    private InputStream open(Path pipe, List<Closeable> held) throws IOException {
        // Opening a pipe for reading and writing does not block.
        held.add(FileChannel.open(pipe, StandardOpenOption.READ, StandardOpenOption.WRITE));
        // Unlike a FileInputStream, a channel that is closed ends a read that is waiting for input.
        InputStream stream = Channels.newInputStream(FileChannel.open(pipe, StandardOpenOption.READ));
        readers.add(stream);
        return stream;
    }

    /** Called once the launcher has opened the pipe of its reports. No other program needs its name. */
    synchronized void launched() {
        close(forLauncher);
        try {
            Files.deleteIfExists(reportsFile().toPath());
        } catch (IOException e) {
            // A remaining file does no harm.
        }
    }

    /** Called once the program has opened the pipes. From then on, a pipe ends when its writers close it. */
    synchronized void release() {
        close(forProgram);
    }

    private static void close(List<Closeable> ends) {
        for (Closeable end : ends) {
            try {
                end.close();
            } catch (IOException e) {
                // It counts as closed even after an error.
            }
        }
        ends.clear();
    }

    /** Removes the directory, and ends all streams. */
    @Override
    public synchronized void close() {
        close(forProgram);
        close(forLauncher);
        close(readers);
        try (DirectoryStream<Path> files = Files.newDirectoryStream(directory)) {
            for (Path file : files) {
                Files.deleteIfExists(file);
            }
            Files.deleteIfExists(directory);
        } catch (IOException e) {
            // The launcher also removes the directory when the lifeline closes, perhaps at the same time.
        }
    }
}
