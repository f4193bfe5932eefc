package dev.waymark.conversation.rule;

import static dev.waymark.conversation.rule.ToolConversationScript.replied;
import static org.assertj.core.api.Assertions.assertThat;

import dev.waymark.conversation.Step;
import dev.waymark.conversation.call.Call;
import dev.waymark.conversation.fact.Fact;
import dev.waymark.conversation.fact.PersonFact;
import dev.waymark.conversation.message.Part;
import dev.waymark.conversation.state.Workspace;
import dev.waymark.conversation.value.Json;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class StateToolsTest {
    private static final Workspace.VirtualFile OLD = new Workspace.VirtualFile(
            "one two two", ConversationScript.START.minusSeconds(9), ConversationScript.START.minusSeconds(9));
    private static final Workspace WITH_FILE = Workspace.EMPTY.withFile("notes/a.txt", OLD);

    @Test
    void calls_ofStateTools_runAtOnceInOrder() {
        ConversationScript story = replied(
                use("a", "write_file", Map.of("path", "x", "content", "é")),
                use("b", "write_file", Map.of("path", "x", "content", "ü")),
                use("c", "write_todos", Map.of("todos", List.of())),
                use("d", "write_file", Map.of("path", "", "content", "")));

        assertThat(story.decides()).containsExactly(new Step.CallModel(2));
        assertThat(List.of("a", "b", "c", "d"))
                .extracting(id -> story.call(id).status())
                .containsExactly(
                        Call.Status.COMPLETED, Call.Status.COMPLETED, Call.Status.COMPLETED, Call.Status.FAILED);
        assertThat(story.call("a").result()).contains("Wrote x.");
        assertThat(story.call("b").result()).contains("Replaced x.");
        assertThat(story.state().workspace().files().get("x"))
                .contains(new Workspace.VirtualFile(
                        "ü", story.state().updatedAt(), story.state().updatedAt()));
        assertThat(story.state().counters().versions()).isEqualTo(1);
    }

    @Test
    void workspace_isDeletedWithTheConversation() {
        ConversationScript story = replied(use("a", "write_file", Map.of("path", "x", "content", "1")))
                .with(new PersonFact.Cleared(false, Optional.empty()));

        assertThat(story.state().callBook().workspace()).isEmpty();
    }

    @Test
    void workspace_isKeptWhenMessagesAreReplaced() {
        Fact replaced = new PersonFact.UserSpoke(
                Optional.empty(), Optional.of(List.of()), Optional.empty(), false, Optional.empty());
        ConversationScript story = replied(use("a", "write_file", Map.of("path", "x", "content", "1")));
        Workspace before = story.state().workspace();

        assertThat(before.files().get("x")).isPresent();
        assertThat(story.with(replaced).state().workspace()).isEqualTo(before);
        assertThat(story.state().transcript().isEmpty()).isTrue();
    }

    @Test
    void todos_areReplacedAsAWhole() {
        StateTools.Outcome outcome = run(
                Workspace.EMPTY.withTodos(List.of(new Workspace.Todo("9", "old", "pending"))),
                "write_todos",
                Map.of("todos", List.of(item("1", "completed"), item("2", "in_progress"))));

        assertThat(outcome)
                .isEqualTo(new StateTools.Outcome(
                        Workspace.EMPTY.withTodos(List.of(
                                new Workspace.Todo("1", "do 1", "completed"),
                                new Workspace.Todo("2", "do 2", "in_progress"))),
                        "Todos written: 2, 1 of them open.",
                        false));
    }

    @Test
    void plan_isReplacedAsAWhole() {
        Map<String, Object> step = Map.of("id", "1", "description", "go", "status", "done");
        StateTools.Outcome outcome = run(Workspace.EMPTY, "write_plan", Map.of("goal", "home", "steps", List.of(step)));

        assertThat(outcome)
                .isEqualTo(new StateTools.Outcome(
                        Workspace.EMPTY.withPlan(
                                new Workspace.Plan("home", List.of(new Workspace.PlanStep("1", "go", "done")))),
                        "Plan written: 1 steps, 0 of them left.",
                        false));
    }

    @Test
    void edit_ofUniqueText_keepsTheCreationTime() {
        StateTools.Outcome outcome =
                run(WITH_FILE, "edit_file", Map.of("path", "notes/a.txt", "old", "one", "new", "1"));

        assertThat(outcome)
                .isEqualTo(new StateTools.Outcome(
                        WITH_FILE.withFile(
                                "notes/a.txt",
                                new Workspace.VirtualFile("1 two two", OLD.createdAt(), ConversationScript.START)),
                        "Edited notes/a.txt.",
                        false));
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "two   | the old text is in notes/a.txt more than once; give more of what is around it",
                "three | the old text is not in notes/a.txt",
                "''    | the old text is not in notes/a.txt",
            })
    void edit_ofMissingOrRepeatedText_isAnError(String old, String why) {
        assertThat(run(WITH_FILE, "edit_file", Map.of("path", "notes/a.txt", "old", old, "new", "x")))
                .isEqualTo(new StateTools.Outcome(WITH_FILE, "Tool error: " + why, true));
    }

    @Test
    void files_areReadAndListedByFolder() {
        Workspace two = WITH_FILE.withFile("notes-b", OLD);

        assertThat(run(two, "read_file", Map.of("path", "notes/a.txt")).text()).isEqualTo("one two two");
        assertThat(run(two, "read_file", Map.of("path", "b")))
                .isEqualTo(new StateTools.Outcome(two, "Tool error: no such file: b", true));
        assertThat(run(two, "ls", Map.of()).text()).isEqualTo("notes-b\nnotes/a.txt");
        assertThat(run(two, "ls", Map.of("path", "notes")).text()).isEqualTo("notes/a.txt");
        assertThat(run(two, "ls", Map.of("path", "notes-b")).text()).isEqualTo("notes-b");
        assertThat(run(two, "ls", Map.of("path", "other")).text()).isEqualTo("No files.");
    }

    @Test
    void arguments_ofTheWrongShape_areNamed() {
        assertThat(run(Workspace.EMPTY, "write_todos", Map.of()).text())
                .isEqualTo("Invalid input for tool \"write_todos\": \"todos\" is required and must be a list");
        assertThat(run(Workspace.EMPTY, "write_todos", Map.of("todos", List.of(5)))
                        .text())
                .isEqualTo("Invalid input for tool \"write_todos\": \"todos\" must be a list of objects");
        assertThat(run(Workspace.EMPTY, "write_todos", Map.of("todos", List.of(item("1", "maybe"))))
                        .text())
                .isEqualTo("Invalid input for tool \"write_todos\": \"status\" must be one of pending, in_progress,"
                        + " completed, cancelled");
        assertThat(run(
                                Workspace.EMPTY,
                                "write_todos",
                                Map.of("todos", List.of(item("1", "pending"), item("1", "pending"))))
                        .text())
                .isEqualTo("Invalid input for tool \"write_todos\": two items have the id 1");
        assertThat(run(Workspace.EMPTY, "write_file", Map.of("path", "", "content", ""))
                        .text())
                .isEqualTo("Invalid input for tool \"write_file\": \"path\" must have 1 to 1024 characters");
        assertThat(run(Workspace.EMPTY, "fly", Map.of()).isError()).isTrue();
    }

    @Test
    void workspace_thatWouldBeTooLarge_isUnchanged() {
        List<Object> many = new ArrayList<>();
        for (int i = 0; i <= StateTools.MAX_ITEMS; i++) {
            many.add(item("" + i, "pending"));
        }
        assertThat(run(WITH_FILE, "write_todos", Map.of("todos", many)).workspace())
                .isEqualTo(WITH_FILE);
        assertThat(run(
                                WITH_FILE,
                                "write_file",
                                Map.of("path", "b", "content", "x".repeat(StateTools.MAX_FILE_LENGTH + 1)))
                        .workspace())
                .isEqualTo(WITH_FILE);

        Workspace full = Workspace.EMPTY;
        for (int i = 0; i < 4; i++) {
            full = run(full, "write_file", Map.of("path", "f" + i, "content", "x".repeat(StateTools.MAX_FILE_LENGTH)))
                    .workspace();
        }
        assertThat(run(full, "write_file", Map.of("path", "one-more", "content", "x")))
                .isEqualTo(new StateTools.Outcome(
                        full, "Tool error: all files together would be 1048577 characters, of at most 1048576", true));
    }

    private static Part.ToolUse use(String id, String tool, Map<String, Object> args) {
        return new Part.ToolUse(id, tool, Json.of(args));
    }

    private static Map<String, Object> item(String id, String status) {
        return Map.of("id", id, "content", "do " + id, "status", status);
    }

    private static StateTools.Outcome run(Workspace before, String tool, Map<String, Object> args) {
        return StateTools.run(before, tool, Json.of(args), ConversationScript.START);
    }
}
