package dev.waymark.worker.cli;

import ch.qos.logback.classic.Level;
import ch.qos.logback.classic.Logger;
import com.fasterxml.jackson.core.JsonProcessingException;
import dev.waymark.contract.PayloadJson;
import dev.waymark.display.SafeText;
import java.io.PrintWriter;
import java.io.UncheckedIOException;
import org.slf4j.LoggerFactory;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Spec;

/** Prints results to stdout and everything else to stderr. */
final class OutputOptions {

    @Spec(Spec.Target.MIXEE)
    private CommandSpec command;

    @Option(names = "--json", description = "Print one JSON document.")
    private boolean json;

    @Option(names = "--verbose", description = "Print more to stderr, including stack traces.")
    private boolean verbose;

    boolean isJson() {
        return json;
    }

    boolean isVerbose() {
        return verbose;
    }

    void applyToLogging() {
        if (verbose) {
            ((Logger) LoggerFactory.getLogger(org.slf4j.Logger.ROOT_LOGGER_NAME)).setLevel(Level.INFO);
        }
    }

    void print(String line) {
        print(command.commandLine().getOut(), line);
    }

    void printJson(Object document) {
        try {
            print(PayloadJson.MAPPER.writeValueAsString(document));
        } catch (JsonProcessingException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** Prints a message for people to stderr. */
    void tell(String lines) {
        print(command.commandLine().getErr(), lines);
    }

    private static void print(PrintWriter target, String lines) {
        target.println(SafeText.lines(lines));
        target.flush();
    }
}
