package dev.waymark.worker.process;

import static org.awaitility.Awaitility.await;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;

/** Processes that have written their ids to files of a directory: {@code NAME.pid}. */
record TestPrograms(Path directory) {

    private static final Duration PATIENCE = Duration.ofSeconds(60);

    void awaitStarted(String... names) {
        for (String name : names) {
            await().atMost(PATIENCE)
                    .until(() -> Files.exists(file(name))
                            && Files.readString(file(name)).endsWith("\n"));
        }
    }

    void awaitGone(String... names) throws IOException {
        for (String name : names) {
            long pid = pid(name);
            await().alias(name + " is gone").atMost(PATIENCE).until(() -> isGone(pid));
        }
    }

    long pid(String name) throws IOException {
        return Long.parseLong(Files.readString(file(name)).strip());
    }

    /** A killed process is dead at once, but stays listed until its parent, or its new parent, collects it. */
    static boolean isGone(long pid) {
        if (ProcessHandle.of(pid).filter(ProcessHandle::isAlive).isEmpty()) {
            return true;
        }
        try {
            return state(pid) == 'Z';
        } catch (IOException e) {
            return true;
        }
    }

    /** The state in {@code /proc}: R, S, T, Z … */
    static char state(long pid) throws IOException {
        String stat = Files.readString(Path.of("/proc/" + pid + "/stat"), StandardCharsets.ISO_8859_1);
        return stat.charAt(stat.lastIndexOf(')') + 2);
    }

    private Path file(String name) {
        return directory.resolve(name + ".pid");
    }
}
