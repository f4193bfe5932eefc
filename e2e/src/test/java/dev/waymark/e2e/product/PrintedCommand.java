package dev.waymark.e2e.product;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * A command that a document prints in an indented block, as readers would type it.
 *
 * <p>Comments before a block, which readers do not see, are instructions for the tests:
 *
 * <pre>{@code
 * <!-- run first: ./waymark run --agent assistant --thread trip "Book a table" -->
 * <!-- not run (needs a key) --> applies to the whole block
 * <!-- not run (runs this test): mvn --> applies to the commands in the block that begin with "mvn"
 * }</pre>
 *
 * <p>A block with prompts ({@code $}) has output between its commands. A block whose first line begins with {@code #}
 * is a script. A command with an ellipsis or a placeholder in capitals is a form that cannot be run.
 *
 * @param output the output printed after the command, if the block has prompts
 * @param notRun why a test cannot run the command; empty if it can
 */
public record PrintedCommand(
        String document, int line, String text, Kind kind, List<String> output, Optional<String> notRun) {
    /** The permitted reasons for commands that are not run. */
    public static final Set<String> REASONS = Set.of(
            "needs a key",
            "needs a network",
            "needs Docker",
            "needs a cluster",
            "needs a real server",
            "needs a release",
            "needs a fixed port",
            "takes many minutes",
            "needs an application of your own",
            "needs an agent of your own",
            "runs this test");

    private static final Pattern COMMENT = Pattern.compile("<!-- (run first: (.+)|not run \\((.+?)\\)(?:: (.+))?) -->");
    private static final Pattern PLACEHOLDER = Pattern.compile("…|(?<= )[A-Z]{2,}(?= |$)");
    private static final String INDENT = "    ";
    private static final String PROMPT = "$ ";
    private static final String CONTINUED = " \\";

    /** How a test treats the command. */
    public enum Kind {
        RUN,
        /** Hidden from readers, and run before the block. */
        SETUP,
        FORM,
        SCRIPT
    }

    /** Whether this runs {@code ./waymark}, possibly after assignments of variables. */
    public boolean isWaymark() {
        return text.contains("./waymark ");
    }

    /** The arguments after {@code ./waymark}, without comments, redirections, pipes and following commands. */
    public String arguments() {
        return text.replaceFirst(" +# .*", "")
                .replaceFirst("^[A-Z]+=\\$\\((.*)\\)$", "$1")
                .replaceFirst("^.*?\\./waymark ", "")
                .replaceFirst(" +(#|>|\\||&&) .*", "");
    }

    public String place() {
        return document + ":" + line;
    }

    private record Exception(String reason, Optional<String> beginning) {}

    /** All commands of a document, in order. */
    public static List<PrintedCommand> of(Path root, Path file) {
        List<String> lines;
        try {
            lines = new ArrayList<>(Files.readAllLines(file));
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
        lines.add("");
        String document = root.relativize(file).toString();
        List<PrintedCommand> commands = new ArrayList<>();
        List<Exception> exceptions = new ArrayList<>();
        boolean isFenced = false;
        int begin = -1;
        for (int i = 0; i < lines.size(); i++) {
            String line = lines.get(i);
            isFenced ^= line.startsWith("```");
            boolean isIndented = !isFenced && line.startsWith(INDENT);
            if (isIndented && begin < 0) {
                begin = i;
            } else if (!isIndented && begin >= 0) {
                commands.addAll(block(document, lines.subList(begin, i), begin + 1, exceptions));
                exceptions.clear();
                begin = -1;
            }
            Matcher comment = COMMENT.matcher(line);
            if (comment.matches() && comment.group(2) != null) {
                commands.add(
                        new PrintedCommand(document, i + 1, comment.group(2), Kind.SETUP, List.of(), Optional.empty()));
            } else if (comment.matches()) {
                exceptions.add(new Exception(comment.group(3), Optional.ofNullable(comment.group(4))));
            } else if (line.contains("<!-- run first") || line.contains("<!-- not run")) {
                throw new IllegalStateException(document + ":" + (i + 1) + ": not understood: " + line);
            }
        }
        if (!exceptions.isEmpty()) {
            throw new IllegalStateException(document + ": no block of commands follows: " + exceptions);
        }
        return commands;
    }

    private static List<PrintedCommand> block(
            String document, List<String> lines, int first, List<Exception> exceptions) {
        List<String> texts = new ArrayList<>();
        for (String line : lines) {
            String text = line.substring(INDENT.length());
            int last = texts.size() - 1;
            if (last >= 0 && texts.get(last).endsWith(CONTINUED)) {
                texts.set(last, texts.get(last).replace(CONTINUED, " ") + text.strip());
            } else {
                texts.add(text);
            }
        }
        if (texts.get(0).startsWith("# ")) {
            return List.of(new PrintedCommand(
                    document, first, String.join("\n", texts), Kind.SCRIPT, List.of(), Optional.empty()));
        }
        boolean hasPrompts = texts.stream().anyMatch(text -> text.startsWith(PROMPT));
        List<PrintedCommand> commands = new ArrayList<>();
        for (int i = 0; i < texts.size(); i++) {
            String text = texts.get(i);
            if (hasPrompts ? !text.startsWith(PROMPT) : text.startsWith("#")) {
                continue;
            }
            String command = hasPrompts ? text.substring(PROMPT.length()) : text;
            List<String> output = new ArrayList<>();
            for (int next = i + 1;
                    hasPrompts && next < texts.size() && !texts.get(next).startsWith(PROMPT);
                    next++) {
                output.add(texts.get(next));
            }
            Optional<String> notRun = exceptions.stream()
                    .filter(each -> each.beginning().map(command::startsWith).orElse(true))
                    .map(Exception::reason)
                    .findFirst();
            boolean isForm =
                    PLACEHOLDER.matcher(command.replaceFirst(" +# .*", "")).find();
            commands.add(new PrintedCommand(
                    document, first + i, command, isForm ? Kind.FORM : Kind.RUN, List.copyOf(output), notRun));
        }
        for (Exception each : exceptions) {
            boolean isUsed = each.beginning().isEmpty()
                    || commands.stream()
                            .anyMatch(command ->
                                    command.text().startsWith(each.beginning().get()));
            if (!isUsed) {
                throw new IllegalStateException(document + ":" + first + ": no command begins like this: " + each);
            }
        }
        return commands;
    }
}
