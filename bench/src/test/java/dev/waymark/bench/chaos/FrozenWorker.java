package dev.waymark.bench.chaos;

import dev.waymark.connect.Connection;
import dev.waymark.testkit.crash.WorkerProcess;
import java.io.IOException;

/**
 * The main class of a worker process that is frozen together with all processes that it has started, and then resumed.
 */
final class FrozenWorker {
    private FrozenWorker() {}

    static WorkerProcess start(String address, String taskQueue, int ledgerPort, String directory)
            throws IOException, InterruptedException {
        return WorkerProcess.start(FrozenWorker.class, address, taskQueue, Integer.toString(ledgerPort), directory);
    }

    public static void main(String[] arguments) throws Exception {
        WorldFaultsServerTest.worker(
                        Connection.to(arguments[0]).client(),
                        arguments[1],
                        WorldFaultsServerTest.programs(Integer.parseInt(arguments[2]), arguments[3]))
                .start();
        WorkerProcess.work();
    }
}
