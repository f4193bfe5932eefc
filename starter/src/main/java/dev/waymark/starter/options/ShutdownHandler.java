package dev.waymark.starter.options;

import java.util.concurrent.locks.LockSupport;
import java.util.function.IntSupplier;

/**
 * Turns SIGTERM and Ctrl-C into an orderly shutdown: remaining work is completed, and the process exits with the
 * resulting exit code instead of the JVM's 143 or 130.
 */
public final class ShutdownHandler implements AutoCloseable {
    private final Thread hook;

    private ShutdownHandler(IntSupplier ending) {
        this.hook = new Thread(() -> Runtime.getRuntime().halt(ending.getAsInt()), "termination");
    }

    public static ShutdownHandler listen(IntSupplier ending) {
        ShutdownHandler termination = new ShutdownHandler(ending);
        Runtime.getRuntime().addShutdownHook(termination.hook);
        return termination;
    }

    /** Called when the command has ended by itself. If the process is exiting, does not return: the hook ends it. */
    @Override
    public void close() {
        try {
            Runtime.getRuntime().removeShutdownHook(hook);
        } catch (IllegalStateException e) {
            while (true) {
                LockSupport.park();
            }
        }
    }
}
