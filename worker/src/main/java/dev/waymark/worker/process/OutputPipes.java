package dev.waymark.worker.process;

import java.io.Closeable;
import java.io.FileInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.RandomAccessFile;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/**
 * Named pipes for the output of a program and its children, in a private directory, so that the launcher opens them for
 * that program only. A pipe ends when its last writer closes it.
 */
final class OutputPipes implements Closeable {

    private final Path directory;
    private final List<Closeable> held = new ArrayList<>();
    private final InputStream stdout;
    private final InputStream stderr;

    private OutputPipes(Path directory) throws IOException, InterruptedException {
        this.directory = directory;
        try {
            Path out = directory.resolve("out");
            Path err = directory.resolve("err");
            Process mkfifo = new ProcessBuilder("mkfifo", "-m", "600", out.toString(), err.toString())
                    .redirectErrorStream(true)
                    .redirectOutput(ProcessBuilder.Redirect.DISCARD)
                    .start();
            if (mkfifo.waitFor() != 0) {
                throw new IOException("mkfifo failed in " + directory);
            }
            this.stdout = open(out);
            this.stderr = open(err);
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

    private InputStream open(Path pipe) throws IOException {
        // Opening a pipe for reading and writing does not block. While it is open, no reader sees an early end.
        held.add(new RandomAccessFile(pipe.toFile(), "rw"));
        return new FileInputStream(pipe.toFile());
    }

    /** Called once the program has opened the pipes. From then on, a pipe ends when its writers close it. */
    synchronized void release() {
        try {
            for (Closeable end : held) {
                end.close();
            }
        } catch (IOException e) {
            // The file counts as closed even after an error.
        }
        held.clear();
    }

    /** Removes the directory. Open streams can still be read. */
    @Override
    public void close() {
        release();
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
