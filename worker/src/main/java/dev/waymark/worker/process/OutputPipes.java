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
 * Pipes for what a program and its children print, in a private directory, so that the launcher can open them for the
 * program alone. They end when the last writer has closed them, and not when somebody else ends.
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
        return new OutputPipes(Files.createTempDirectory("waymark-"));
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
        // Opened for both, it waits for nobody; and while it is open, no end is seen too early.
        held.add(new RandomAccessFile(pipe.toFile(), "rw"));
        return new FileInputStream(pipe.toFile());
    }

    /** From now on they end when their writers have ended: the program has opened them. */
    synchronized void release() {
        try {
            for (Closeable end : held) {
                end.close();
            }
        } catch (IOException e) {
            // Closed all the same.
        }
        held.clear();
    }

    /** Forgets their names. What can be read stays. */
    @Override
    public void close() {
        release();
        try (DirectoryStream<Path> files = Files.newDirectoryStream(directory)) {
            for (Path file : files) {
                Files.deleteIfExists(file);
            }
            Files.deleteIfExists(directory);
        } catch (IOException e) {
            // The launcher removes it as well when the lifeline ends, perhaps just now.
        }
    }
}
