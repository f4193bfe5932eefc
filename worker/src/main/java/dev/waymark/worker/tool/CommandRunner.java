package dev.waymark.worker.tool;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.JsonNode;
import dev.waymark.agent.ToolSpec;
import dev.waymark.contract.ToolOutcome;
import dev.waymark.contract.Wire;
import dev.waymark.conversation.Json;
import dev.waymark.conversation.ToolTexts;
import java.io.IOException;
import java.io.InputStream;
import java.io.InputStreamReader;
import java.io.OutputStream;
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

/**
 * Runs command tools: one program a call, started anew.
 *
 * <ul>
 *   <li>stdin is the arguments as one JSON object and a line feed; a program need not read it.
 *   <li>The environment is {@code PATH}, {@code HOME}, {@code LANG} and {@code TMPDIR} of the worker, what the tool
 *       declares, and what Waymark says of the call; nothing else of the worker's. {@code ${NAME}} is replaced now.
 *   <li>stdout is the result, as it is, read as UTF-8 (what is not becomes U+FFFD) and cut as {@link InlineText} says.
 *   <li>Exit code 0 succeeds; 10 with <code>{"question":"…"}</code> on stdout asks a person; anything else is an error
 *       result with the end of stderr, as are a timeout, a program that can't be started and a missing variable.
 *   <li>When its program ends, the call ends: whatever it started and left in its session is killed, a second later if it
 *       holds stdout or stderr open. On a timeout, and when the calling thread is interrupted, program and all are asked
 *       to end and killed after a second.
 * </ul>
 *
 * Safe for several threads.
 *
 * <pre>{@code
 * CommandRunner commands = new CommandRunner(System.getenv());
 * ToolOutcome outcome = commands.run(spec, agentsDirectory, args, Map.of("WAYMARK_CALL_ID", "tu_7"));
 * }</pre>
 */
public final class CommandRunner {

    private static final List<String> INHERITED = List.of("PATH", "HOME", "LANG", "TMPDIR");
    private static final int QUESTION_EXIT = 10;
    private static final int STDERR_BYTES = 4 * 1024;

    /** How long a program's output may stay open after its end, for a child that is just writing the rest. */
    private static final Duration LAST_WORDS = Duration.ofSeconds(1);

    private final Map<String, String> environment;

    /** @param environment the worker's own, from which programs get a few variables and {@code ${NAME}} is resolved */
    public CommandRunner(Map<String, String> environment) {
        this.environment = Collections.unmodifiableMap(new LinkedHashMap<>(environment));
    }

    /**
     * Runs a command tool once and waits for it.
     *
     * @param directory the working directory, to which a program's relative path is relative
     * @param waymarkEnv what the program is told of its call, such as {@code WAYMARK_CALL_ID}
     * @throws InterruptedException when the calling thread was interrupted; nothing is left running
     */
    public ToolOutcome run(ToolSpec tool, Path directory, Json args, Map<String, String> waymarkEnv)
            throws InterruptedException {
        for (String value : tool.env().values()) {
            Optional<String> missing = EnvironmentReferences.missing(value, environment);
            if (missing.isPresent()) {
                return failure("environment variable " + missing.get() + " is not set in the worker");
            }
        }
        ProcessBuilder builder = new ProcessBuilder(tool.command()).directory(directory.toFile());
        Map<String, String> target = builder.environment();
        target.clear();
        INHERITED.stream().filter(environment::containsKey).forEach(name -> target.put(name, environment.get(name)));
        tool.env().forEach((name, value) -> target.put(name, EnvironmentReferences.resolve(value, environment)));
        target.putAll(waymarkEnv);
        try {
            return outcome(execute(builder, (json(args) + "\n").getBytes(StandardCharsets.UTF_8), tool.timeout()));
        } catch (IOException e) {
            return failure("cannot start " + tool.command().get(0));
        }
    }

    /** What a program left: no exit code when it took too long. */
    private record Ended(Optional<Integer> exitCode, InlineText stdout, String stderr, Duration timeout) {}

    private static Ended execute(ProcessBuilder builder, byte[] stdin, Duration timeout)
            throws IOException, InterruptedException {
        InlineText stdout = new InlineText();
        ErrorOutput stderr = new ErrorOutput();
        ProcessGroup group;
        Thread results;
        Thread complaints;
        try (OutputPipes pipes = OutputPipes.forNext(builder)) {
            // A thread for each, since a program may do any of reading, writing and complaining first, or never.
            results = start("stdout", () -> read(pipes.stdout(), stdout));
            complaints = start("stderr", () -> read(pipes.stderr(), stderr));
            group = ProcessGroup.start(builder);
        }
        Process process = group.process();
        boolean ended = false;
        try {
            start("stdin", () -> write(process.getOutputStream(), stdin));
            ended = process.waitFor(timeout.toNanos(), TimeUnit.NANOSECONDS);
            if (ended) {
                long deadline = System.nanoTime() + LAST_WORDS.toNanos();
                join(results, deadline);
                join(complaints, deadline);
            }
        } finally {
            if (ended) {
                group.killRemains();
            } else {
                group.kill();
            }
        }
        Optional<Integer> exitCode = ended ? Optional.of(process.exitValue()) : Optional.empty();
        return new Ended(exitCode, stdout, stderr.end(), timeout);
    }

    private static ToolOutcome outcome(Ended ended) {
        if (ended.exitCode().isEmpty()) {
            return failure(words("timed out after " + words(ended.timeout()) + " and was killed", ended.stderr()));
        }
        int exitCode = ended.exitCode().get();
        if (exitCode == 0) {
            return ToolOutcome.result(ended.stdout().text());
        }
        if (exitCode == QUESTION_EXIT) {
            return question(ended.stdout().text())
                    .map(ToolOutcome::question)
                    .orElseGet(() -> failure(words(
                            "exit code 10 asks a question, but stdout is not {\"question\": \"…\"}", ended.stderr())));
        }
        return failure(words("exit code " + exitCode, ended.stderr()));
    }

    private static Optional<String> question(String stdout) {
        try {
            JsonNode question = Wire.MAPPER.readTree(stdout).path("question");
            return question.isTextual() && !question.textValue().isBlank()
                    ? Optional.of(InlineText.of(question.textValue()))
                    : Optional.empty();
        } catch (JsonProcessingException e) {
            return Optional.empty();
        }
    }

    private static ToolOutcome failure(String words) {
        return ToolOutcome.error(ToolTexts.failure(words));
    }

    private static String words(String what, String stderr) {
        return stderr.isBlank() ? what : what + ": " + stderr.strip();
    }

    private static String words(Duration time) {
        return time.toMillis() % 1000 == 0 ? time.toSeconds() + "s" : time.toMillis() + "ms";
    }

    private static String json(Json args) {
        try {
            return Wire.MAPPER.writeValueAsString(args);
        } catch (JsonProcessingException e) {
            throw new UncheckedIOException(e);
        }
    }

    private static Thread start(String name, Runnable work) {
        Thread thread = new Thread(work, "tool-" + name);
        thread.setDaemon(true);
        thread.start();
        return thread;
    }

    private static void join(Thread thread, long deadline) throws InterruptedException {
        thread.join(Math.max(1, TimeUnit.NANOSECONDS.toMillis(deadline - System.nanoTime())));
    }

    private static void write(OutputStream stdin, byte[] bytes) {
        try (stdin) {
            stdin.write(bytes);
        } catch (IOException e) {
            // A program that ends without having read it all is none the worse for it.
        }
    }

    private static void read(InputStream stdout, InlineText text) {
        char[] buffer = new char[8192];
        try (Reader reader = new InputStreamReader(stdout, StandardCharsets.UTF_8)) {
            for (int count = reader.read(buffer); count >= 0; count = reader.read(buffer)) {
                text.append(new String(buffer, 0, count));
            }
        } catch (IOException e) {
            // What came until then is what there is.
        }
    }

    private static void read(InputStream stderr, ErrorOutput end) {
        byte[] buffer = new byte[8192];
        try (stderr) {
            for (int count = stderr.read(buffer); count >= 0; count = stderr.read(buffer)) {
                end.append(buffer, count);
            }
        } catch (IOException e) {
            // As above.
        }
    }

    /** The end of what a program complained. */
    private static final class ErrorOutput {
        private final Tail tail = new Tail(STDERR_BYTES);

        synchronized void append(byte[] bytes, int count) {
            tail.append(bytes, 0, count);
        }

        synchronized String end() {
            String end = new String(tail.bytes(), StandardCharsets.UTF_8);
            return tail.isCut() ? "…" + end : end;
        }
    }
}
