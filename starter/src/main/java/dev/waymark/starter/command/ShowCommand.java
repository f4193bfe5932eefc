package dev.waymark.starter.command;

import dev.waymark.cli.CommandGroup;
import dev.waymark.cli.ExitCode;
import dev.waymark.cli.HelpEntry;
import dev.waymark.client.ThreadEvent;
import dev.waymark.client.document.JsonDocuments;
import dev.waymark.starter.options.ThreadVerb;
import dev.waymark.starter.render.ShownApprovals;
import dev.waymark.starter.render.ThreadView;
import dev.waymark.timeline.Timeline;
import java.util.List;
import picocli.CommandLine.Command;

@HelpEntry(group = CommandGroup.LOOK, examples = "show trip")
@Command(name = "show", description = "Shows a thread: its conversation, its status, and what it waits for.")
public final class ShowCommand extends ThreadVerb {
    @Override
    public Integer call() {
        return reading(client -> {
            Timeline timeline = client.timeline(thread);
            ShownApprovals.remember(timeline.pending());
            List<ThreadEvent.RunningCall> running = client.inspector().running(timeline);
            if (output.isJson()) {
                output.document(JsonDocuments.show(timeline, running));
            } else {
                ThreadView.of(timeline, running).forEach(output::line);
            }
            return ExitCode.DONE;
        });
    }
}
