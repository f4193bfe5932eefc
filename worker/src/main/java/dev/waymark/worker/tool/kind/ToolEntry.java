package dev.waymark.worker.tool.kind;

import dev.waymark.agent.ApprovalRule;
import dev.waymark.agent.ToolSpec;
import dev.waymark.conversation.value.Json;
import dev.waymark.tool.RuleCheck;
import dev.waymark.worker.yaml.YamlFields;
import dev.waymark.worker.yaml.YamlProblem;
import dev.waymark.worker.yaml.YamlValue;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * An entry of {@code tools} in an agent file while it is read, with readers for fields that several kinds share.
 *
 * @param fields the fields that are not read yet
 * @param directory the directory of the agent file
 */
public record ToolEntry(String name, Json input, YamlFields fields, Path directory) {
    private static final ApprovalRule ALWAYS = new ApprovalRule(Json.of(Map.of("then", "ask")));
    private static final ApprovalRule NEVER = new ApprovalRule(Json.of(Map.of("then", "allow")));

    /** Reads a program with its arguments. */
    public static List<String> program(YamlValue value, Path directory) throws YamlProblem {
        List<String> command = value.items(YamlValue::text);
        if (command.get(0).isBlank()) {
            throw value.problem("no program given");
        }
        // A program on PATH may be installed later; a path must exist now.
        if (command.get(0).contains("/") && !Files.isExecutable(directory.resolve(command.get(0)))) {
            throw value.problem("not an executable file: " + directory.resolve(command.get(0)));
        }
        return command;
    }

    /** Reads variables or headers, in which {@code ${NAME}} is a reference. */
    public static Map<String, String> texts(YamlValue value) throws YamlProblem {
        return value.entries((name, text) -> text.text());
    }

    /**
     * Reads when calls need approval: {@code always}, {@code never}, or a list of rules. The first match decides.
     *
     * @param input the schema of the tool; an empty one if it is not known yet
     */
    public static List<ApprovalRule> approval(YamlValue value, Json input) throws YamlProblem {
        if (!value.isList()) {
            return List.of(shortForm(value));
        }
        List<ApprovalRule> rules = value.items(item -> item.isMapping() ? rule(item, input) : shortForm(item));
        if (rules.isEmpty()) {
            throw value.problem("no rules given. Use never if no call needs approval");
        }
        return rules;
    }

    private static ApprovalRule shortForm(YamlValue value) throws YamlProblem {
        return value.text().equals("always") ? ALWAYS : NEVER;
    }

    private static ApprovalRule rule(YamlValue value, Json input) throws YamlProblem {
        ApprovalRule rule = new ApprovalRule(value.json());
        Optional<String> problem = RuleCheck.problem(rule, input);
        if (problem.isPresent()) {
            throw value.problem(problem.get());
        }
        return rule;
    }

    /**
     * Adds rules to the tool. The short forms are recorded without rules, as in older histories. {@code never} does not
     * remove the approval that a tool in Java requires.
     */
    public static ToolSpec.Builder approved(ToolSpec.Builder tool, List<ApprovalRule> rules) {
        if (rules.isEmpty() || rules.equals(List.of(NEVER))) {
            return tool;
        }
        return rules.equals(List.of(ALWAYS)) ? tool.approval() : tool.rules(rules);
    }
}
