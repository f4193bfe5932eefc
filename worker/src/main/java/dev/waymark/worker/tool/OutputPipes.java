package dev.waymark.worker.tool;

import java.io.Closeable;
import java.io.FileInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.RandomAccessFile;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/**
 * Pipes for what a program and its children print. The JDK closes its own when the program ends, unless a thread happens
 * to be reading just then, and what a child writes after that is lost. These end when the last writer has closed them.
 */
final class OutputPipes implements Closeable {

    private final Path directory;
    private final List<Closeable> held = new ArrayList<>();
    private final InputStream stdout;
    private final InputStream stderr;

    private OutputPipes(Path directory, ProcessBuilder builder) throws IOException, InterruptedException {
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
            builder.redirectOutput(out.toFile()).redirectError(err.toFile());
        } catch (IOException | InterruptedException e) {
            close();
            throw e;
        }
    }

    /** Makes the builder's next process print here. Close it when that is started: the ends to read from stay open. */
    static OutputPipes forNext(ProcessBuilder builder) throws IOException, InterruptedException {
        return new OutputPipes(Files.createTempDirectory("waymark-"), builder);
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

    @Override
    public void close() {
        try {
            for (Closeable end : held) {
                end.close();
            }
            Files.deleteIfExists(directory.resolve("out"));
            Files.deleteIfExists(directory.resolve("err"));
            Files.deleteIfExists(directory);
        } catch (IOException e) {
            // Names in a temporary directory: the program and its pipes do not need them any more.
        }
    }
}
