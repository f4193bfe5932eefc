package dev.waymark.conversation.state;

import com.fasterxml.jackson.annotation.JsonCreator;
import com.fasterxml.jackson.annotation.JsonIgnore;
import com.fasterxml.jackson.annotation.JsonIgnoreProperties;
import com.fasterxml.jackson.annotation.JsonInclude;
import com.fasterxml.jackson.annotation.JsonProperty;
import dev.waymark.conversation.value.PersistentMap;
import java.time.Instant;
import java.util.List;
import java.util.Objects;
import java.util.Optional;

/** An agent's data besides the transcript: a todo list, a plan, and files that exist nowhere else. */
@JsonIgnoreProperties(ignoreUnknown = true)
@JsonInclude(JsonInclude.Include.NON_ABSENT)
public record Workspace(
        @JsonProperty("todos") List<Todo> todos,
        @JsonProperty("plan") Optional<Plan> plan,
        @JsonProperty("files") PersistentMap<VirtualFile> files) {
    public static final Workspace EMPTY = new Workspace(List.of(), Optional.empty(), PersistentMap.empty());

    @JsonCreator
    public Workspace {
        todos = todos == null ? List.of() : List.copyOf(todos);
        plan = plan == null ? Optional.empty() : plan;
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
    @JsonIgnoreProperties(ignoreUnknown = true)
    public record Todo(
            @JsonProperty("id") String id,
            @JsonProperty("content") String content,
            @JsonProperty("status") String status) {
        public static final List<String> STATUSES = List.of("pending", "in_progress", "completed", "cancelled");

        @JsonCreator
        public Todo {
            Objects.requireNonNull(id, "id");
            Objects.requireNonNull(content, "content");
            Objects.requireNonNull(status, "status");
        }
    }

    /** A goal and the steps towards it. */
    @JsonIgnoreProperties(ignoreUnknown = true)
    public record Plan(
            @JsonProperty("goal") String goal,
            @JsonProperty("steps") List<PlanStep> steps) {
        @JsonCreator
        public Plan {
            goal = goal == null ? "" : goal;
            steps = steps == null ? List.of() : List.copyOf(steps);
        }
    }

    @JsonIgnoreProperties(ignoreUnknown = true)
    public record PlanStep(
            @JsonProperty("id") String id,
            @JsonProperty("description") String description,
            @JsonProperty("status") String status) {
        public static final List<String> STATUSES = List.of("pending", "in_progress", "blocked", "done");

        @JsonCreator
        public PlanStep {
            Objects.requireNonNull(id, "id");
            Objects.requireNonNull(description, "description");
            Objects.requireNonNull(status, "status");
        }
    }

    /** A file in the thread's state. */
    @JsonIgnoreProperties(ignoreUnknown = true)
    public record VirtualFile(
            @JsonProperty("content") String content,
            @JsonProperty("createdAt") Instant createdAt,
            @JsonProperty("modifiedAt") Instant modifiedAt) {
        @JsonCreator
        public VirtualFile {
            Objects.requireNonNull(content, "content");
            Objects.requireNonNull(createdAt, "createdAt");
            Objects.requireNonNull(modifiedAt, "modifiedAt");
        }
    }
}
