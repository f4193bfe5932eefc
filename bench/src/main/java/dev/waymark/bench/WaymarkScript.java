package dev.waymark.bench;

import dev.waymark.testkit.process.ChildProcess;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;

/** {@code ./waymark}, with the address of a benchmark's server. */
record WaymarkScript(Path root, String server) {

    /** A command with these arguments. */
    ChildProcess.Builder command(String... arguments) {
        List<String> words = new ArrayList<>(List.of("./waymark"));
        words.addAll(List.of(arguments));
        return ChildProcess.of(words).in(root).environment(Map.of("TEMPORAL_ADDRESS", server));
    }
}
