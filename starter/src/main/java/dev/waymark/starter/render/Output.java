package dev.waymark.starter.render;

import com.fasterxml.jackson.core.JsonGenerator;
import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.JsonNode;
import dev.waymark.contract.PayloadJson;
import dev.waymark.conversation.value.Json;
import dev.waymark.display.SafeText;
import dev.waymark.starter.terminal.Terminals;
import java.io.IOException;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.io.UncheckedIOException;
import java.util.function.Consumer;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Spec;

/** Prints a command's results to stdout, and everything else to stderr. */
public final class Output {
    public static final String JSON = "--json";
    public static final String VERBOSE = "--verbose";
    public static final String VERBOSE_HELP = "Print more to stderr, such as the stack trace of an error.";

    private static final String BEGINNING_OF_LINE = "\r";
    private static final String REST_OF_LINE_GONE = "\u001b[K";
    /** Fits into the default width of a terminal. Text that wraps could not be erased as one line. */
    private static final int SHORTEST_LINE = 78;

    private boolean passing;

    @Option(names = JSON, description = "Print one JSON document; watch and save --follow print one object per line.")
    private boolean json;

    @Option(names = VERBOSE, description = VERBOSE_HELP)
    private boolean verbose;

    @Spec(Spec.Target.MIXEE)
    private CommandSpec command;

    /** The output of a command that does not print JSON. */
    public static Output forPeople(CommandSpec command) {
        Output output = new Output();
        output.command = command;
        return output;
    }

    public boolean isJson() {
        return json;
    }

    public boolean isVerbose() {
        return verbose;
    }

    /** Prints a result for people. */
    public void line(String text) {
        out().println(eraseTemporaryText() + SafeText.lines(text));
    }

    /** Prints text from the thread: unchanged into a pipe, made safe on a terminal. */
    public void raw(String text) {
        out().print(eraseTemporaryText() + (Terminals.isOutput() ? SafeText.lines(text) : text));
        if (!text.endsWith("\n")) {
            out().println();
        }
    }

    /** Whether a person reads the output at a terminal. Only there can printed text be replaced. */
    public boolean isTerminal() {
        return Terminals.isInteractive();
    }

    /** Whether a person at a terminal reads the output, and not a program. */
    public boolean isForAPerson() {
        return isTerminal() && !isJson();
    }

    /** Returns how to print notes before a question; a person sees them even if stderr is redirected. */
    public Consumer<String> notes(boolean asked) {
        return asked ? Terminals::tell : this::note;
    }

    /**
     * Prints temporary text on a terminal, which the next output replaces. Prints only as much of the end of the text
     * as fits on the line.
     */
    public void passing(String text) {
        String line = SafeText.line(text);
        out().print(eraseTemporaryText() + line.substring(Math.max(0, line.length() - SHORTEST_LINE)));
        out().flush();
        passing = true;
    }

    /** Prints an event, which is not a result, in place of the temporary text. */
    public void step(String text) {
        out().print(eraseTemporaryText());
        out().flush();
        note(text);
    }

    private String eraseTemporaryText() {
        String back = passing ? BEGINNING_OF_LINE + REST_OF_LINE_GONE : "";
        passing = false;
        return back;
    }

    /** Prints a result for programs. */
    public void document(Object document) {
        out().println(shown(spell(document)));
    }

    /** Prints a result that is JSON for people too. */
    public void pretty(JsonNode document) {
        out().println(shown(json ? spell(document) : document.toPrettyString()));
    }

    /**
     * Makes a JSON document safe on a terminal, wherever it is printed to: escaped characters are the same JSON. Line
     * breaks and tabs stay, because JSON has them only between its tokens.
     */
    private static String shown(String document) {
        return SafeText.lines(document);
    }

    /** Prints a list as one document, item by item, because all versions of a thread may not fit into memory. */
    public void list(Consumer<Consumer<Json>> items) {
        StringWriter text = new StringWriter();
        try (JsonGenerator generator = PayloadJson.MAPPER.createGenerator(text)) {
            if (!json) {
                generator.useDefaultPrettyPrinter();
            }
            generator.writeStartArray();
            items.accept(item -> {
                write(generator, item);
                out().print(shown(text.toString()));
                text.getBuffer().setLength(0);
            });
            generator.writeEndArray();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
        out().println(text);
    }

    private static void write(JsonGenerator generator, Json item) {
        try {
            generator.writePOJO(item);
            generator.flush();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** Prints something that is not a result, to stderr. */
    public void note(String text) {
        command.commandLine().getErr().println(SafeText.lines(text));
    }

    /** Whether results can no longer be written, for example because their reader has closed the pipe. */
    public boolean isBroken() {
        return out().checkError();
    }

    private PrintWriter out() {
        return command.commandLine().getOut();
    }

    public static String spell(Object document) {
        try {
            return PayloadJson.MAPPER.writeValueAsString(document);
        } catch (JsonProcessingException e) {
            throw new IllegalStateException("a document can't be encoded", e);
        }
    }
}
