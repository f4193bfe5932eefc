package dev.waymark.worker.cli;

import com.fasterxml.jackson.annotation.JsonProperty;
import com.fasterxml.jackson.core.JsonProcessingException;
import dev.waymark.contract.PayloadJson;
import java.io.PrintWriter;
import java.util.List;
import java.util.Map;
import picocli.CommandLine;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.ParseResult;

/** One line on stderr for whatever goes wrong; with {@code --json} also a document on stdout. */
public final class ErrorRenderer {

    private ErrorRenderer() {}

    /** What picocli does not understand. */
    public static int usage(ParameterException problem, String[] args) {
        CommandLine command = problem.getCommandLine();
        CommandError complaint = new CommandError(
                ExitCodes.BAD_INPUT,
                CommandError.BAD_INPUT,
                String.valueOf(problem.getMessage()),
                "Try: " + command.getCommandSpec().qualifiedName() + " --help");
        return report(command, complaint, problem, List.of(args));
    }

    /** What a command throws. */
    public static int failure(Exception problem, CommandLine command, ParseResult parsed) {
        return report(command, CommandError.of(problem), problem, parsed.originalArgs());
    }

    private static int report(CommandLine command, CommandError complaint, Exception problem, List<String> args) {
        PrintWriter err = command.getErr();
        err.println(complaint.line());
        if (args.contains("--verbose")) {
            problem.printStackTrace(err);
        }
        err.flush();
        if (args.contains("--json")) {
            PrintWriter out = command.getOut();
            out.println(document(complaint));
            out.flush();
        }
        return complaint.exitCode();
    }

    private static String document(CommandError complaint) {
        try {
            return PayloadJson.MAPPER.writeValueAsString(
                    Map.of("error", new Error(complaint.type(), CommandError.oneLine(complaint.message()))));
        } catch (JsonProcessingException e) {
            throw new IllegalStateException("two strings are always JSON", e);
        }
    }

    private record Error(
            @JsonProperty("type") String type,
            @JsonProperty("message") String message) {}
}
