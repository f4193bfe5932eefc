package dev.waymark.worker.rehearsal;

import dev.waymark.history.ThreadHistory;
import dev.waymark.saver.PrivateFiles;
import dev.waymark.worker.yaml.YamlProblem;
import dev.waymark.worker.yaml.YamlValue;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/**
 * Recorded decisions to keep in a repository. Each is a thread in a file, as {@code waymark export} writes it, which ends
 * with the decision. Beside it, a file of {@link Check checks} says what is expected of agents there. A decision without
 * such a file is expected as recorded.
 */
public final class Dataset {
    private static final String HISTORY = ".json";

    private final Path directory;
    private final Map<String, List<Check>> checks;

    private Dataset(Path directory, Map<String, List<Check>> checks) {
        this.directory = directory;
        this.checks = checks;
    }

    /** Reads what is expected. Without its decision, an expectation would pass unnoticed, so it is a problem. */
    public static Dataset read(Path directory) throws IOException, YamlProblem {
        Map<String, List<Check>> checks = Check.in(directory);
        for (String name : checks.keySet()) {
            if (!Files.exists(directory.resolve(name + HISTORY))) {
                throw new YamlProblem(
                        directory.resolve(name + Check.SUFFIX).toString(),
                        1,
                        "",
                        "the decision is missing: there is no " + name + HISTORY + " beside this file");
            }
        }
        return new Dataset(directory, checks);
    }

    /** The names of the decisions, sorted. */
    public List<String> decisions() throws IOException {
        try (Stream<Path> files = Files.list(directory)) {
            return files.map(file -> file.getFileName().toString())
                    .filter(name -> name.endsWith(HISTORY))
                    .map(Dataset::withoutSuffix)
                    .sorted()
                    .toList();
        }
    }

    /** What is expected of agents at a decision. */
    public List<Check> expectations(String decision) {
        return checks.getOrDefault(withoutSuffix(decision), List.of(Check.asRecorded()));
    }

    /** Everything that is expected. */
    public Stream<Check> expectations() {
        return checks.values().stream().flatMap(List::stream);
    }

    private static String withoutSuffix(String name) {
        return name.endsWith(HISTORY) ? name.substring(0, name.length() - HISTORY.length()) : name;
    }

    /**
     * The text of a file that expects this.
     *
     * @param expectations checks as in {@code NAME.checks.yaml}, each in YAML
     * @param contains what the decision's file contains
     */
    public static String expecting(List<String> expectations, String contains) throws YamlProblem {
        List<String> lines = new ArrayList<>();
        lines.add("# " + contains);
        lines.add("checks:");
        for (String expectation : expectations) {
            lines.add("  - " + expectation.strip().lines().collect(Collectors.joining("\n    ")));
        }
        String text = String.join("\n", lines) + "\n";
        List<Check> read = Check.all(YamlValue.parse("--expect", text));
        if (read.size() != expectations.size()) {
            throw new YamlProblem("--expect", 1, "", "expected one check, found " + read.size());
        }
        return text;
    }

    /**
     * Adds a decision durably.
     *
     * @param thread the thread, which ends with the decision
     * @param expected the text of the file of checks
     * @return whether it was added; false if the dataset has a decision of this name
     */
    public static boolean add(Path directory, String name, ThreadHistory thread, String expected) throws IOException {
        PrivateFiles.createDirectories(directory);
        Path checks = directory.resolve(name + Check.SUFFIX);
        if (Files.exists(directory.resolve(name + HISTORY)) || !PrivateFiles.createNew(checks, expected)) {
            return false;
        }
        PrivateFiles.replace(
                directory.resolve(name + HISTORY), thread.document().toString() + "\n");
        return true;
    }
}
