package dev.waymark.testkit.process;

import java.io.IOException;
import java.util.ArrayList;
import java.util.List;

/** A process and its descendants. */
public final class ProcessFamily {
    private ProcessFamily() {}

    /** Sends a signal to all descendants of the process, and to the process last. */
    public static void signal(String name, ProcessHandle process) throws IOException, InterruptedException {
        List<Long> pids = new ArrayList<>();
        process.descendants().map(ProcessHandle::pid).forEach(pids::add);
        pids.add(process.pid());
        kill(name, pids);
    }

    static void kill(String name, List<Long> pids) throws IOException, InterruptedException {
        List<String> command = new ArrayList<>(List.of("kill", "-s", name));
        pids.forEach(pid -> command.add(Long.toString(pid)));
        new ProcessBuilder(command).start().waitFor();
    }
}
