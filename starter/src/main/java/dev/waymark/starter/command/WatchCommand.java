package dev.waymark.starter.command;

import dev.waymark.cli.CommandGroup;
import dev.waymark.cli.ExitCode;
import dev.waymark.cli.HelpEntry;
import dev.waymark.client.ThreadEvent;
import dev.waymark.client.document.JsonDocuments;
import dev.waymark.starter.options.ThreadVerb;
import dev.waymark.starter.render.ComingReply;
import dev.waymark.starter.render.OneLine;
import dev.waymark.starter.render.WatchRenderer;
import java.util.Optional;
import picocli.CommandLine.Command;

@HelpEntry(
        group = CommandGroup.LOOK,
        examples = {"watch trip", "watch trip --json"})
@Command(name = "watch", description = "Follows a thread from its start until it closes.")
public final class WatchCommand extends ThreadVerb {
    private final ComingReply coming = new ComingReply();

    @Override
    public Integer call() {
        return reading(client -> {
            client.watch(thread, this::tell);
            return ExitCode.DONE;
        });
    }

    private boolean tell(ThreadEvent event) {
        if (event instanceof ThreadEvent.WorkersChanged workers) {
            output.step(OneLine.workers(workers));
        } else {
            WatchRenderer.line(event).ifPresent(line -> tell(event, line));
        }
        return !output.isBroken();
    }

    private void tell(ThreadEvent event, String line) {
        // On a terminal, the text of a growing reply is replaced when the reply is complete.
        Optional<String> passing = output.isTerminal() ? coming.add(event) : Optional.empty();
        if (output.isJson()) {
            output.document(JsonDocuments.of(event));
        } else {
            passing.ifPresentOrElse(output::passing, () -> output.line(line));
        }
    }
}
