package dev.waymark.bench;

import dev.waymark.connect.Connection;
import io.temporal.client.WorkflowStub;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;

/** A worker in its own JVM, so that a benchmark can kill it. The JVM exits when the process that started it ends. */
final class BenchWorkerProcess implements AutoCloseable {
    private static final String READY = "ready";
    private static final int PATIENCE_SECONDS = 60;

    private final Process process;
    private final CompletableFuture<Void> ready = new CompletableFuture<>();
    private final Map<Integer, CompletableFuture<Long>> calls = new ConcurrentHashMap<>();

    private BenchWorkerProcess(Process process) {
        this.process = process;
    }

    /** Starts a worker process, and returns when the worker is ready. */
    static BenchWorkerProcess start(int side, String address) throws Exception {
        ProcessBuilder builder = new ProcessBuilder(
                        Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                        "-cp",
                        System.getProperty("java.class.path"),
                        BenchWorkerProcess.class.getName(),
                        Integer.toString(side),
                        address)
                .redirectError(ProcessBuilder.Redirect.INHERIT);
        BenchWorkerProcess worker = new BenchWorkerProcess(builder.start());
        Thread reader = new Thread(worker::read, "output of worker process");
        reader.setDaemon(true);
        reader.start();
        try {
            worker.ready.get(PATIENCE_SECONDS, TimeUnit.SECONDS);
        } catch (Exception e) {
            worker.close();
            throw e;
        }
        return worker;
    }

    /** Waits for the first model call of this iteration, and returns its time in microseconds since the epoch. */
    long awaitModelCall(int iteration) throws Exception {
        return call(iteration).get(PATIENCE_SECONDS, TimeUnit.SECONDS);
    }

    @Override
    public void close() {
        kill(process);
    }

    /** Kills a process with SIGKILL, and waits until it has ended. */
    static void kill(Process process) {
        process.destroyForcibly();
        try {
            process.waitFor();
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    private CompletableFuture<Long> call(int iteration) {
        return calls.computeIfAbsent(iteration, any -> new CompletableFuture<>());
    }

    private void read() {
        try (BufferedReader lines =
                new BufferedReader(new InputStreamReader(process.getInputStream(), StandardCharsets.UTF_8))) {
            for (String line = lines.readLine(); line != null; line = lines.readLine()) {
                if (line.equals(READY)) {
                    ready.complete(null);
                } else {
                    String[] words = line.split(" ");
                    call(Integer.parseInt(words[0])).complete(Long.parseLong(words[1]));
                }
            }
        } catch (IOException e) {
            // The process was killed.
        }
        ready.completeExceptionally(new IOException("the worker process ended"));
    }

    static long micros() {
        return ChronoUnit.MICROS.between(Instant.EPOCH, Instant.now());
    }

    /** Starts a conversation for each command on stdin. The end of stdin means that the parent process is gone. */
    public static void main(String[] arguments) throws Exception {
        int side = Integer.parseInt(arguments[0]);
        Connection connection = Connection.to(arguments[1]);
        if (side == MeasuredAgent.OURS) {
            MeasuredAgent.worker(connection.client(), BenchWorkerProcess::say).start();
        } else {
            MeasuredAgent.bareWorker(connection.client(), BenchWorkerProcess::say)
                    .start();
        }
        System.out.println(READY);
        BufferedReader commands = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
        for (String line = commands.readLine(); line != null; line = commands.readLine()) {
            converse(connection, side, line.split(" "));
        }
        Runtime.getRuntime().halt(1);
    }

    /**
     * {@code converse THREAD ITERATIONS TOOLS OPEN}, the command with which the comparison with other frameworks starts
     * conversations. With OPEN 1, the conversation stays open after its iterations: an agent waits for an answer, the
     * bare workflow for a signal.
     */
    private static void converse(Connection connection, int side, String[] command) {
        String thread = command[1];
        int iterations = Integer.parseInt(command[2]);
        int tools = Integer.parseInt(command[3]);
        boolean open = command[4].equals("1");
        int last = open ? iterations + 1 : iterations;
        int waitFrom = open ? last : 0;
        WorkflowStub stub = side == MeasuredAgent.OURS
                ? MeasuredAgent.start(connection.client(), thread, last, tools, waitFrom)
                : MeasuredAgent.startBare(connection.client(), thread, last, tools, waitFrom);
        if (!open) {
            stub.getResult(Object.class);
        }
        System.out.println("done");
    }

    private static void say(int side, int iteration) {
        System.out.println(iteration + " " + micros());
    }
}
