package dev.waymark.starter.command;

import com.fasterxml.jackson.databind.JsonNode;
import dev.waymark.cli.CommandGroup;
import dev.waymark.cli.ExitCode;
import dev.waymark.cli.HelpEntry;
import dev.waymark.client.AgentClient;
import dev.waymark.client.document.JsonDocuments;
import dev.waymark.client.failure.WaymarkException;
import dev.waymark.client.save.CheckpointLoaded;
import dev.waymark.client.save.CheckpointSaved;
import dev.waymark.client.watch.RunningCalls;
import dev.waymark.client.watch.TextDelta;
import dev.waymark.client.watch.Watcher;
import dev.waymark.history.Moment;
import dev.waymark.starter.options.SaverOptions;
import dev.waymark.starter.options.ThreadHelp;
import dev.waymark.starter.render.ComingReply;
import dev.waymark.starter.render.Output;
import dev.waymark.starter.render.WatchRenderer;
import dev.waymark.starter.render.WorkerNotes;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Parameters;

@HelpEntry(
        group = CommandGroup.LOOK,
        examples = {"watch trip", "watch trip --json"})
@Command(name = "watch", description = "Follows a thread from its start until it closes.")
public final class WatchCommand implements Callable<Integer>, Watcher {
    @Mixin
    private Output output;

    @Parameters(index = "0", paramLabel = "THREAD", description = ThreadHelp.ID)
    private String thread;

    private final ComingReply coming = new ComingReply();

    @Override
    public Integer call() {
        try (AgentClient client = SaverOptions.reader()) {
            thread = client.lists().find(thread);
            client.watch(thread, this);
            return ExitCode.DONE;
        }
    }

    @Override
    public boolean happened(Moment moment) {
        return tell(JsonDocuments.of(moment), WatchRenderer.line(moment));
    }

    @Override
    public boolean saved(CheckpointSaved checkpoint) {
        return tell(JsonDocuments.of(checkpoint), WatchRenderer.line(checkpoint));
    }

    @Override
    public boolean loaded(CheckpointLoaded checkpoint) {
        return tell(JsonDocuments.of(checkpoint), WatchRenderer.line(checkpoint));
    }

    @Override
    public boolean runs(RunningCalls calls) {
        return tell(JsonDocuments.of(calls), WatchRenderer.line(calls));
    }

    @Override
    public boolean waitsForWorker(WaymarkException.NoWorker absence) {
        return new WorkerNotes(output).waitsForWorker(absence) && !output.isBroken();
    }

    @Override
    public void workerIsBack() {
        new WorkerNotes(output).workerIsBack();
    }

    private boolean tell(JsonNode document, String line) {
        if (output.isJson()) {
            output.document(document);
        } else {
            output.line(line);
        }
        return !output.isBroken();
    }

    @Override
    public boolean said(TextDelta words) {
        return show(coming.said(words), JsonDocuments.of(words), WatchRenderer.line(words));
    }

    @Override
    public boolean reasoned(TextDelta words) {
        return show(coming.reasoned(words), JsonDocuments.ofReasoning(words), WatchRenderer.ofReasoning(words));
    }

    /** Shows a piece of a reply: at a terminal, only for as long as the reply grows. */
    private boolean show(String passing, JsonNode document, String line) {
        if (output.isJson() || !output.isTerminal()) {
            return tell(document, line);
        }
        output.passing(passing);
        return !output.isBroken();
    }
}
