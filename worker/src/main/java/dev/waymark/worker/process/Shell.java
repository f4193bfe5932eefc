package dev.waymark.worker.process;

import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.stream.Stream;

/** The shells that programs run under. */
public final class Shell {

    static final Optional<String> SETSID = onPath("setsid");

    private Shell() {}

    /**
     * The words that run a script in a session of its own, so that all it starts can be signalled as one. What follows
     * them are the script's arguments. Without {@code setsid} it is a process group of its own.
     */
    public static List<String> inSession(String script) {
        List<String> command = new ArrayList<>();
        if (SETSID.isPresent()) {
            command.addAll(List.of(SETSID.get(), "/bin/sh"));
        } else {
            // Of job control, which makes groups as well, only bash is capable without a terminal.
            String bash = program("bash");
            command.addAll(List.of(bash, "-c", "set -m; \"$@\" & wait $!", "waymark", bash));
        }
        command.addAll(List.of("-c", script, "waymark"));
        return command;
    }

    /** Where a program is that every system has. */
    public static String program(String name) {
        return onPath(name).orElse("/bin/" + name);
    }

    /** A script that lies beside a class. It is handed over as text: a file could be changed, or be left behind. */
    public static String script(Class<?> beside, String name) {
        try (InputStream text = beside.getResourceAsStream(name)) {
            return new String(text.readAllBytes(), StandardCharsets.UTF_8);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private static Optional<String> onPath(String name) {
        String path = Optional.ofNullable(System.getenv("PATH")).orElse("/usr/bin:/bin");
        return Stream.of(path.split(":"))
                .filter(directory -> !directory.isEmpty())
                .map(directory -> Path.of(directory, name))
                .filter(Files::isExecutable)
                .map(Path::toString)
                .findFirst();
    }
}
