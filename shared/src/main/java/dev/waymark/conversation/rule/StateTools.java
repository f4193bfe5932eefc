package dev.waymark.conversation.rule;

import dev.waymark.conversation.call.ToolTexts;
import dev.waymark.conversation.state.Workspace;
import dev.waymark.conversation.value.Json;
import java.time.Instant;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/** The tools that change only a thread's {@link Workspace}. A call with invalid arguments gets an error result. */
final class StateTools {
    static final int MAX_ITEMS = 500;
    static final int MAX_FILE_LENGTH = 256 * 1024;
    /** The maximum number of characters of all files together, since they are part of the state. */
    static final int MAX_FILES_LENGTH = 1024 * 1024;

    static final int MAX_PATH_LENGTH = 1_024;

    private final Workspace before;
    private final Instant at;

    private StateTools(Workspace before, Instant at) {
        this.before = before;
        this.at = at;
    }

    /** The result of a call, and the workspace after it. */
    record Outcome(Workspace workspace, String text, boolean isError) {}

    static Outcome run(Workspace before, String tool, Json args, Instant at) {
        try {
            return new StateTools(before, at).run(tool, args);
        } catch (Unfit unfit) {
            return new Outcome(before, ToolTexts.invalidInput(tool, String.valueOf(unfit.getMessage())), true);
        }
    }

    private Outcome run(String tool, Json args) throws Unfit {
        return switch (tool) {
            case "write_todos" -> writeTodos(args);
            case "write_plan" -> writePlan(args);
            case "ls" -> list(args);
            case "read_file" -> readFile(args);
            case "write_file" -> writeFile(args);
            case "edit_file" -> editFile(args);
            default -> failed("this version of Waymark has no such tool");
        };
    }

    private Outcome writeTodos(Json args) throws Unfit {
        List<Workspace.Todo> todos = new ArrayList<>();
        for (Json item : items(args, "todos")) {
            todos.add(new Workspace.Todo(
                    text(item, "id"), text(item, "content"), oneOf(item, "status", Workspace.Todo.STATUSES)));
        }
        requireDistinct(todos.stream().map(Workspace.Todo::id).toList());
        long open = todos.stream()
                .filter(todo ->
                        !todo.status().equals("completed") && !todo.status().equals("cancelled"))
                .count();
        return done(before.withTodos(todos), "Todos written: " + todos.size() + ", " + open + " of them open.");
    }

    private Outcome writePlan(Json args) throws Unfit {
        List<Workspace.PlanStep> steps = new ArrayList<>();
        for (Json item : items(args, "steps")) {
            steps.add(new Workspace.PlanStep(
                    text(item, "id"), text(item, "description"), oneOf(item, "status", Workspace.PlanStep.STATUSES)));
        }
        requireDistinct(steps.stream().map(Workspace.PlanStep::id).toList());
        Workspace.Plan plan = new Workspace.Plan(text(args, "goal"), steps);
        long left = steps.stream().filter(step -> !step.status().equals("done")).count();
        return done(before.withPlan(plan), "Plan written: " + steps.size() + " steps, " + left + " of them left.");
    }

    private Outcome list(Json args) throws Unfit {
        String wanted = args.field("path") == null ? "" : text(args, "path");
        String folder = wanted.isEmpty() || wanted.endsWith("/") ? wanted : wanted + "/";
        StringBuilder lines = new StringBuilder();
        before.files().forEach((path, file) -> {
            if (path.startsWith(folder) || path.equals(wanted)) {
                lines.append(lines.isEmpty() ? "" : "\n").append(path);
            }
        });
        return done(before, lines.isEmpty() ? "No files." : lines.toString());
    }

    private Outcome readFile(Json args) throws Unfit {
        String path = path(args);
        return before.files()
                .get(path)
                .map(file -> done(before, file.content()))
                .orElseGet(() -> failed("no such file: " + path));
    }

    private Outcome writeFile(Json args) throws Unfit {
        String path = path(args);
        return write(path, text(args, "content"), before.files().contains(path) ? "Replaced " : "Wrote ");
    }

    private Outcome editFile(Json args) throws Unfit {
        String path = path(args);
        String old = text(args, "old");
        String replacement = text(args, "new");
        Optional<Workspace.VirtualFile> file = before.files().get(path);
        if (file.isEmpty()) {
            return failed("no such file: " + path);
        }
        String content = file.get().content();
        int found = old.isEmpty() ? -1 : content.indexOf(old);
        if (found < 0) {
            return failed("the old text is not in " + path);
        }
        if (content.indexOf(old, found + 1) >= 0) {
            return failed("the old text is in " + path + " more than once; give more of what is around it");
        }
        String edited = content.substring(0, found) + replacement + content.substring(found + old.length());
        return write(path, edited, "Edited ");
    }

    private Outcome write(String path, String content, String did) {
        long others = before.files().toMap().entrySet().stream()
                .filter(entry -> !entry.getKey().equals(path))
                .mapToLong(entry -> entry.getValue().content().length())
                .sum();
        if (content.length() > MAX_FILE_LENGTH) {
            return failed("too large: " + content.length() + " characters, of at most " + MAX_FILE_LENGTH);
        }
        if (others + content.length() > MAX_FILES_LENGTH) {
            return failed("all files together would be " + (others + content.length()) + " characters, of at most "
                    + MAX_FILES_LENGTH);
        }
        if (before.files().size() >= MAX_ITEMS && !before.files().contains(path)) {
            return failed("there are " + MAX_ITEMS + " files already");
        }
        Instant createdAt =
                before.files().get(path).map(Workspace.VirtualFile::createdAt).orElse(at);
        return done(before.withFile(path, new Workspace.VirtualFile(content, createdAt, at)), did + path + ".");
    }

    private Outcome done(Workspace after, String text) {
        return new Outcome(after, text, false);
    }

    private Outcome failed(String why) {
        return new Outcome(before, ToolTexts.failure(why), true);
    }

    private static String path(Json args) throws Unfit {
        String path = text(args, "path");
        if (path.isEmpty() || path.length() > MAX_PATH_LENGTH) {
            throw new Unfit("\"path\" must have 1 to " + MAX_PATH_LENGTH + " characters");
        }
        return path;
    }

    private static List<Json> items(Json args, String field) throws Unfit {
        if (!(args.field(field) instanceof List<?> list)) {
            throw new Unfit("\"" + field + "\" is required and must be a list");
        }
        if (list.size() > MAX_ITEMS) {
            throw new Unfit("\"" + field + "\" may have at most " + MAX_ITEMS + " items");
        }
        List<Json> items = new ArrayList<>();
        for (@Nullable Object item : list) {
            if (!(item instanceof Map)) {
                throw new Unfit("\"" + field + "\" must be a list of objects");
            }
            items.add(Json.of(item));
        }
        return items;
    }

    private static String text(Json object, String field) throws Unfit {
        if (object.field(field) instanceof String text) {
            return text;
        }
        throw new Unfit("\"" + field + "\" is required and must be a string");
    }

    private static String oneOf(Json object, String field, List<String> allowed) throws Unfit {
        String value = text(object, field);
        if (!allowed.contains(value)) {
            throw new Unfit("\"" + field + "\" must be one of " + String.join(", ", allowed));
        }
        return value;
    }

    private static void requireDistinct(List<String> ids) throws Unfit {
        Set<String> seen = new LinkedHashSet<>();
        for (String id : ids) {
            if (!seen.add(id)) {
                throw new Unfit("two items have the id " + id);
            }
        }
    }

    /** Thrown for invalid arguments. The model gets the message. */
    private static final class Unfit extends Exception {
        private static final long serialVersionUID = 1;

        Unfit(String message) {
            super(message);
        }
    }
}
