package dev.waymark.cli;

import com.fasterxml.jackson.core.JsonProcessingException;
import dev.waymark.contract.PayloadJson;
import dev.waymark.display.SafeText;
import dev.waymark.display.Suggestion;
import java.io.PrintWriter;
import java.util.List;
import java.util.Set;
import java.util.function.Function;
import java.util.function.Supplier;
import java.util.stream.Stream;
import picocli.CommandLine;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.UnmatchedArgumentException;

/**
 * Prints each failure to stderr: one line, and one more for each further problem. With {@code --verbose}, it also
 * prints the stack trace; with {@code --json}, it also prints a document to stdout.
 */
public final class ErrorRenderer {
    private static final String JSON = "--json";
    private static final String VERBOSE = "--verbose";

    /** Converts exceptions of commands to errors. */
    private final Function<Exception, CommandError> words;

    /** The commands that are suggested for a mistyped name. */
    private final Supplier<Set<String>> known;

    private ErrorRenderer(Function<Exception, CommandError> words, Supplier<Set<String>> known) {
        this.words = words;
        this.known = known;
    }

    /**
     * Makes a command line report all failures in the form of this class.
     *
     * @param known supplies the names of all commands, also of those that the command line has not loaded; called only
     *     after a mistake
     */
    public static CommandLine install(
            CommandLine commands, Supplier<Set<String>> known, Function<Exception, CommandError> words) {
        ErrorRenderer renderer = new ErrorRenderer(words, known);
        return commands.setParameterExceptionHandler((problem, args) ->
                        report(problem.getCommandLine(), renderer.misuse(problem), problem, List.of(args)))
                .setExecutionExceptionHandler((problem, command, parsed) ->
                        report(command, renderer.words.apply(problem), problem, parsed.originalArgs()));
    }

    private CommandError misuse(ParameterException problem) {
        CommandLine command = problem.getCommandLine();
        String help = "Try: " + CommandName.get()
                + command.getCommandSpec().qualifiedName().replaceFirst("^\\S+", "") + " --help";
        if (problem instanceof UnmatchedArgumentException unmatched
                && !unmatched.getUnmatched().isEmpty()) {
            String word = unmatched.getUnmatched().get(0);
            boolean isCommand = command.getParent() == null && !unmatched.isUnknownOption();
            String meant = isCommand
                    ? Suggestion.question(word, known.get())
                    : unmatched.isUnknownOption() ? Suggestion.question(word, options(command.getCommandSpec())) : "";
            String message = isCommand
                    ? "no such command: " + word
                    : unmatched.isUnknownOption()
                            ? String.valueOf(problem.getMessage())
                            : "unexpected argument: " + word;
            return CommandError.badInput(message, meant.isEmpty() ? help : meant + " " + help);
        }
        return CommandError.badInput(String.valueOf(problem.getMessage()), help);
    }

    private static List<String> options(CommandSpec command) {
        return command.options().stream()
                .flatMap(option -> Stream.of(option.names()))
                .toList();
    }

    private static int report(CommandLine command, CommandError error, Exception problem, List<String> args) {
        PrintWriter err = command.getErr();
        error.lines().forEach(err::println);
        if (args.contains(VERBOSE)) {
            problem.printStackTrace(err);
        }
        err.flush();
        if (args.contains(JSON)) {
            boolean isMisuse = problem instanceof ParameterException;
            command.getOut().println(document(isMisuse ? error.withoutRemedy() : error));
            command.getOut().flush();
        }
        return error.exitCode();
    }

    private static String document(CommandError error) {
        try {
            return SafeText.lines(PayloadJson.MAPPER.writeValueAsString(error.document()));
        } catch (JsonProcessingException e) {
            throw new IllegalStateException("cannot write the string as JSON", e);
        }
    }
}
