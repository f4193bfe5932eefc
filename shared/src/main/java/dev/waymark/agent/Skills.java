package dev.waymark.agent;

import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.stream.Collectors;

/**
 * The skills of an agent, as a thread recorded them when it began, and the tool that reads them.
 *
 * @param folders the folders that were searched, as the agent names them
 * @param found the skills in them; empty until a worker has read them
 */
public record Skills(List<String> folders, List<Skill> found) implements ToolImplementation {
    /** The name of the tool. It is reserved only for agents that have skills. */
    public static final String READ_TOOL = "read_skill";

    private static final String GAP = "\n\n";

    public Skills {
        folders = List.copyOf(folders);
        found = found == null ? List.of() : List.copyOf(found);
    }

    /**
     * A skill, as it was when the thread began.
     *
     * @param description one line, as the worker has read it
     * @param folder its folder, relative to the directory of the agent files unless it is absolute
     * @param digest the digest of all files of the skill
     */
    public record Skill(String name, String description, String folder, String digest) {
        public Skill {
            Objects.requireNonNull(name, "name");
            Objects.requireNonNull(description, "description");
            Objects.requireNonNull(folder, "folder");
            Objects.requireNonNull(digest, "digest");
        }
    }

    /** The skill with this name. */
    public Optional<Skill> find(String name) {
        return found.stream().filter(skill -> skill.name().equals(name)).findFirst();
    }

    /** Returns the instructions of an agent with these skills at their end. */
    Optional<String> addedTo(Optional<String> instructions) {
        return found.isEmpty()
                ? instructions
                : Optional.of(instructions.map(words -> words + GAP).orElse("") + told());
    }

    /** Returns the instructions without these skills at their end. */
    Optional<String> removedFrom(Optional<String> instructions) {
        return instructions
                .filter(words -> !words.equals(told()))
                .map(words -> words.endsWith(GAP + told())
                        ? words.substring(0, words.length() - GAP.length() - told().length())
                        : words);
    }

    private String told() {
        return found.stream()
                .map(skill -> "\n- " + skill.name() + ": " + skill.description())
                .collect(Collectors.joining(
                        "",
                        "# Skills\n\nA skill says how to do a certain kind of task. Before you do such a task, read"
                                + " the skill with " + READ_TOOL + ", and then those of its other files that you need."
                                + " These are your skills, and when to use them:\n",
                        "\n"));
    }

    @Override
    public ToolSpec.Kind kind() {
        return ToolSpec.Kind.SKILL;
    }

    @Override
    public <R> R accept(Cases<R> cases) {
        return cases.skills(this);
    }
}
