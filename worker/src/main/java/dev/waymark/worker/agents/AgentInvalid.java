package dev.waymark.worker.agents;

import dev.waymark.worker.yaml.YamlProblem;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.Stream;

/**
 * Thrown for an agent file that a worker rejects. The message starts with the place of the first problem:
 * {@code FILE:LINE: FIELD: …}.
 */
public final class AgentInvalid extends Exception {

    private static final long serialVersionUID = 1L;

    private final transient List<String> others;
    private final String file;
    private final int line;
    private final String field;
    private final boolean isOfSkills;

    AgentInvalid(YamlProblem first) {
        super(first.getMessage());
        this.file = first.file();
        this.line = first.line();
        this.field = first.field();
        this.isOfSkills = Stream.concat(Stream.of(first), first.others().stream())
                .anyMatch(each -> each.field().startsWith("skills["));
        this.others = first.others().stream()
                .map(each -> String.valueOf(each.getMessage()))
                .toList();
    }

    /** Returns the other problems, in this file and in others, each with its place. */
    public List<String> others() {
        return others;
    }

    /** Returns the name that the file gives its agent, if it can be read, or else the file's name without suffix. */
    public String agent() {
        return AgentFile.Names.in(Path.of(file)).agent();
    }

    /** Whether a problem may be in the files of a skill, and not in the agent file. */
    boolean isOfSkills() {
        return isOfSkills;
    }

    /** Returns the path of the agent file with the first problem. */
    public String file() {
        return file;
    }

    /** Returns the line of the first problem, counted from 1. */
    public int line() {
        return line;
    }

    /** Returns the field with the first problem, such as {@code tools[1].timeout}; empty for the whole file. */
    public String field() {
        return field;
    }
}
