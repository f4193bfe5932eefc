package dev.waymark.cli;

import dev.waymark.conversation.value.ProblemType;
import dev.waymark.display.SafeText;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.stream.Stream;

/**
 * A failure, as a command reports it: {@code waymark: WHAT: VALUE. REMEDY}.
 *
 * @param type identifies the failure for programs
 * @param remedy what to do about it; may be empty
 * @param thread the thread that continues although the command has failed, if any
 * @param details further problems, each shown on its own line
 */
public record CommandError(
        int exitCode, String type, String message, String remedy, Optional<String> thread, List<String> details) {

    public CommandError(int exitCode, String type, String message, String remedy) {
        this(exitCode, type, message, remedy, Optional.empty(), List.of());
    }

    public static CommandError badInput(String message, String remedy) {
        return new CommandError(ExitCode.BAD_INPUT, ProblemType.BAD_INPUT, message, remedy);
    }

    /** A bug, or an unforeseen failure. */
    public static CommandError unexpected(Throwable problem) {
        return new CommandError(
                ExitCode.FAILED,
                ProblemType.UNEXPECTED,
                "unexpected " + problem.getClass().getSimpleName() + ": " + problem.getMessage(),
                "Add --verbose for the stack trace");
    }

    /** A copy that names the thread that continues although the command has failed. */
    public CommandError about(Optional<String> id) {
        return new CommandError(exitCode, type, message, remedy, id, details);
    }

    /** A copy with these further problems. */
    public CommandError with(List<String> more) {
        return new CommandError(exitCode, type, message, remedy, thread, more);
    }

    /** A copy without the remedy, for programs, which do not need hints. */
    CommandError withoutRemedy() {
        return new CommandError(exitCode, type, message, "", thread, details);
    }

    /** The failure on one line. */
    public String line() {
        return "waymark: " + words();
    }

    /** The failure on one line, and each further problem on a line of its own. */
    public List<String> lines() {
        return Stream.concat(Stream.of(line()), details.stream().map(detail -> "  " + SafeText.line(detail)))
                .toList();
    }

    private String words() {
        String what = SafeText.line(message);
        if (remedy.isEmpty()) {
            return what;
        }
        boolean isSentence = !what.isEmpty() && ".!?…".indexOf(what.charAt(what.length() - 1)) >= 0;
        return what + (isSentence ? " " : ". ") + SafeText.line(remedy);
    }

    /** The failure as a JSON document. */
    public Map<String, Object> document() {
        Map<String, Object> error = new LinkedHashMap<>();
        error.put("type", type);
        error.put("message", words());
        if (!details.isEmpty()) {
            error.put("details", details);
        }
        Map<String, Object> document = new LinkedHashMap<>();
        document.put("error", error);
        thread.ifPresent(id -> document.put("thread", id));
        return document;
    }
}
