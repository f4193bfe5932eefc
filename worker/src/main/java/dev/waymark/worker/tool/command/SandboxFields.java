package dev.waymark.worker.tool.command;

import dev.waymark.agent.Sandbox;
import dev.waymark.worker.process.Bubblewrap;
import dev.waymark.worker.yaml.YamlFields;
import dev.waymark.worker.yaml.YamlProblem;
import dev.waymark.worker.yaml.YamlValue;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;

/** Reads the {@code sandbox} field of a tool: a flag, or a mapping of the network and paths that the tool may use. */
final class SandboxFields {
    private SandboxFields() {}

    /** @param directory the base of relative paths */
    static Optional<Sandbox> read(YamlValue value, Path directory) throws YamlProblem {
        if (!value.isMapping() && !value.flag()) {
            return Optional.empty();
        }
        Sandbox sandbox = Sandbox.CLOSED;
        if (value.isMapping()) {
            YamlFields fields = value.fields();
            sandbox = new Sandbox(
                    fields.isSet("network"), paths(fields, "read", directory), paths(fields, "write", directory));
        }
        Optional<String> problem = Bubblewrap.problem();
        if (problem.isPresent()) {
            throw value.problem(problem.get());
        }
        return Optional.of(sandbox);
    }

    private static List<String> paths(YamlFields fields, String name, Path directory) {
        return fields.read(name, list -> list.items(path -> path(path, directory)))
                .orElse(List.of());
    }

    private static String path(YamlValue value, Path directory) throws YamlProblem {
        Path path = directory.resolve(value.text());
        if (!Files.exists(path)) {
            throw value.problem("no such file or directory: " + path);
        }
        Optional<Path> link = Bubblewrap.linkIn(directory, value.text());
        if (link.isPresent()) {
            throw value.problem(Bubblewrap.linkMessage(value.text(), link.get()));
        }
        return value.text();
    }
}
