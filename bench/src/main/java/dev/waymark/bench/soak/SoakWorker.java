package dev.waymark.bench.soak;

import dev.waymark.bench.chaos.ToolVariant;
import dev.waymark.connect.Connection;
import dev.waymark.testkit.crash.CuttableProxy;
import dev.waymark.testkit.crash.WorkerProcess;
import java.io.IOException;
import java.nio.file.Path;
import java.util.Map;

/** A worker process, with a proxy between it and the server. */
final class SoakWorker implements AutoCloseable {
    private static final int MOST_STARTS = 10;

    private final CuttableProxy proxy;
    private final int ledgerPort;
    private final Path heapFile;
    private WorkerProcess process;

    private SoakWorker(CuttableProxy proxy, int ledgerPort, Path heapFile, WorkerProcess process) {
        this.proxy = proxy;
        this.ledgerPort = ledgerPort;
        this.heapFile = heapFile;
        this.process = process;
    }

    /** @param heapFile the file to which the process writes the size of its heap */
    static SoakWorker start(String serverAddress, int ledgerPort, Path heapFile)
            throws IOException, InterruptedException {
        CuttableProxy proxy = new CuttableProxy(serverAddress);
        return new SoakWorker(proxy, ledgerPort, heapFile, process(proxy, ledgerPort, heapFile));
    }

    /**
     * Starts a worker process. Like a supervisor, starts it again if it fails to become ready: the server may be away.
     */
    private static WorkerProcess process(CuttableProxy proxy, int ledgerPort, Path heapFile)
            throws IOException, InterruptedException {
        for (int i = 1; ; i++) {
            try {
                return WorkerProcess.start(
                        SoakWorker.class, proxy.address(), Integer.toString(ledgerPort), heapFile.toString());
            } catch (IOException e) {
                if (i == MOST_STARTS) {
                    throw e;
                }
            }
        }
    }

    CuttableProxy proxy() {
        return proxy;
    }

    void kill() {
        process.close();
    }

    void restart() throws IOException, InterruptedException {
        process = process(proxy, ledgerPort, heapFile);
    }

    /** Returns whether the process has ended. */
    boolean isDead() throws InterruptedException {
        return process.diesWithin(java.time.Duration.ZERO);
    }

    @Override
    public void close() {
        process.close();
        proxy.close();
    }

    public static void main(String[] arguments) throws Exception {
        Connection connection = Connection.to(arguments[0]);
        SoakAgents.worker(connection.client(), Map.of(ToolVariant.LEDGER_PORT, arguments[1]))
                .start();
        LiveHeap.sampleInto(Path.of(arguments[2]));
        WorkerProcess.work();
    }
}
