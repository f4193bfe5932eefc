package dev.waymark.worker.process;

import com.fasterxml.jackson.core.JsonProcessingException;
import dev.waymark.agent.Sandbox;
import dev.waymark.agent.ToolSpec;
import dev.waymark.connect.DaemonThreads;
import dev.waymark.contract.PayloadJson;
import dev.waymark.conversation.value.Json;
import dev.waymark.worker.inbound.InlineText;
import dev.waymark.worker.inbound.StreamTail;
import dev.waymark.worker.secret.Secrets;
import dev.waymark.worker.secret.StreamMask;
import java.io.IOException;
import java.io.InputStream;
import java.io.InputStreamReader;
import java.io.Reader;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;

/**
 * Runs command tools: each call starts a program, behind a {@link ProcessFence}.
 *
 * <ul>
 * <li>The program gets its arguments on stdin, as one JSON object and a line feed. It need not read them. It starts
 * once they are complete.
 * <li>The environment consists of {@code PATH}, {@code HOME}, {@code LANG} and {@code TMPDIR} of the worker, the
 * variables that the tool declares, and Waymark's variables for the call. It contains no other variables of the worker.
 * {@code ${NAME}} in a declared variable is resolved at the start.
 * <li>The result is stdout, read as UTF-8 (invalid bytes become U+FFFD) and cut by {@link InlineText}. In stdout and
 * stderr, values of {@code ${NAME}} are replaced with {@code ${NAME}}.
 * <li>The call ends when the program ends. Processes that the program left in its session are then killed, after a
 * second if they hold stdout or stderr open.
 * <li>At the fence's deadline, and when the calling thread is interrupted, all processes of the session get SIGTERM,
 * and SIGKILL a second later. If this JVM is killed, they are killed at once.
 * <li>The programs of a tool with a {@link Sandbox} run in the sandbox, or not at all. There, {@code HOME} and
 * {@code TMPDIR} are {@code /tmp}.
 * <li>A launcher made of shell processes kills the session, so the deadline holds even if the JVM hangs or dies. A
 * process that moved to another session and whose parent has ended escapes the launcher.
 * </ul>
 *
 * Thread-safe.
 *
 * <pre>{@code
 * CommandRunner commands = new CommandRunner(System.getenv());
 * ProcessFence fence = ProcessFence.in(spec.timeout());
 * CommandResult result =
 *         commands.run(spec, program, agentsDirectory, args, Map.of("WAYMARK_CALL_ID", "tu_7"), fence);
 * }</pre>
 */
public final class CommandRunner {

    /** Variables of the worker that every program gets. */
    public static final List<String> INHERITED = List.of("PATH", "HOME", "LANG", "TMPDIR");

    private static final int STDERR_BYTES = 4 * 1024;

    /** How long a program's output may stay open after its end, so that a child can finish writing. */
    private static final Duration OUTPUT_GRACE = Duration.ofSeconds(1);

    private final Map<String, String> environment;

    /** @param environment the worker's environment: the source of inherited variables and of {@code ${NAME}} */
    public CommandRunner(Map<String, String> environment) {
        this.environment = Collections.unmodifiableMap(new LinkedHashMap<>(environment));
    }

    /**
     * Runs one of a tool's programs once and waits for it.
     *
     * @param command the program with its arguments: the tool's own, or its check of a call with an unknown outcome
     * @param directory the working directory; a relative path of the program is relative to it
     * @param waymarkEnv variables that describe the call, such as {@code WAYMARK_CALL_ID}
     * @param fence the deadline, after which the program no longer starts, and is killed if it is running
     * @throws InterruptedException if the calling thread was interrupted; nothing is left running, but the program may
     *     have had an effect
     */
    public CommandResult run(
            ToolSpec tool,
            List<String> command,
            Path directory,
            Json args,
            Map<String, String> waymarkEnv,
            ProcessFence fence)
            throws InterruptedException {
        if (Thread.interrupted()) {
            throw new InterruptedException();
        }
        // Variables that every program gets are not secret.
        Secrets secrets =
                Secrets.of(tool.implementation().env().values(), environment).except(INHERITED);
        if (secrets.missing().isPresent()) {
            return new CommandResult.NotStarted(
                    "environment variable " + secrets.missing().get() + " is not set in the worker", false);
        }
        Optional<Sandbox> sandbox = tool.implementation().sandbox();
        Optional<String> problem = sandbox.flatMap(reach -> Bubblewrap.problem(directory, reach));
        if (problem.isPresent()) {
            return new CommandResult.NotStarted("the tool requires a sandbox: " + problem.get(), false);
        }
        List<String> words = sandbox.map(reach -> Bubblewrap.around(command, directory, reach))
                .orElse(command);
        ProcessBuilder builder = builder(words, directory, tool.implementation().env(), secrets);
        builder.environment().putAll(waymarkEnv);
        try {
            byte[] line = (json(args) + "\n").getBytes(StandardCharsets.UTF_8);
            return execute(builder, line, fence, command.get(0), secrets, secrets);
        } catch (IOException e) {
            return new CommandResult.NotStarted("cannot start " + command.get(0), false);
        }
    }

    /**
     * Runs a program whose output is a secret: stdout is not masked. Its stdin is an empty line.
     *
     * @param env the variables of the program; {@code ${NAME}} in them must be set
     */
    public CommandResult readSecret(List<String> command, Map<String, String> env, Path directory, ProcessFence fence)
            throws InterruptedException {
        Secrets secrets = Secrets.of(env.values(), environment).except(INHERITED);
        ProcessBuilder builder = builder(command, directory, env, secrets);
        try {
            return execute(builder, new byte[] {'\n'}, fence, command.get(0), Secrets.NONE, secrets);
        } catch (IOException e) {
            return new CommandResult.NotStarted("cannot start " + command.get(0), false);
        }
    }

    private ProcessBuilder builder(List<String> words, Path directory, Map<String, String> env, Secrets secrets) {
        ProcessBuilder builder = new ProcessBuilder(words).directory(directory.toFile());
        Map<String, String> target = builder.environment();
        target.clear();
        INHERITED.stream().filter(environment::containsKey).forEach(name -> target.put(name, environment.get(name)));
        env.forEach((name, value) -> target.put(name, secrets.resolve(value)));
        return builder;
    }

    private static CommandResult execute(
            ProcessBuilder builder,
            byte[] line,
            ProcessFence fence,
            String program,
            Secrets hiddenInStdout,
            Secrets hiddenInStderr)
            throws IOException, InterruptedException {
        InlineText stdout = new InlineText();
        ErrorOutput stderr = new ErrorOutput();
        try (OutputPipes pipes = OutputPipes.create()) {
            FencedProcess launcher = FencedProcess.start(builder, line, fence, pipes);
            // One thread for each stream, because a program may read stdin and write stdout and stderr in any order, or
            // not
            // at all.
            Thread results = DaemonThreads.start(
                    "tool-stdout", () -> read(pipes.stdout(), hiddenInStdout.mask(), stdout::append));
            Thread complaints = DaemonThreads.start(
                    "tool-stderr", () -> read(pipes.stderr(), hiddenInStderr.mask(), stderr::append));
            boolean exited;
            try {
                exited = launcher.await(fence);
                if (exited) {
                    // Remaining child processes may finish their output.
                    join(results, complaints);
                }
            } catch (InterruptedException e) {
                launcher.stop();
                throw e;
            } finally {
                launcher.end();
            }
            if (!exited) {
                join(results, complaints);
            }
            return launcher.result(program, fence, stdout.text(), stderr.end());
        }
    }

    private static String json(Json args) {
        try {
            return PayloadJson.MAPPER.writeValueAsString(args);
        } catch (JsonProcessingException e) {
            throw new UncheckedIOException(e);
        }
    }

    private static void join(Thread... threads) throws InterruptedException {
        long deadline = System.nanoTime() + OUTPUT_GRACE.toNanos();
        for (Thread thread : threads) {
            thread.join(Math.max(1, TimeUnit.NANOSECONDS.toMillis(deadline - System.nanoTime())));
        }
    }

    /** Masks secrets before the text is cut, because a program may print the values that it was given. */
    private static void read(InputStream output, StreamMask mask, Consumer<String> text) {
        char[] buffer = new char[8192];
        try (Reader reader = new InputStreamReader(output, StandardCharsets.UTF_8)) {
            for (int count = reader.read(buffer); count >= 0; count = reader.read(buffer)) {
                text.accept(mask.next(new String(buffer, 0, count)));
            }
        } catch (IOException e) {
            // Keeps the output that was read so far.
        }
        text.accept(mask.end());
    }

    /** The last 4 KiB of a program's stderr. */
    private static final class ErrorOutput {
        private final StreamTail tail = new StreamTail(STDERR_BYTES);

        synchronized void append(String text) {
            byte[] bytes = text.getBytes(StandardCharsets.UTF_8);
            tail.append(bytes, 0, bytes.length);
        }

        synchronized String end() {
            String end = new String(tail.bytes(), StandardCharsets.UTF_8);
            return tail.isCut() ? "…" + end : end;
        }
    }
}
