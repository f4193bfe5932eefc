package dev.waymark.worker.process;

import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.SecureRandom;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.List;
import java.util.Optional;
import java.util.stream.Stream;

/** Runs scripts and finds system programs. */
public final class Shell {

    static final Optional<String> SETSID = onPath("setsid");

    private static final int WORD_BYTES = 8;
    private static final SecureRandom RANDOM = new SecureRandom();

    private Shell() {}

    /**
     * The command that runs a script in a separate session, so that all its processes can be signalled together. Append
     * the script's arguments to it. Without {@code setsid} it uses a process group instead.
     */
    public static List<String> inSession(String script) {
        List<String> command = new ArrayList<>();
        if (SETSID.isPresent()) {
            command.addAll(List.of(SETSID.get(), "/bin/sh"));
        } else {
            // Only bash has job control, which creates process groups, without a terminal.
            String bash = program("bash");
            command.addAll(List.of(bash, "-c", "set -m; \"$@\" & wait $!", "waymark", bash));
        }
        command.addAll(List.of("-c", script, "waymark"));
        return command;
    }

    /** The path of a program that is on {@code PATH} or in {@code /bin}. */
    public static String program(String name) {
        return onPath(name).orElse("/bin/" + name);
    }

    /**
     * The text of a script that is stored next to a class. It is not copied to a file, which could be changed or left
     * behind.
     */
    public static String script(Class<?> beside, String name) {
        try (InputStream text = beside.getResourceAsStream(name)) {
            return new String(text.readAllBytes(), StandardCharsets.UTF_8);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /**
     * A new random word, with which a script marks its reports. A script reads it from its stdin, because other
     * programs of the same user can read its arguments and its environment, and can write into its pipes.
     */
    public static String newWord() {
        byte[] word = new byte[WORD_BYTES];
        RANDOM.nextBytes(word);
        return HexFormat.of().formatHex(word);
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
