package dev.waymark.testkit.process;

import java.io.IOException;
import java.io.InputStream;
import java.io.InputStreamReader;
import java.io.Reader;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import java.util.function.Predicate;

/**
 * A program in a process of its own. Its output is read all the time, because a full pipe would block the program.
 * Closing it kills the process and its descendants. Thread-safe.
 *
 * <pre>{@code
 * try (ChildProcess serve = ChildProcess.of("./waymark", "serve", "--json").environment(settings).start()) {
 *     String ready = serve.awaitLine(line -> line.contains("ready"), Duration.ofMinutes(1));
 *     // have it do something …
 *     assertThat(serve.terminate(Duration.ofMinutes(1))).isZero();
 * }
 * }</pre>
 */
public final class ChildProcess implements AutoCloseable {
    /** Flags for a JVM that ends soon: full compilation pays off only later. */
    public static final List<String> SHORT_LIVED = List.of("-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC");

    private static final int LAST_WORDS = 2_000;

    private final List<String> command;
    private final Optional<Path> log;
    private final Process process;
    private final Output out;
    private final Output err;

    private ChildProcess(List<String> command, Optional<Path> log, Process process, Consumer<String> onLine) {
        this.command = command;
        this.log = log;
        this.process = process;
        this.out = new Output(process.getInputStream(), onLine);
        this.err = new Output(process.getErrorStream(), line -> {});
    }

    /** The exit code and the whole output of a program that has ended. */
    public record Ended(int exitCode, String out, String err) {}

    /** Returns the builder of a process that runs this command. */
    public static Builder of(String... command) {
        return of(List.of(command));
    }

    /** Returns the builder of a process that runs this command. */
    public static Builder of(List<String> command) {
        return new Builder(List.copyOf(command));
    }

    /** Returns the builder of a JVM with the class path of this one. */
    public static Builder java(List<String> flags, Class<?> main, String... arguments) {
        return of(javaCommand(flags, main, arguments));
    }

    /** The command that runs a class of this JVM's class path. */
    public static List<String> javaCommand(List<String> flags, Class<?> main, String... arguments) {
        List<String> command = new ArrayList<>(List.of(javaCommand()));
        command.addAll(flags);
        command.addAll(List.of("-cp", System.getProperty("java.class.path"), main.getName()));
        command.addAll(List.of(arguments));
        return command;
    }

    /** The {@code java} command of this JVM. */
    public static String javaCommand() {
        return Path.of(System.getProperty("java.home"), "bin", "java").toString();
    }

    /** The settings of a new process. */
    public static final class Builder {
        private final ProcessBuilder builder;
        private Optional<Path> log = Optional.empty();
        private Consumer<String> onLine = line -> {};

        private Builder(List<String> command) {
            this.builder = new ProcessBuilder(command);
        }

        /** The working directory. The default is that of this JVM. */
        public Builder in(Path directory) {
            builder.directory(directory.toFile());
            return this;
        }

        /** Sets environment variables. */
        public Builder environment(Map<String, String> variables) {
            builder.environment().putAll(variables);
            return this;
        }

        /** Removes the inherited environment variables whose whole name matches this regular expression. */
        public Builder withoutEnvironment(String names) {
            builder.environment().keySet().removeIf(name -> name.matches(names));
            return this;
        }

        /** Adds the standard error to the standard output. */
        public Builder mergingErrors() {
            builder.redirectErrorStream(true);
            return this;
        }

        /** Forwards the standard error to that of this JVM. */
        public Builder showingErrors() {
            builder.redirectError(ProcessBuilder.Redirect.INHERIT);
            return this;
        }

        /** Appends the standard error to a file. */
        public Builder errorsTo(Path log) {
            this.log = Optional.of(log);
            builder.redirectError(ProcessBuilder.Redirect.appendTo(log.toFile()));
            return this;
        }

        /** Appends all output to a file. */
        public Builder outputTo(Path log) {
            this.log = Optional.of(log);
            builder.redirectErrorStream(true).redirectOutput(ProcessBuilder.Redirect.appendTo(log.toFile()));
            return this;
        }

        /** Calls this for each complete line of the standard output as soon as it arrives, on another thread. */
        public Builder onLine(Consumer<String> listener) {
            onLine = listener;
            return this;
        }

        /** Starts the process. */
        public ChildProcess start() throws IOException {
            return new ChildProcess(builder.command(), log, builder.start(), onLine);
        }

        /** Runs the program to its end, with nothing on its standard input. */
        public Ended run(Duration most) throws IOException, InterruptedException {
            return run("", most);
        }

        /** Runs the program to its end, with this text on its standard input. Kills it if it takes longer. */
        public Ended run(String input, Duration most) throws IOException, InterruptedException {
            try (ChildProcess process = start()) {
                process.type(input);
                process.process.getOutputStream().close();
                return process.end(most);
            }
        }
    }

    /**
     * Waits for a complete line of the standard output that satisfies this condition, and returns it. Earlier lines
     * count, too.
     *
     * @throws IOException if the output ends first, or no such line comes in time; the message contains the last output
     */
    public String awaitLine(Predicate<String> wanted, Duration most) throws IOException, InterruptedException {
        return out.await(wanted, most, this);
    }

    /** Waits for the first line of the standard output. */
    public String firstLine(Duration most) throws IOException, InterruptedException {
        return awaitLine(line -> true, most);
    }

    /** Repeats a program until it succeeds, as a sign that this process is ready. Fails if this process ends first. */
    public void awaitSuccess(Builder check, Duration most) throws IOException, InterruptedException {
        long deadline = System.nanoTime() + most.toNanos();
        while (check.run(most).exitCode() != 0) {
            if (System.nanoTime() > deadline || !process.isAlive()) {
                throw new IOException("did not start: " + this);
            }
        }
    }

    /** The complete lines of the standard output so far. */
    public List<String> lines() {
        return out.lines();
    }

    /** The standard output so far. */
    public String out() {
        return out.text();
    }

    /** The standard error so far. */
    public String err() {
        return err.text();
    }

    /** Writes to the standard input. */
    public void type(String text) throws IOException {
        try {
            process.getOutputStream().write(text.getBytes(StandardCharsets.UTF_8));
            process.getOutputStream().flush();
        } catch (IOException e) {
            if (process.isAlive()) {
                throw e;
            }
            // The process has ended without reading its input.
        }
    }

    /** The process, for operations that this class does not offer. */
    public ProcessHandle handle() {
        return process.toHandle();
    }

    /** Sends a signal to the process, without its descendants. */
    public void signal(String name) throws IOException, InterruptedException {
        ProcessFamily.kill(name, List.of(process.pid()));
    }

    /** Waits for the end of the process, and returns its exit code; empty if it has not ended in time. */
    public OptionalInt exitCodeWithin(Duration most) throws InterruptedException {
        return process.waitFor(most.toMillis(), TimeUnit.MILLISECONDS)
                ? OptionalInt.of(process.exitValue())
                : OptionalInt.empty();
    }

    /** Waits until the process has ended and all of its output is read. */
    public Ended end(Duration most) throws IOException, InterruptedException {
        int exitCode = exitCodeWithin(most).orElseThrow(() -> new IOException("still runs: " + this));
        out.awaitEnd();
        err.awaitEnd();
        return new Ended(exitCode, out.text(), err.text());
    }

    /** Sends SIGTERM, and waits like {@link #end}. Returns the exit code. */
    public int terminate(Duration most) throws IOException, InterruptedException {
        // Process.destroy() would close streams that are not read yet.
        process.toHandle().destroy();
        return end(most).exitCode();
    }

    /**
     * Kills the process with SIGKILL, without its descendants, and waits until it has ended, unless the calling thread
     * is interrupted.
     */
    public void kill() {
        process.destroyForcibly();
        try {
            process.waitFor();
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    @Override
    public void close() {
        process.descendants().forEach(ProcessHandle::destroyForcibly);
        kill();
    }

    /** The command and the end of its output. */
    @Override
    public String toString() {
        String words = log.map(ChildProcess::read).orElse("") + err.text() + out.text();
        return String.join(" ", command) + "\n" + words.substring(Math.max(0, words.length() - LAST_WORDS));
    }

    private static String read(Path log) {
        try {
            return Files.readString(log);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** One of the streams that a process writes to. */
    private static final class Output {
        private final StringBuilder text = new StringBuilder();
        private final Consumer<String> onLine;
        private boolean ended;

        Output(InputStream stream, Consumer<String> onLine) {
            this.onLine = onLine;
            Thread reader = new Thread(() -> read(stream), "output of a process");
            reader.setDaemon(true);
            reader.start();
        }

        private void read(InputStream stream) {
            char[] buffer = new char[8 * 1024];
            int told = 0;
            try (Reader reader = new InputStreamReader(stream, StandardCharsets.UTF_8)) {
                for (int count = reader.read(buffer); count >= 0; count = reader.read(buffer)) {
                    List<String> lines = add(buffer, count, told);
                    lines.forEach(onLine);
                    told += lines.stream().mapToInt(line -> line.length() + 1).sum();
                }
            } catch (IOException e) {
                // The process was killed.
            }
            end();
        }

        /** Returns the complete lines that begin here or later. */
        private synchronized List<String> add(char[] buffer, int count, int from) {
            text.append(buffer, 0, count);
            notifyAll();
            return linesFrom(from);
        }

        private List<String> linesFrom(int from) {
            List<String> lines = new ArrayList<>();
            int begin = from;
            for (int end = text.indexOf("\n", begin); end >= 0; end = text.indexOf("\n", begin)) {
                lines.add(text.substring(begin, end));
                begin = end + 1;
            }
            return lines;
        }

        private synchronized void end() {
            ended = true;
            notifyAll();
        }

        synchronized String text() {
            return text.toString();
        }

        synchronized List<String> lines() {
            return linesFrom(0);
        }

        synchronized void awaitEnd() throws InterruptedException {
            while (!ended) {
                wait();
            }
        }

        synchronized String await(Predicate<String> wanted, Duration most, ChildProcess process)
                throws IOException, InterruptedException {
            long deadline = System.nanoTime() + most.toNanos();
            for (int from = 0; ; ) {
                for (String line : linesFrom(from)) {
                    if (wanted.test(line)) {
                        return line;
                    }
                    from += line.length() + 1;
                }
                long millis = TimeUnit.NANOSECONDS.toMillis(deadline - System.nanoTime());
                if (ended || millis <= 0) {
                    throw new IOException((ended ? "ended: " : "still does not say it: ") + process);
                }
                wait(millis);
            }
        }
    }
}
