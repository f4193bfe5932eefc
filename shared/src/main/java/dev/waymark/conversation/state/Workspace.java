package dev.waymark.conversation.state;

import com.fasterxml.jackson.annotation.JsonIgnore;
import dev.waymark.conversation.value.PersistentMap;
import java.time.Instant;
import java.util.List;
import java.util.Objects;
import java.util.Optional;

/** An agent's data besides the transcript: a todo list, a plan, and files that exist nowhere else. */
public record Workspace(List<Todo> todos, Optional<Plan> plan, PersistentMap<VirtualFile> files) {
    public static final Workspace EMPTY = new Workspace(List.of(), Optional.empty(), PersistentMap.empty());

    public Workspace {
        todos = todos == null ? List.of() : List.copyOf(todos);
        files = files == null ? PersistentMap.empty() : files;
    }

    @JsonIgnore
    public boolean isEmpty() {
        return equals(EMPTY);
    }

    public Workspace withTodos(List<Todo> others) {
        return new Workspace(others, plan, files);
    }

    public Workspace withPlan(Plan other) {
        return new Workspace(todos, Optional.of(other), files);
    }

    public Workspace withFile(String path, VirtualFile file) {
        return new Workspace(todos, plan, files.with(path, file));
    }

    /** A task in the todo list. */
    public record Todo(String id, String content, String status) {
        public static final List<String> STATUSES = List.of("pending", "in_progress", "completed", "cancelled");

        public Todo {
            Objects.requireNonNull(id, "id");
            Objects.requireNonNull(content, "content");
            Objects.requireNonNull(status, "status");
        }
    }

    /** A goal and the steps towards it. */
    public record Plan(String goal, List<PlanStep> steps) {
        public Plan {
            goal = goal == null ? "" : goal;
            steps = steps == null ? List.of() : List.copyOf(steps);
        }
    }

    public record PlanStep(String id, String description, String status) {
        public static final List<String> STATUSES = List.of("pending", "in_progress", "blocked", "done");

        public PlanStep {
            Objects.requireNonNull(id, "id");
            Objects.requireNonNull(description, "description");
            Objects.requireNonNull(status, "status");
        }
    }

    /** A file in the thread's state. */
    public record VirtualFile(String content, Instant createdAt, Instant modifiedAt) {
        public VirtualFile {
            Objects.requireNonNull(content, "content");
            Objects.requireNonNull(createdAt, "createdAt");
            Objects.requireNonNull(modifiedAt, "modifiedAt");
        }
    }
}
