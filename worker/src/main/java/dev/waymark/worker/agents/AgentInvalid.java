package dev.waymark.worker.agents;

import dev.waymark.worker.yaml.YamlProblem;
import java.nio.file.Path;
import java.util.List;

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

    AgentInvalid(YamlProblem first) {
        super(first.getMessage());
        this.file = first.file();
        this.line = first.line();
        this.field = first.field();
        this.others = first.others().stream()
                .map(each -> String.valueOf(each.getMessage()))
                .toList();
    }

    /** The other problems, in this file and in others, each with its place. */
    public List<String> others() {
        return others;
    }

    /** The name of the agent that the file defines, if it can be read, or else the name of the file. */
    public String agent() {
        return AgentFile.Names.in(Path.of(file)).agent();
    }

    /** The agent file that is invalid. */
    public String file() {
        return file;
    }

    /** Counted from 1. */
    public int line() {
        return line;
    }

    /** The field's path, such as {@code tools[1].timeout}; empty for the whole file. */
    public String field() {
        return field;
    }
}
