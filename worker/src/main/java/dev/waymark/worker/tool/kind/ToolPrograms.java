package dev.waymark.worker.tool.kind;

import dev.waymark.contract.work.VerifyOutcome;
import dev.waymark.conversation.value.Json;
import dev.waymark.conversation.value.Sha256;
import dev.waymark.tool.ToolContext;
import dev.waymark.worker.process.CommandResult;
import dev.waymark.worker.process.CommandRunner;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.InvalidPathException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * Runs the programs of tools, in the directory of the agent files. A tool of any kind may have a {@code verify}
 * program.
 */
public final class ToolPrograms {
    private final CommandRunner commands;
    private final Path directory;

    public ToolPrograms(CommandRunner commands, Path directory) {
        this.commands = commands;
        this.directory = directory;
    }

    public CommandResult run(ToolRun run, List<String> program) throws InterruptedException {
        return commands.run(run.tool(), program, directory, run.args(), environment(run.context()), run.fence());
    }

    /** Asks the tool's {@code verify} program whether a lost call took effect. */
    public VerifyOutcome verify(ToolRun run) throws InterruptedException {
        return VerifyAnswer.of(run(run, run.tool().effects().verify()));
    }

    /**
     * The digest of a program: of its words, and of the content of the first one that names a file. This is the program
     * itself, or the script of an interpreter on {@code PATH}.
     */
    public String digest(List<String> program) throws UnknownDefinitionException {
        return digest(directory, program);
    }

    /** The digest of a program of the agent files in this directory. */
    public static String digest(Path directory, List<String> program) throws UnknownDefinitionException {
        List<Object> parts = new ArrayList<>(program);
        for (String word : program) {
            try {
                Path file = directory.resolve(word);
                if (Files.isRegularFile(file)) {
                    parts.add(Sha256.hex(Files.readAllBytes(file)));
                    break;
                }
            } catch (InvalidPathException e) {
                // The word is not a file name.
            } catch (IOException e) {
                throw new UnknownDefinitionException("can't read " + word + ": " + e.getMessage(), e);
            }
        }
        return Sha256.hex(Json.canonical(parts));
    }

    private static Map<String, String> environment(ToolContext context) {
        Map<String, String> environment = new LinkedHashMap<>();
        environment.put("WAYMARK_THREAD", context.thread());
        environment.put("WAYMARK_CALL_ID", context.callId());
        environment.put("WAYMARK_TOOL", context.tool());
        environment.put("WAYMARK_IDEMPOTENCY_KEY", context.idempotencyKey());
        environment.put("WAYMARK_CONTEXT", context.context().canonical());
        context.traceparent().ifPresent(span -> environment.put("TRACEPARENT", span));
        context.fencingToken().ifPresent(token -> environment.put("WAYMARK_FENCING_TOKEN", Long.toString(token)));
        return environment;
    }
}
