package dev.waymark.starter.command;

import dev.waymark.client.AgentClient;
import dev.waymark.contract.PendingItem;
import dev.waymark.starter.options.ConnectionOptions;
import dev.waymark.starter.options.SlowProgress;
import dev.waymark.starter.render.ExitCode;
import dev.waymark.starter.render.JsonDocuments;
import dev.waymark.starter.render.OneLine;
import dev.waymark.starter.render.OutcomeRenderer;
import dev.waymark.starter.render.Output;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Parameters;

/** Lists what waits for a person. */
@Command(name = "pending", description = "Lists what waits for a person.")
public final class PendingCommand implements Callable<Integer> {
    @Mixin
    private Output output;

    @Parameters(
            index = "0",
            paramLabel = "THREAD",
            arity = "0..1",
            description = "The thread. Without one: every open thread.")
    private String thread;

    @Override
    public Integer call() {
        try (AgentClient client = ConnectionOptions.toServer()) {
            List<PendingItem> items = Optional.ofNullable(thread)
                    .map(client::pending)
                    .orElseGet(() -> client.pending(new SlowProgress(output)));
            if (output.isJson()) {
                output.document(JsonDocuments.tree(items));
            } else {
                print(items);
            }
            return ExitCode.DONE;
        }
    }

    private void print(List<PendingItem> items) {
        for (PendingItem item : items) {
            output.line(
                    OneLine.oneLine(item.thread()) + "  " + OneLine.oneLine(item.callId()) + "  since " + item.since());
            output.line("  " + item.words());
            boolean several = items.stream()
                            .filter(other -> other.thread().equals(item.thread()))
                            .count()
                    > 1;
            OutcomeRenderer.howToDecide(item, several).forEach(line -> output.line("    " + line));
        }
        if (items.isEmpty()) {
            output.note("nothing waits for a person");
        }
    }
}
