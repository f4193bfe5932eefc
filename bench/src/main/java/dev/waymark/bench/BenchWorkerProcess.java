package dev.waymark.bench;

import dev.waymark.connect.Connection;
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

/** A worker in a JVM of its own, so that it can be killed. It ends with this JVM. */
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

    /** The time of the first model call in this iteration, in microseconds since the epoch. */
    long awaitModelCall(int iteration) throws Exception {
        return call(iteration).get(PATIENCE_SECONDS, TimeUnit.SECONDS);
    }

    @Override
    public void close() {
        kill(process);
    }

    /** Kills a process by SIGKILL, and waits until it is gone. */
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
            // Killed.
        }
        ready.completeExceptionally(new IOException("the worker process ended"));
    }

    static long micros() {
        return ChronoUnit.MICROS.between(Instant.EPOCH, Instant.now());
    }

    public static void main(String[] arguments) throws Exception {
        Connection connection = Connection.to(arguments[1]);
        if (Integer.parseInt(arguments[0]) == MeasuredAgent.OURS) {
            MeasuredAgent.worker(connection.client(), BenchWorkerProcess::say).start();
        } else {
            MeasuredAgent.bareWorker(connection.client(), BenchWorkerProcess::say)
                    .start();
        }
        System.out.println(READY);
        while (System.in.read() >= 0) {
            // The parent process is alive.
        }
        Runtime.getRuntime().halt(1);
    }

    private static void say(int side, int iteration) {
        System.out.println(iteration + " " + micros());
    }
}
