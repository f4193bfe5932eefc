package dev.waymark.worker.agents;

/** An agent file that a worker refuses, with the place of the first thing that is wrong: {@code FILE:LINE: FIELD: …}. */
public final class AgentInvalid extends Exception {

    private final String file;
    private final int line;
    private final String field;

    AgentInvalid(String file, int line, String field, String message) {
        super(message);
        this.file = file;
        this.line = line;
        this.field = field;
    }

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
