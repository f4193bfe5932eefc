package dev.waymark.worker.tool.kind;

import dev.waymark.conversation.value.Json;
import dev.waymark.worker.secret.EnvironmentReferences;
import dev.waymark.worker.yaml.YamlFields;
import dev.waymark.worker.yaml.YamlProblem;
import dev.waymark.worker.yaml.YamlValue;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;

/**
 * An entry of {@code tools} in an agent file while it is read, with readers for fields that several kinds share.
 *
 * @param fields the fields that are not read yet
 * @param directory the directory of the agent file
 */
public record ToolEntry(String name, Json input, YamlFields fields, Path directory) {

    /** Reads a program with its arguments. */
    public static List<String> program(YamlValue value, Path directory) throws YamlProblem {
        List<String> command = value.items(YamlValue::text);
        if (command.isEmpty() || command.get(0).isBlank()) {
            throw value.problem("no program given");
        }
        // A program on PATH may be installed later; a path must exist now.
        if (command.get(0).contains("/") && !Files.isExecutable(directory.resolve(command.get(0)))) {
            throw value.problem("not an executable file: " + directory.resolve(command.get(0)));
        }
        return command;
    }

    public static Map<String, String> environment(YamlValue value) throws YamlProblem {
        return value.entries(ToolEntry::variable);
    }

    private static String variable(String name, YamlValue value) throws YamlProblem {
        if (!EnvironmentReferences.isName(name)) {
            throw value.problem("not a valid variable name");
        }
        if (name.startsWith("WAYMARK_")) {
            throw value.problem("names that start with WAYMARK_ are reserved");
        }
        if (!EnvironmentReferences.isWellFormed(value.text())) {
            throw value.problem("expected ${NAME}");
        }
        return value.text();
    }

    public static Duration timeout(YamlValue value) throws YamlProblem {
        Duration timeout = value.duration();
        if (timeout.isZero()) {
            throw value.problem("must be longer than 0");
        }
        return timeout;
    }

    /** Whether every call needs approval. */
    public static boolean isAlways(YamlValue value) throws YamlProblem {
        return value.oneOf("always", "never").equals("always");
    }
}
