package dev.waymark.bench;

import dev.waymark.connect.Connection;
import dev.waymark.testkit.process.ChildProcess;
import io.temporal.client.WorkflowStub;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.List;

/** A worker in its own JVM, so that a benchmark can kill it. The JVM exits when the process that started it ends. */
final class BenchWorkerProcess implements AutoCloseable {
    private static final String READY = "ready";
    private static final Duration PATIENCE = Duration.ofMinutes(1);

    private final ChildProcess process;

    private BenchWorkerProcess(ChildProcess process) {
        this.process = process;
    }

    /** Starts a worker process, and returns when the worker is ready. */
    static BenchWorkerProcess start(int side, String address) throws IOException, InterruptedException {
        ChildProcess process = ChildProcess.java(List.of(), BenchWorkerProcess.class, Integer.toString(side), address)
                .showingErrors()
                .start();
        try {
            process.awaitLine(READY::equals, PATIENCE);
            return new BenchWorkerProcess(process);
        } catch (IOException | InterruptedException e) {
            process.close();
            throw e;
        }
    }

    /** Waits for the first model call of this iteration, and returns its time in microseconds since the epoch. */
    long awaitModelCall(int iteration) throws IOException, InterruptedException {
        String call = iteration + " ";
        return Long.parseLong(
                process.awaitLine(line -> line.startsWith(call), PATIENCE).substring(call.length()));
    }

    @Override
    public void close() {
        process.close();
    }

    static long micros() {
        return ChronoUnit.MICROS.between(Instant.EPOCH, Instant.now());
    }

    /** Starts a conversation for each command on stdin. The end of stdin means that the parent process is gone. */
    public static void main(String[] arguments) throws Exception {
        int side = Integer.parseInt(arguments[0]);
        Connection connection = Connection.to(arguments[1]);
        if (side != MeasuredAgent.BARE) {
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
     * Handles {@code converse THREAD ITERATIONS TOOLS OPEN}, with which the comparison with other frameworks starts
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
        WorkflowStub stub = switch (side) {
            case MeasuredAgent.BARE -> MeasuredAgent.startBare(connection.client(), thread, last, tools, waitFrom);
            case MeasuredAgent.OURS_UNFUSED -> MeasuredAgent.startUnfused(connection.client(), thread, last, tools);
            default -> MeasuredAgent.start(connection.client(), thread, last, tools, waitFrom);
        };
        if (!open) {
            stub.getResult(Object.class);
        }
        System.out.println("done");
    }

    private static void say(int side, int iteration) {
        System.out.println(iteration + " " + micros());
    }
}
