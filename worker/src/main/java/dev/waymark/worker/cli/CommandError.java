package dev.waymark.worker.cli;

import dev.waymark.connect.ServerUnreachable;
import dev.waymark.connect.UnsupportedSetting;
import dev.waymark.worker.agents.AgentInvalid;
import io.grpc.Status;
import io.grpc.StatusRuntimeException;
import java.net.BindException;
import java.nio.file.NoSuchFileException;
import java.util.Optional;

/**
 * What went wrong, in the words and with the exit code of the command line: {@code waymark: WHAT: VALUE. REMEDY}.
 *
 * @param type the name by which programs know it
 */
record CommandError(int exitCode, String type, String message, String remedy) {

    static final String BAD_INPUT = "BadInput";
    static final String NOT_FOUND = "NotFound";

    /** Thrown where the words are known on the spot. */
    static final class Thrown extends Exception {
        private final CommandError complaint;

        Thrown(int exitCode, String type, String message, String remedy) {
            super(message);
            this.complaint = new CommandError(exitCode, type, message, remedy);
        }
    }

    static CommandError of(Throwable problem) {
        if (problem instanceof Thrown thrown) {
            return thrown.complaint;
        }
        String words = Optional.ofNullable(problem.getMessage())
                .orElse(problem.getClass().getSimpleName());
        if (problem instanceof AgentInvalid) {
            return new CommandError(ExitCodes.BAD_INPUT, "AgentInvalid", "invalid agent: " + words, "");
        }
        if (problem instanceof UnsupportedSetting) {
            return new CommandError(ExitCodes.BAD_INPUT, BAD_INPUT, words, UnsupportedSetting.remedy());
        }
        if (problem instanceof BindException) {
            return new CommandError(
                    ExitCodes.BAD_INPUT,
                    "PortInUse",
                    "port: " + words,
                    "Stop what uses it, or choose others with --port and --ui-port");
        }
        if (problem instanceof NoSuchFileException) {
            return new CommandError(ExitCodes.NOT_FOUND, NOT_FOUND, "not found: " + words, "");
        }
        if (problem instanceof ServerUnreachable) {
            return unreachable(words);
        }
        if (problem instanceof StatusRuntimeException status) {
            Status.Code code = status.getStatus().getCode();
            if (code == Status.Code.UNAVAILABLE || code == Status.Code.DEADLINE_EXCEEDED) {
                return unreachable("the Temporal server does not answer any more: " + code);
            }
            if (code == Status.Code.NOT_FOUND) {
                return new CommandError(
                        ExitCodes.NOT_FOUND,
                        NOT_FOUND,
                        "not found on the server: " + status.getStatus().getDescription(),
                        "TEMPORAL_NAMESPACE names the namespace");
            }
        }
        return new CommandError(
                ExitCodes.FAILED,
                "Unexpected",
                "unexpected " + problem.getClass().getSimpleName() + ": " + words,
                "Add --verbose to see where");
    }

    /** On one line, whatever is in it. */
    String line() {
        String what = oneLine(message);
        return "waymark: " + what + (remedy.isEmpty() ? "" : (what.matches(".*[.!?…]") ? " " : ". ") + remedy);
    }

    static String oneLine(String text) {
        return text.strip().replaceAll("\\s*\\R\\s*", " ").replaceAll("\\p{Cntrl}", "\uFFFD");
    }

    private static CommandError unreachable(String words) {
        return new CommandError(
                ExitCodes.SERVER_UNREACHABLE,
                "ServerUnreachable",
                words,
                "Start one with: waymark dev, or set TEMPORAL_ADDRESS");
    }
}
