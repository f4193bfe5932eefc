package dev.waymark.rehearsal;

import dev.waymark.conversation.message.Part;
import dev.waymark.conversation.message.Reply;
import dev.waymark.conversation.value.Json;
import dev.waymark.conversation.value.Spent;
import dev.waymark.conversation.value.Usd;
import dev.waymark.tool.ToolArguments;
import dev.waymark.worker.yaml.YamlFields;
import dev.waymark.worker.yaml.YamlProblem;
import dev.waymark.worker.yaml.YamlValue;
import java.io.IOException;
import java.math.BigDecimal;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.stream.Stream;

/**
 * A condition on an agent's decisions in a thread, independent of what was recorded. The checks of an agent are in a
 * file next to its own:
 *
 * <pre>{@code
 * checks:
 *   - called: find_order
 *   - never_called: send_mail
 *   - { called: refund, at_most: 1 }
 *   - { arguments_of: refund, match: { properties: { cents: { maximum: 10000 } } } }
 *   - text_never_matches: "BEAR10"
 *   - cost_at_most: 0.05
 *   - judged: It names the number of the order.
 * }</pre>
 *
 * @param words the check, as reports name it
 * @param rubric what a judge is asked about each final text, if it is such a check
 */
public record Check(String words, Optional<String> rubric, Test test) {
    private static final String SUFFIX = ".checks.yaml";
    private static final String AS_RECORDED = "as_recorded";

    /**
     * The decision of an agent at one place of a thread.
     *
     * @param same whether the reply is the recorded one
     * @param unmet the rubrics that the reply does not meet
     */
    public record Decided(String place, boolean same, Reply reply, Spent spent, Set<String> unmet) {}

    /** Finds out whether a check holds. */
    public interface Test {
        /** Why the check fails for the replies of a thread; empty if it holds. */
        Optional<String> failure(List<Decided> thread);
    }

    /** The checks of the agents in a directory, or next to a file with agents, by the agent's name. */
    public static Map<String, List<Check>> in(Path path) throws IOException, YamlProblem {
        Map<String, List<Check>> checks = new LinkedHashMap<>();
        List<Path> files;
        try (Stream<Path> all = Files.list(
                Files.isDirectory(path)
                        ? path
                        : Objects.requireNonNull(path.toAbsolutePath().getParent()))) {
            files = all.filter(file -> file.toString().endsWith(SUFFIX))
                    .sorted()
                    .toList();
        }
        for (Path file : files) {
            String name = file.getFileName().toString();
            checks.put(name.substring(0, name.length() - SUFFIX.length()), all(YamlValue.read(file)));
        }
        return Collections.unmodifiableMap(checks);
    }

    /**
     * The checks beside exported threads, by the name of the thread's file. They apply to the thread's last reply. A
     * file of checks without a thread is a problem, because its checks would silently not run.
     */
    public static Map<String, List<Check>> besideThreads(Path directory) throws IOException, YamlProblem {
        Map<String, List<Check>> checks = new LinkedHashMap<>();
        for (Map.Entry<String, List<Check>> each : in(directory).entrySet()) {
            String thread = each.getKey() + ".json";
            if (!Files.exists(directory.resolve(thread))) {
                throw new YamlProblem(
                        directory.resolve(each.getKey() + SUFFIX).toString(),
                        1,
                        "",
                        "the thread is missing: there is no " + thread + " beside this file");
            }
            checks.put(thread, each.getValue());
        }
        return Collections.unmodifiableMap(checks);
    }

    private static List<Check> all(YamlValue file) throws YamlProblem {
        YamlFields fields = file.fields();
        List<Check> checks = fields.require("checks").items(Check::read);
        fields.end();
        return checks;
    }

    private static Check read(YamlValue value) throws YamlProblem {
        YamlFields fields = value.fields();
        Check check = read(value, fields);
        fields.end();
        return check;
    }

    private static Check read(YamlValue value, YamlFields fields) throws YamlProblem {
        Optional<YamlValue> recorded = fields.take(AS_RECORDED);
        if (recorded.isPresent()) {
            if (!recorded.get().flag()) {
                throw recorded.get().problem("expected true, found false");
            }
            return asRecorded();
        }
        Optional<YamlValue> called = fields.take("called");
        if (called.isPresent()) {
            Optional<YamlValue> most = fields.take("at_most");
            return most.isPresent()
                    ? calledAtMost(called.get().words(), most.get().integer(0))
                    : called(called.get().words());
        }
        Optional<YamlValue> never = fields.take("never_called");
        if (never.isPresent()) {
            return calledAtMost(never.get().words(), 0);
        }
        Optional<YamlValue> tool = fields.take("arguments_of");
        if (tool.isPresent()) {
            return arguments(tool.get().words(), schema(fields.require("match")));
        }
        Optional<YamlValue> pattern = fields.take("text_matches");
        if (pattern.isPresent()) {
            return text(pattern.get(), true);
        }
        Optional<YamlValue> forbidden = fields.take("text_never_matches");
        if (forbidden.isPresent()) {
            return text(forbidden.get(), false);
        }
        Optional<YamlValue> structured = fields.take("json_matches");
        if (structured.isPresent()) {
            return json(schema(structured.get()));
        }
        Optional<YamlValue> cost = fields.take("cost_at_most");
        if (cost.isPresent()) {
            return cost(cost.get().number());
        }
        Optional<YamlValue> tokens = fields.take("tokens_at_most");
        if (tokens.isPresent()) {
            return tokens(tokens.get().whole(0));
        }
        Optional<YamlValue> rubric = fields.take("judged");
        if (rubric.isPresent()) {
            return judged(rubric.get().words());
        }
        throw value.problem("expected one of called, never_called, arguments_of, text_matches, text_never_matches,"
                + " json_matches, cost_at_most, tokens_at_most, judged, as_recorded");
    }

    static Json schema(YamlValue value) throws YamlProblem {
        Json schema = value.json();
        Optional<String> problem = ToolArguments.malformation(schema);
        if (problem.isPresent()) {
            throw value.problem("not a JSON Schema: " + problem.get());
        }
        return schema;
    }

    private static Check of(String words, Test test) {
        return new Check(words, Optional.empty(), test);
    }

    /** Checks that the agent decides as recorded. */
    private static Check asRecorded() {
        return of(
                AS_RECORDED,
                thread -> thread.stream()
                        .filter(decided -> !decided.same())
                        .findFirst()
                        .map(decided -> "at " + decided.place() + " it decides otherwise"));
    }

    private static Check called(String tool) {
        return of(
                "called: " + tool,
                thread -> calls(thread, tool).isEmpty() ? Optional.of("it is never called") : Optional.empty());
    }

    private static Check calledAtMost(String tool, int most) {
        return of(most == 0 ? "never_called: " + tool : "called: " + tool + ", at_most: " + most, thread -> {
            List<At<Part.ToolUse>> calls = calls(thread, tool);
            return calls.size() <= most
                    ? Optional.empty()
                    : Optional.of("it is called" + (calls.size() == 1 ? "" : " " + calls.size() + " times") + ", at "
                            + calls.get(most).place() + " with "
                            + calls.get(most).value().input().canonical());
        });
    }

    private static Check arguments(String tool, Json schema) {
        return of(
                "arguments_of: " + tool,
                thread -> calls(thread, tool).stream()
                        .flatMap(call ->
                                ToolArguments.problem(schema, call.value().input())
                                        .map(problem -> "at " + call.place() + ": " + problem)
                                        .stream())
                        .findFirst());
    }

    /** The pattern is evaluated like one of a JSON Schema, within a limit of steps. */
    private static Check text(YamlValue pattern, boolean matches) throws YamlProblem {
        Map<String, Object> string = new LinkedHashMap<>();
        string.put("pattern", pattern.words());
        Json schema = Json.of(string);
        Optional<String> problem = ToolArguments.malformation(schema);
        if (problem.isPresent()) {
            throw pattern.problem("not a regular expression: " + problem.get());
        }
        return of(
                (matches ? "text_matches: " : "text_never_matches: ") + pattern.words(),
                thread -> thread.stream()
                        .filter(decided -> decided.reply().isLastWord())
                        .map(decided -> new At<>(decided.place(), Comparison.text(decided.reply())))
                        .filter(text -> ToolArguments.problem(schema, Json.of(text.value()))
                                        .isEmpty()
                                != matches)
                        .findFirst()
                        .map(text -> "at " + text.place() + ": " + text.value()));
    }

    private static Check json(Json schema) {
        return of(
                "json_matches",
                thread -> thread.stream()
                        .filter(decided -> decided.reply().isLastWord())
                        .flatMap(decided -> decided
                                .reply()
                                .structured()
                                .map(value -> ToolArguments.problem(schema, value))
                                .orElse(Optional.of("it is not the requested JSON"))
                                .map(problem -> "at " + decided.place() + ": " + problem)
                                .stream())
                        .findFirst());
    }

    private static Check judged(String rubric) {
        return new Check(
                "judged: " + rubric,
                Optional.of(rubric),
                thread -> thread.stream()
                        .filter(decided -> decided.unmet().contains(rubric))
                        .findFirst()
                        .map(decided -> "at " + decided.place() + ": " + Comparison.text(decided.reply())));
    }

    private static Check cost(BigDecimal most) {
        return of("cost_at_most: " + most.toPlainString(), thread -> {
            Usd cost = spent(thread).cost().orElse(Usd.ZERO);
            return cost.dollars().compareTo(most) > 0 ? Optional.of(cost + " USD") : Optional.empty();
        });
    }

    private static Check tokens(long most) {
        return of("tokens_at_most: " + most, thread -> {
            long tokens = spent(thread).usage().total();
            return tokens > most ? Optional.of(tokens + " tokens") : Optional.empty();
        });
    }

    private static Spent spent(List<Decided> thread) {
        return thread.stream().map(Decided::spent).reduce(Spent.NOTHING, Spent::plus);
    }

    private record At<T>(String place, T value) {}

    private static List<At<Part.ToolUse>> calls(List<Decided> thread, String tool) {
        List<At<Part.ToolUse>> calls = new ArrayList<>();
        for (Decided decided : thread) {
            decided.reply().calls().stream()
                    .filter(call -> call.name().equals(tool))
                    .forEach(call -> calls.add(new At<>(decided.place(), call)));
        }
        return calls;
    }
}
