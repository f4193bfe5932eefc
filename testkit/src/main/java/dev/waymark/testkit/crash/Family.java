package dev.waymark.testkit.crash;

import java.io.IOException;
import java.util.ArrayList;
import java.util.List;

/** A process and its descendants. */
final class Family {
    private Family() {}

    /** Sends a signal to all descendants of the process, and to the process last. */
    static void signal(String name, ProcessHandle process) throws IOException, InterruptedException {
        List<String> command = new ArrayList<>(List.of("kill", "-s", name));
        process.descendants().forEach(each -> command.add(Long.toString(each.pid())));
        command.add(Long.toString(process.pid()));
        new ProcessBuilder(command).start().waitFor();
    }
}
