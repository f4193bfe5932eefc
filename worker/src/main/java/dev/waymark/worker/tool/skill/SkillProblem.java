package dev.waymark.worker.tool.skill;

/** A skill, or a file of it, cannot be read. The message is for the model and for operators. */
final class SkillProblem extends Exception {
    private static final long serialVersionUID = 1L;

    SkillProblem(String words) {
        super(words);
    }

    String words() {
        return String.valueOf(getMessage());
    }
}
