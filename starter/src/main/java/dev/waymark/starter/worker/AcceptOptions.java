package dev.waymark.starter.worker;

import dev.waymark.cli.CommandFailure;
import dev.waymark.cli.ExitCode;
import dev.waymark.conversation.value.ProblemType;
import dev.waymark.rehearsal.gate.AcceptedFindings;
import java.io.IOException;
import java.nio.file.Path;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Option;

/** The option that accepts findings, so that they do not fail the gate. */
final class AcceptOptions {
    @Option(
            names = "--accept",
            paramLabel = "FILE",
            description = "Do not fail for the findings in this file: lines as gate prints them, or only their"
                    + " beginning, such as 'trip: rules'.")
    private @Nullable Path file;

    boolean isSet() {
        return file != null;
    }

    AcceptedFindings read() throws CommandFailure {
        if (file == null) {
            return AcceptedFindings.NONE;
        }
        try {
            return AcceptedFindings.read(file);
        } catch (IOException e) {
            throw new CommandFailure(
                    ExitCode.NOT_FOUND, ProblemType.NOT_FOUND, "the file of --accept can't be read: " + file, "");
        }
    }
}
