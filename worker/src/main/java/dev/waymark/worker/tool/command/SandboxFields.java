package dev.waymark.worker.tool.command;

import dev.waymark.agent.Sandbox;
import dev.waymark.worker.process.Bubblewrap;
import dev.waymark.worker.yaml.YamlFields;
import dev.waymark.worker.yaml.YamlProblem;
import dev.waymark.worker.yaml.YamlValue;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/** Reads the {@code sandbox} field of a tool: {@code true}, or what the tool may reach. */
final class SandboxFields {
    private SandboxFields() {}

    /** @param directory the base of relative paths */
    static Optional<Sandbox> read(YamlValue value, Path directory) throws YamlProblem {
        Sandbox sandbox = Sandbox.CLOSED;
        if (!value.isMapping()) {
            if (!value.flag()) {
                return Optional.empty();
            }
        } else {
            YamlFields fields = value.fields();
            Optional<YamlValue> network = fields.take("network");
            List<String> read = paths(fields.take("read"), directory);
            List<String> write = paths(fields.take("write"), directory);
            fields.end();
            sandbox = new Sandbox(network.isPresent() && network.get().flag(), read, write);
        }
        if (Bubblewrap.problem().isPresent()) {
            throw value.problem(
                    Bubblewrap.problem().get() + "; install it, for instance with apt-get install bubblewrap");
        }
        return Optional.of(sandbox);
    }

    private static List<String> paths(Optional<YamlValue> list, Path directory) throws YamlProblem {
        List<String> paths = new ArrayList<>();
        if (list.isPresent()) {
            for (YamlValue path : list.get().items()) {
                if (!Files.exists(directory.resolve(path.text()))) {
                    throw path.problem("no such file or directory: " + directory.resolve(path.text()));
                }
                paths.add(path.text());
            }
        }
        return paths;
    }
}
