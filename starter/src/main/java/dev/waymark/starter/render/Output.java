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
import java.io.UncheckedIOException;
import java.util.function.Consumer;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Spec;

/** Where a command's results go, and in which shape. Results go to stdout, everything else to stderr. */
public final class Output {
    public static final String JSON = "--json";
    public static final String VERBOSE = "--verbose";

    private static final String BEGINNING_OF_LINE = "\r";
    private static final String REST_OF_LINE_GONE = "\u001b[K";
    /** That of a terminal nobody has widened. On a longer one there would be more to take back than a line. */
    private static final int SHORTEST_LINE = 78;

    private boolean passing;

    @Option(names = JSON, description = "Print one JSON document; watch and save --follow: one object a line.")
    private boolean json;

    @Option(names = VERBOSE, description = "Add the stack trace to an error.")
    private boolean verbose;

    @Spec(Spec.Target.MIXEE)
    private CommandSpec command;

    public boolean isJson() {
        return json;
    }

    /** A result, for people. */
    public void line(String text) {
        out().println(takeBack() + SafeText.lines(text));
    }

    /** A text of the thread's, as it is for a pipe, and safe to show on a terminal. */
    public void raw(String text) {
        out().print(takeBack() + (isTerminal() ? SafeText.lines(text) : text));
        if (!text.endsWith("\n")) {
            out().println();
        }
    }

    /** Somebody sits before it. Elsewhere, nothing that was printed can be taken back. */
    public boolean isTerminal() {
        return Terminals.isInteractive();
    }

    /** Something on a terminal that the next words replace: the end of it, as much as fits on the line. */
    public void passing(String text) {
        String line = SafeText.line(text);
        out().print(takeBack() + line.substring(Math.max(0, line.length() - SHORTEST_LINE)));
        out().flush();
        passing = true;
    }

    /** Something on a terminal that happened meanwhile, and is not a result. */
    public void step(String text) {
        out().print(takeBack());
        out().flush();
        note(text);
    }

    private String takeBack() {
        String back = passing ? BEGINNING_OF_LINE + REST_OF_LINE_GONE : "";
        passing = false;
        return back;
    }

    /** A result, for programs. */
    public void document(JsonNode document) {
        out().println(spell(document));
    }

    /** A result for people that is JSON anyway. */
    public void pretty(JsonNode document) {
        out().println(json ? spell(document) : document.toPrettyString());
    }

    /** One document, a list, of which no more is in memory than an item: all versions of a thread can be large. */
    public void list(Consumer<Consumer<Json>> items) {
        try (JsonGenerator generator = PayloadJson.MAPPER.createGenerator(out())) {
            generator.disable(JsonGenerator.Feature.AUTO_CLOSE_TARGET);
            if (!json) {
                generator.useDefaultPrettyPrinter();
            }
            generator.writeStartArray();
            items.accept(item -> write(generator, item));
            generator.writeEndArray();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
        out().println();
    }

    private static void write(JsonGenerator generator, Json item) {
        try {
            generator.writePOJO(item);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** Something that is not a result. */
    public void note(String text) {
        command.commandLine().getErr().println(SafeText.lines(text));
    }

    /** Nobody reads any more. */
    public boolean isBroken() {
        return out().checkError();
    }

    private PrintWriter out() {
        return command.commandLine().getOut();
    }

    public static String spell(JsonNode document) {
        try {
            return PayloadJson.MAPPER.writeValueAsString(document);
        } catch (JsonProcessingException e) {
            throw new IllegalStateException("a document that can't be written", e);
        }
    }
}
