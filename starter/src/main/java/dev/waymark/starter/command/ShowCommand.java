package dev.waymark.starter.command;

import dev.waymark.cli.CommandGroup;
import dev.waymark.cli.ExitCode;
import dev.waymark.cli.HelpEntry;
import dev.waymark.client.AgentClient;
import dev.waymark.client.ThreadEvent;
import dev.waymark.client.document.JsonDocuments;
import dev.waymark.starter.options.SaverOptions;
import dev.waymark.starter.options.ThreadHelp;
import dev.waymark.starter.render.Output;
import dev.waymark.starter.render.ShownApprovals;
import dev.waymark.starter.render.ThreadView;
import dev.waymark.timeline.Timeline;
import java.util.List;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Parameters;

@HelpEntry(group = CommandGroup.LOOK, examples = "show trip")
@Command(name = "show", description = "Shows a thread: its conversation, its status, and what it waits for.")
public final class ShowCommand implements Callable<Integer> {
    @Mixin
    private Output output;

    @Parameters(index = "0", paramLabel = "THREAD", description = ThreadHelp.ID)
    private String thread;

    @Override
    public Integer call() {
        try (AgentClient client = SaverOptions.reader()) {
            thread = client.lists().find(thread);
            Timeline timeline = client.timeline(thread);
            ShownApprovals.remember(timeline.pending());
            List<ThreadEvent.RunningCall> running = client.inspector().running(timeline);
            if (output.isJson()) {
                output.document(JsonDocuments.show(timeline, running));
            } else {
                ThreadView.of(timeline, running).forEach(output::line);
            }
            return ExitCode.DONE;
        }
    }
}
