package dev.waymark.worker.yaml;

/** Something wrong in a file that a person wrote, and where: {@code FILE:LINE: FIELD: WORDS}. Lines count from 1. */
public final class YamlProblem extends Exception {

    private final String file;
    private final int line;
    private final String field;

    /** @param field empty when it concerns the whole file */
    public YamlProblem(String file, int line, String field, String words) {
        super(file + ":" + line + ": " + (field.isEmpty() ? "" : field + ": ") + words);
        this.file = file;
        this.line = line;
        this.field = field;
    }

    public String file() {
        return file;
    }

    public int line() {
        return line;
    }

    public String field() {
        return field;
    }
}
