package dev.waymark.connect;

import dev.waymark.annotation.Internal;
import java.util.concurrent.ThreadFactory;

/** Threads that do not keep the JVM alive. */
@Internal
public final class DaemonThreads {

    private DaemonThreads() {}

    /** Creates daemon threads of this name for an executor. */
    public static ThreadFactory named(String name) {
        return work -> create(name, work);
    }

    public static Thread start(String name, Runnable work) {
        Thread thread = create(name, work);
        thread.start();
        return thread;
    }

    private static Thread create(String name, Runnable work) {
        Thread thread = new Thread(work, name);
        thread.setDaemon(true);
        return thread;
    }
}
