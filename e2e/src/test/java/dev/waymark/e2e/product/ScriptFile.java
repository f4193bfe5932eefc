package dev.waymark.e2e.product;

import dev.waymark.testkit.process.ChildProcess;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Assumptions;

/** {@code ./waymark} with the jar from {@code mvn package}. Tests are skipped if it is missing. */
public final class ScriptFile {
    private static final Path ROOT = Path.of("").toAbsolutePath().getParent();

    private ScriptFile() {}

    /**
     * Replaces the script's path by {@code waymark}, because hints name the script by the path with which it was
     * called.
     */
    static String named(String printed) {
        return printed.replace(ROOT.resolve("waymark").toString(), "waymark");
    }

    /** A command with these arguments, in a process of its own. */
    public static ChildProcess.Builder command(String... arguments) {
        return ChildProcess.of(call(arguments));
    }

    static List<String> call(String... arguments) {
        Path jar = Path.of("starter/target/waymark.jar");
        Assumptions.assumeTrue(Files.exists(ROOT.resolve(jar)), () -> "not built: " + jar);
        List<String> command = new ArrayList<>();
        command.add(ROOT.resolve("waymark").toString());
        command.addAll(List.of(arguments));
        return command;
    }
}
