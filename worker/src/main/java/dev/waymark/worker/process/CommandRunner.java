package dev.waymark.worker.process;

import com.fasterxml.jackson.core.JsonProcessingException;
import dev.waymark.agent.Sandbox;
import dev.waymark.agent.ToolSpec;
import dev.waymark.contract.PayloadJson;
import dev.waymark.conversation.value.Json;
import dev.waymark.worker.secret.Secrets;
import dev.waymark.worker.secret.StreamMask;
import dev.waymark.worker.text.InlineText;
import dev.waymark.worker.text.StreamTail;
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
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;

/**
 * Runs command tools: one program a call, started anew, behind a {@link ProcessFence}.
 *
 * <ul>
 *   <li>stdin is the arguments as one JSON object and a line feed; a program need not read it. It starts when they are
 *       there in whole.
 *   <li>The environment is {@code PATH}, {@code HOME}, {@code LANG} and {@code TMPDIR} of the worker, what the tool
 *       declares, and what Waymark says of the call; nothing else of the worker's. {@code ${NAME}} is replaced now.
 *   <li>stdout is the result, as it is, read as UTF-8 (what is not becomes U+FFFD) and cut as {@link InlineText} says. In
 *       it and in stderr, what the tool declares by {@code ${NAME}} reads {@code ${NAME}} again.
 *   <li>When its program ends, the call ends: whatever it started and left in its session is killed, a second later if it
 *       holds stdout or stderr open. At the fence, and when the calling thread is interrupted, program and all are asked
 *       to end and killed after a second. When this JVM is killed they are killed at once.
 *   <li>A tool that asks for a {@link Sandbox} has its programs run in one, or not at all.
 *   <li>None of this needs the JVM: a launcher made of shells does it. Out of reach is a process that went into another
 *       session and whose parent has ended.
 * </ul>
 *
 * Safe for several threads.
 *
 * <pre>{@code
 * CommandRunner commands = new CommandRunner(System.getenv());
 * ProcessFence fence = ProcessFence.in(spec.timeout());
 * CommandResult result =
 *         commands.run(spec, spec.command(), agentsDirectory, args, Map.of("WAYMARK_CALL_ID", "tu_7"), fence);
 * }</pre>
 */
public final class CommandRunner {

    /** What every program gets of the worker's environment. */
    public static final List<String> INHERITED = List.of("PATH", "HOME", "LANG", "TMPDIR");

    private static final int STDERR_BYTES = 4 * 1024;

    /** How long a program's output may stay open after its end, for a child that is just writing the rest. */
    private static final Duration LAST_WORDS = Duration.ofSeconds(1);

    private final Map<String, String> environment;

    /** @param environment the worker's own, from which programs get a few variables and {@code ${NAME}} is resolved */
    public CommandRunner(Map<String, String> environment) {
        this.environment = Collections.unmodifiableMap(new LinkedHashMap<>(environment));
    }

    /**
     * Runs one of a tool's programs once and waits for it.
     *
     * @param command the program: the tool's own, or another that is run the same way
     * @param directory the working directory, to which a program's relative path is relative
     * @param waymarkEnv what the program is told of its call, such as {@code WAYMARK_CALL_ID}
     * @param fence from when on it does not start, and is killed if it runs
     * @throws InterruptedException when the calling thread was interrupted; nothing is left running, and what ran may have
     *     had an effect
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
        // What every program has anyway is not a secret.
        Secrets secrets = Secrets.of(tool.env().values(), environment).except(INHERITED);
        if (secrets.missing().isPresent()) {
            return new CommandResult.NotStarted(
                    "environment variable " + secrets.missing().get() + " is not set in the worker", false);
        }
        if (tool.sandbox().isPresent() && Bubblewrap.problem().isPresent()) {
            return new CommandResult.NotStarted(
                    "the tool asks for a sandbox: " + Bubblewrap.problem().get(), false);
        }
        List<String> words = tool.sandbox()
                .map(sandbox -> Bubblewrap.around(command, directory, sandbox))
                .orElse(command);
        ProcessBuilder builder = new ProcessBuilder(words).directory(directory.toFile());
        Map<String, String> target = builder.environment();
        target.clear();
        INHERITED.stream().filter(environment::containsKey).forEach(name -> target.put(name, environment.get(name)));
        tool.env().forEach((name, value) -> target.put(name, secrets.resolve(value)));
        target.putAll(waymarkEnv);
        try {
            byte[] line = (json(args) + "\n").getBytes(StandardCharsets.UTF_8);
            return execute(builder, line, fence, command.get(0), secrets);
        } catch (IOException e) {
            return new CommandResult.NotStarted("cannot start " + command.get(0), false);
        }
    }

    private static CommandResult execute(
            ProcessBuilder builder, byte[] line, ProcessFence fence, String program, Secrets secrets)
            throws IOException, InterruptedException {
        InlineText stdout = new InlineText();
        ErrorOutput stderr = new ErrorOutput();
        OutputPipes pipes = OutputPipes.create();
        FencedProcess launcher;
        try {
            launcher = FencedProcess.start(builder, line, fence, pipes);
        } catch (IOException | RuntimeException e) {
            pipes.close();
            throw e;
        }
        // A thread for each, since a program may do any of reading, writing and complaining first, or never.
        Thread results = DaemonThreads.start("tool-stdout", () -> read(pipes.stdout(), secrets.mask(), stdout::append));
        Thread complaints =
                DaemonThreads.start("tool-stderr", () -> read(pipes.stderr(), secrets.mask(), stderr::append));
        boolean exited;
        try {
            exited = launcher.await(fence);
            if (exited) {
                // What it left behind may say its last words.
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

    private static String json(Json args) {
        try {
            return PayloadJson.MAPPER.writeValueAsString(args);
        } catch (JsonProcessingException e) {
            throw new UncheckedIOException(e);
        }
    }

    private static void join(Thread... threads) throws InterruptedException {
        long deadline = System.nanoTime() + LAST_WORDS.toNanos();
        for (Thread thread : threads) {
            thread.join(Math.max(1, TimeUnit.NANOSECONDS.toMillis(deadline - System.nanoTime())));
        }
    }

    /** What a program was given it may print, and it is taken out before anything is cut. */
    private static void read(InputStream output, StreamMask mask, Consumer<String> text) {
        char[] buffer = new char[8192];
        try (Reader reader = new InputStreamReader(output, StandardCharsets.UTF_8)) {
            for (int count = reader.read(buffer); count >= 0; count = reader.read(buffer)) {
                text.accept(mask.next(new String(buffer, 0, count)));
            }
        } catch (IOException e) {
            // What came until then is what there is.
        }
        text.accept(mask.end());
    }

    /** The end of what a program complained. */
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
