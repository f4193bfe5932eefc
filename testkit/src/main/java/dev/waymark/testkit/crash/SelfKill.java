package dev.waymark.testkit.crash;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * Ends this process with SIGKILL, without shutdown hooks. Several {@link Crash}es in one process may share an instance,
 * which waits for all of them. A shell sends the signal. It is started in advance, because starting one takes too long
 * at the time of the crash.
 */
public final class SelfKill {
    private final AtomicInteger awaited;
    private final Process shell;

    private SelfKill(int crashes) {
        this.awaited = new AtomicInteger(crashes);
        String pid = Long.toString(ProcessHandle.current().pid());
        try {
            this.shell = new ProcessBuilder("sh", "-c", "read go && kill -9 \"$0\"", pid).start();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** Returns an instance that kills the process after this many crashes. */
    public static SelfKill after(int crashes) {
        return new SelfKill(crashes);
    }

    /** Counts a crash, and kills the process if it is the last one. */
    void come() {
        if (awaited.decrementAndGet() == 0) {
            try {
                shell.getOutputStream().write("go\n".getBytes(StandardCharsets.US_ASCII));
                shell.getOutputStream().flush();
            } catch (IOException e) {
                throw new UncheckedIOException(e);
            }
        }
    }
}
