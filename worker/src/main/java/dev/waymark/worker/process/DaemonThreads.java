package dev.waymark.worker.process;

/** Threads that do not keep the JVM alive. */
public final class DaemonThreads {

    private DaemonThreads() {}

    public static Thread start(String name, Runnable work) {
        Thread thread = new Thread(work, name);
        thread.setDaemon(true);
        thread.start();
        return thread;
    }
}
