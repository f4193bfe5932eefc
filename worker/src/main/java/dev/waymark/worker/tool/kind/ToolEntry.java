package dev.waymark.worker.tool.kind;

import dev.waymark.conversation.value.Json;
import dev.waymark.worker.secret.EnvironmentReferences;
import dev.waymark.worker.yaml.YamlFields;
import dev.waymark.worker.yaml.YamlProblem;
import dev.waymark.worker.yaml.YamlValue;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * An entry of an agent file's {@code tools} while it is read, and how fields are read that several kinds have.
 *
 * @param fields those that nobody has taken yet
 * @param directory where the agent file is
 */
public record ToolEntry(String name, Json input, YamlFields fields, Path directory) {

    /** A program with its arguments. */
    public static List<String> program(YamlValue value, Path directory) throws YamlProblem {
        List<String> command = new ArrayList<>();
        for (YamlValue word : value.items()) {
            command.add(word.text());
        }
        if (command.isEmpty() || command.get(0).isBlank()) {
            throw value.problem("no program named");
        }
        // One that is looked up on PATH may come later, one that lies here does not.
        if (command.get(0).contains("/") && !Files.isExecutable(directory.resolve(command.get(0)))) {
            throw value.problem("not an executable file: " + directory.resolve(command.get(0)));
        }
        return command;
    }

    public static Map<String, String> environment(YamlValue value) throws YamlProblem {
        Map<String, String> environment = new LinkedHashMap<>();
        for (Map.Entry<String, YamlValue> field : value.fields().takeAll().entrySet()) {
            String name = field.getKey();
            YamlValue variable = field.getValue();
            if (!EnvironmentReferences.isName(name)) {
                throw variable.problem("not a variable's name");
            }
            if (name.startsWith("WAYMARK_")) {
                throw variable.problem("names in WAYMARK_ are taken");
            }
            if (!EnvironmentReferences.isWellFormed(variable.text())) {
                throw variable.problem("expected ${NAME}");
            }
            environment.put(name, variable.text());
        }
        return environment;
    }

    public static Duration timeout(YamlValue value) throws YamlProblem {
        Duration timeout = value.duration();
        if (timeout.isZero()) {
            throw value.problem("must be longer than nothing");
        }
        return timeout;
    }

    /** Whether every call waits for approval. */
    public static boolean isAlways(YamlValue value) throws YamlProblem {
        return value.oneOf("always", "never").equals("always");
    }
}
