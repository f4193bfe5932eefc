package dev.waymark.worker.tool.mcp;

import com.fasterxml.jackson.databind.JsonNode;
import dev.waymark.agent.McpServer;
import dev.waymark.connect.DaemonThreads;
import dev.waymark.contract.McpNames;
import dev.waymark.worker.inbound.MemoryBudget;
import dev.waymark.worker.process.CommandRunner;
import dev.waymark.worker.process.ProcessFence;
import dev.waymark.worker.process.Shell;
import dev.waymark.worker.secret.Secrets;
import dev.waymark.worker.tool.kind.Effect;
import java.io.IOException;
import java.io.OutputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A server that is a program of this worker and exchanges one message per line. It inherits only the environment
 * variables in {@link CommandRunner#INHERITED}. The program and the processes that it started end with the worker, even
 * if the worker is killed. When the server ends by itself, pending requests fail at once.
 */
final class McpStdioChannel implements McpChannel {
    private static final Logger LOG = LoggerFactory.getLogger(McpStdioChannel.class);
    private static final String SCRIPT = Shell.script(McpStdioChannel.class, "server.sh");

    /** An exit code, after the script's word. */
    private static final Pattern EXIT_CODE = Pattern.compile("\\d{1,3}");

    private static final int LONGEST_COMPLAINT = 300;

    /** Lines that Node.js prints after the error message. */
    private static final Pattern STACK = Pattern.compile("at .+:\\d+\\)?|Node\\.js v.+");

    /** Places where libraries put the id, for messages that are too long to be parsed. */
    private static final Pattern ID_AT_THE_BEGINNING =
            Pattern.compile("^\\{\"jsonrpc\":\\s?\"2.0\",\\s?\"id\":\\s?(\\d+),");

    private static final Pattern ID_AT_THE_END = Pattern.compile(",\\s?\"id\":\\s?(\\d+)\\}\\s*$");

    /** Time that the script needs to end a server that does not end by itself, with some slack. */
    private static final Duration SLACK = Duration.ofSeconds(4);

    private static final Duration STDERR_GRACE = Duration.ofMillis(500);
    private static final byte[] END = {};

    /**
     * The maximum size of the messages that the server has not read. Without it, a server that sends many requests but
     * does not read would fill the memory.
     */
    private static final int MOST_WAITING_BYTES = 4 * 1024 * 1024;

    /** Longer lines of stderr are cut. */
    private static final int MOST_COMPLAINT_BYTES = 8 * 1024;

    private final String name;
    private final Secrets secrets;
    private final Process shells;
    private final Thread complaints;

    /** Marks the script's report of the exit code. The server could print any text without it. */
    private final String exitWord = Shell.newWord();

    private final AtomicLong ids = new AtomicLong();
    private final BlockingQueue<byte[]> outgoing = new LinkedBlockingQueue<>();
    private final AtomicInteger waitingBytes = new AtomicInteger();
    private final Map<Long, CompletableFuture<RpcAnswer>> waiting = new ConcurrentHashMap<>();
    private Optional<String> exit = Optional.empty();
    private Optional<String> lastComplaint = Optional.empty();
    private Optional<String> end = Optional.empty();

    private McpStdioChannel(String name, Secrets secrets, Process shells) {
        this.name = name;
        this.secrets = secrets;
        this.shells = shells;
        byte[] word = (exitWord + "\n").getBytes(StandardCharsets.US_ASCII);
        waitingBytes.addAndGet(word.length);
        outgoing.add(word);
        this.complaints = DaemonThreads.start("mcp-stderr " + name, this::readComplaints);
        DaemonThreads.start("mcp-stdout " + name, this::readMessages);
        DaemonThreads.start("mcp-stdin " + name, this::write);
    }

    /** Starts the program, without checking yet that it is a server. */
    static McpStdioChannel start(McpServer server, Secrets secrets, Map<String, String> environment, Path directory)
            throws RequestNotSentException {
        List<String> command = new ArrayList<>(Shell.inSession(SCRIPT));
        command.addAll(List.of(Shell.program("cat"), Shell.program("sleep")));
        command.addAll(server.command());
        ProcessBuilder builder = new ProcessBuilder(command).directory(directory.toFile());
        Map<String, String> target = builder.environment();
        target.clear();
        CommandRunner.INHERITED.stream()
                .filter(environment::containsKey)
                .forEach(variable -> target.put(variable, environment.get(variable)));
        server.env().forEach((name, value) -> target.put(name, secrets.resolve(value)));
        try {
            // Variables that every program gets are not secret.
            return new McpStdioChannel(server.name(), secrets.except(CommandRunner.INHERITED), builder.start());
        } catch (IOException e) {
            throw new RequestNotSentException("cannot start " + server.command().get(0));
        }
    }

    @Override
    public RpcAnswer ask(RpcRequest request, ProcessFence fence)
            throws RequestNotSentException, OutcomeUnknownException, InterruptedException {
        long id = ids.incrementAndGet();
        CompletableFuture<RpcAnswer> answer = new CompletableFuture<>();
        synchronized (this) {
            if (end.isPresent()) {
                throw new RequestNotSentException(end.get());
            }
            waiting.put(id, answer);
        }
        if (!send(JsonRpc.request(id, request.method(), request.params()))) {
            waiting.remove(id);
            throw new RequestNotSentException("the server does not read its input");
        }
        try {
            return answer.get(fence.left().toMillis(), TimeUnit.MILLISECONDS);
        } catch (TimeoutException e) {
            tell(McpNames.CANCELLED, JsonRpc.cancelled(id, "timed out"));
            throw OutcomeUnknownException.late(
                    "timed out after " + fence.timeout().toSeconds() + "s");
        } catch (InterruptedException e) {
            tell(McpNames.CANCELLED, JsonRpc.cancelled(id, "cancelled"));
            throw e;
        } catch (ExecutionException e) {
            throw OutcomeUnknownException.cut(
                    String.valueOf(Objects.requireNonNullElse(e.getCause(), e).getMessage()));
        } finally {
            waiting.remove(id);
        }
    }

    @Override
    public CompletableFuture<Void> tell(String method, JsonNode params) {
        send(JsonRpc.notification(method, params));
        return CompletableFuture.completedFuture(null);
    }

    @Override
    public void agreed(String protocolVersion) {
        // This transport does not send the version.
    }

    @Override
    public synchronized boolean isOpen() {
        return end.isEmpty();
    }

    @Override
    public boolean canLapse() {
        return false;
    }

    @Override
    public void close() {
        outgoing.add(END);
        boolean interrupted = false;
        try {
            if (!shells.waitFor(SLACK.toMillis(), TimeUnit.MILLISECONDS)) {
                LOG.debug("{}: killed, since it did not end", name);
            }
        } catch (InterruptedException e) {
            interrupted = true;
        }
        if (shells.isAlive()) {
            // Process.destroyForcibly() would close the pipe, and closing it blocks while the server does not read.
            List<ProcessHandle> family = shells.descendants().toList();
            shells.toHandle().destroyForcibly();
            family.forEach(ProcessHandle::destroyForcibly);
        }
        if (interrupted) {
            Thread.currentThread().interrupt();
        }
    }

    /** Queues a message; returns false if too many bytes are waiting. */
    private boolean send(JsonNode message) {
        byte[] json = JsonRpc.bytes(message);
        byte[] line = Arrays.copyOf(json, json.length + 1);
        line[json.length] = '\n';
        int before = waitingBytes.getAndAdd(line.length);
        if (before > 0 && before + line.length > MOST_WAITING_BYTES) {
            waitingBytes.addAndGet(-line.length);
            LOG.debug("{} does not read, and misses a message", name);
            return false;
        }
        outgoing.add(line);
        return true;
    }

    /** Runs in a separate thread, because writing blocks while the server does not read. */
    private void write() {
        try (OutputStream stdin = shells.getOutputStream()) {
            for (byte[] line = outgoing.take(); line != END; line = outgoing.take()) {
                stdin.write(line);
                stdin.flush();
                waitingBytes.addAndGet(-line.length);
            }
        } catch (IOException e) {
            // The server has ended; the reading thread reports it.
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    private void readMessages() {
        try {
            LineReader lines = new LineReader(shells.getInputStream(), MOST_BYTES, MemoryBudget.ofThisProcess());
            for (Optional<LineReader.Line> line = lines.next(); line.isPresent(); line = lines.next()) {
                take(line.get());
            }
        } catch (IOException e) {
            // Treated like the end of the output.
        }
        over();
    }

    private void take(LineReader.Line line) {
        if (line.cut().isPresent()) {
            refuse(line, line.cut().get());
            return;
        }
        Optional<JsonNode> message = JsonRpc.read(line.bytes());
        if (message.isEmpty()) {
            if (line.bytes().length > LARGE_BYTES) {
                refuse(line, UNREADABLE);
            }
            LOG.debug("{} printed a line that is not a message", name);
            return;
        }
        JsonNode said = message.get();
        if (JsonRpc.isAnswer(said)) {
            waiter(said.path("id").asText()).ifPresent(waiter -> waiter.complete(JsonRpc.answer(secrets.mask(said))));
        } else {
            JsonRpc.reply(said).ifPresent(reply -> send(reply));
        }
    }

    /**
     * Ends a pending request whose answer cannot be read. Its outcome is unknown, but it does not wait for its
     * deadline.
     */
    private void refuse(LineReader.Line line, String why) {
        String beginning = new String(line.bytes(), 0, Math.min(64, line.bytes().length), StandardCharsets.ISO_8859_1);
        Matcher first = ID_AT_THE_BEGINNING.matcher(beginning);
        Matcher last = ID_AT_THE_END.matcher(line.end());
        Optional<String> id = first.find()
                ? Optional.of(first.group(1))
                : last.find() ? Optional.of(last.group(1)) : Optional.empty();
        id.flatMap(this::waiter).ifPresent(waiter -> waiter.complete(new RpcAnswer.Refusal(why, Effect.UNKNOWN)));
    }

    private Optional<CompletableFuture<RpcAnswer>> waiter(String id) {
        try {
            return Optional.ofNullable(waiting.get(Long.parseLong(id)));
        } catch (NumberFormatException e) {
            return Optional.empty();
        }
    }

    /** Fails all pending and later requests. */
    private void over() {
        try {
            complaints.join(STDERR_GRACE.toMillis());
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
        String why;
        synchronized (this) {
            why = "the server ended" + exit.map(code -> " with " + code).orElse("")
                    + lastComplaint.map(words -> ": " + words).orElse("");
            end = Optional.of(why);
        }
        waiting.values().forEach(waiter -> waiter.completeExceptionally(new IOException(why)));
        outgoing.add(END);
    }

    private void readComplaints() {
        try {
            LineReader stderr =
                    new LineReader(shells.getErrorStream(), MOST_COMPLAINT_BYTES, MemoryBudget.ofThisProcess());
            for (Optional<LineReader.Line> line = stderr.next(); line.isPresent(); line = stderr.next()) {
                note(new String(line.get().bytes(), StandardCharsets.UTF_8));
            }
        } catch (IOException e) {
            // Treated like the end of stderr.
        }
    }

    private synchronized void note(String line) {
        Optional<String> code = exitCode(line);
        if (code.isPresent()) {
            exit = code;
            return;
        }
        String words = secrets.mask(line).strip();
        LOG.debug("{}: {}", name, words);
        if (!words.isEmpty() && !STACK.matcher(words).matches()) {
            lastComplaint = Optional.of(
                    words.length() > LONGEST_COMPLAINT ? words.substring(0, LONGEST_COMPLAINT) + "…" : words);
        }
    }

    private Optional<String> exitCode(String line) {
        String mark = exitWord + " ";
        return Optional.of(line)
                .filter(report -> exit.isEmpty() && report.startsWith(mark))
                .map(report -> report.substring(mark.length()))
                .filter(EXIT_CODE.asMatchPredicate());
    }
}
