package dev.waymark.worker.tool.command;

import dev.waymark.agent.Sandbox;
import dev.waymark.worker.process.Bubblewrap;
import dev.waymark.worker.yaml.YamlFields;
import dev.waymark.worker.yaml.YamlProblem;
import dev.waymark.worker.yaml.YamlProblems;
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
        YamlProblems problems = new YamlProblems();
        Sandbox sandbox = Sandbox.CLOSED;
        if (!value.isMapping()) {
            if (!value.flag()) {
                return Optional.empty();
            }
        } else {
            YamlFields fields = value.fields();
            boolean network =
                    problems.read(fields.take("network"), YamlValue::flag).orElse(false);
            List<String> read = problems.read(fields.take("read"), list -> list.items(path -> path(path, directory)))
                    .orElse(List.of());
            List<String> write = problems.read(fields.take("write"), list -> list.items(path -> path(path, directory)))
                    .orElse(List.of());
            problems.run(fields::end);
            sandbox = new Sandbox(network, read, write);
        }
        Bubblewrap.problem().ifPresent(why -> problems.add(value.problem(why)));
        problems.end();
        return Optional.of(sandbox);
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
