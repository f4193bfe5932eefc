package dev.waymark.worker.cli;

import com.fasterxml.jackson.annotation.JsonProperty;
import com.fasterxml.jackson.core.JsonProcessingException;
import dev.waymark.contract.Wire;
import java.io.PrintWriter;
import java.util.List;
import java.util.Map;
import picocli.CommandLine;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.ParseResult;

/** One line on stderr for whatever goes wrong; with {@code --json} also a document on stdout. */
public final class Errors {

    private Errors() {}

    /** What picocli does not understand. */
    public static int usage(ParameterException problem, String[] args) {
        CommandLine command = problem.getCommandLine();
        Complaint complaint = new Complaint(
                ExitCodes.BAD_INPUT,
                Complaint.BAD_INPUT,
                String.valueOf(problem.getMessage()),
                "Try: " + command.getCommandSpec().qualifiedName() + " --help");
        return report(command, complaint, problem, List.of(args));
    }

    /** What a command throws. */
    public static int failure(Exception problem, CommandLine command, ParseResult parsed) {
        return report(command, Complaint.of(problem), problem, parsed.originalArgs());
    }

    private static int report(CommandLine command, Complaint complaint, Exception problem, List<String> args) {
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

    private static String document(Complaint complaint) {
        try {
            return Wire.MAPPER.writeValueAsString(
                    Map.of("error", new Error(complaint.type(), Complaint.oneLine(complaint.message()))));
        } catch (JsonProcessingException e) {
            throw new IllegalStateException("two strings are always JSON", e);
        }
    }

    private record Error(
            @JsonProperty("type") String type,
            @JsonProperty("message") String message) {}
}
