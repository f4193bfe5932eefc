package dev.waymark.starter.command;

import dev.waymark.cli.CommandGroup;
import dev.waymark.cli.ExitCode;
import dev.waymark.cli.HelpEntry;
import dev.waymark.client.AgentClient;
import dev.waymark.client.document.JsonDocuments;
import dev.waymark.client.list.ThreadPage;
import dev.waymark.client.list.ThreadSummary;
import dev.waymark.conversation.value.ProblemType;
import dev.waymark.display.SafeText;
import dev.waymark.starter.options.ListOptions;
import dev.waymark.starter.options.SaverOptions;
import dev.waymark.starter.options.SlowProgress;
import dev.waymark.starter.render.Output;
import dev.waymark.starter.render.TextTable;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;

@HelpEntry(
        group = CommandGroup.LOOK,
        examples = {"sessions --status interrupted --limit 10", "sessions --agent assistant"})
@Command(name = "sessions", description = "Lists the threads on the server, newest first.")
public final class SessionsCommand implements Callable<Integer> {
    @Mixin
    private Output output;

    @Mixin
    private ListOptions list;

    @Override
    public Integer call() {
        list.check();
        try (AgentClient client = SaverOptions.reader()) {
            ThreadPage page = client.lists().isIndexed()
                    ? client.lists().threads(list.threads(), owner -> true, new SlowProgress(output))
                    : whole(client);
            List<ThreadSummary> threads = page.threads().stream()
                    .sorted(Comparator.comparing(ThreadSummary::updated).reversed())
                    .toList();
            list.printNextPage(page.next(), output);
            if (output.isJson()) {
                output.document(JsonDocuments.tree(threads));
            } else {
                print(threads);
            }
            SaverOptions.reportMissingThreads(client, output);
            return ExitCode.DONE;
        }
    }

    private void print(List<ThreadSummary> threads) {
        List<List<String>> rows = new ArrayList<>();
        rows.add(List.of("THREAD", "STATUS", "AGENT", "TURNS", "UPDATED"));
        for (ThreadSummary thread : threads) {
            rows.add(List.of(
                    SafeText.line(thread.thread()),
                    status(thread),
                    SafeText.line(thread.agent()),
                    String.valueOf(thread.turns()),
                    thread.updated().toString()));
        }
        TextTable.print(output, rows);
    }

    private static String status(ThreadSummary thread) {
        boolean isForked = thread.error()
                .filter(error -> error.type().equals(ProblemType.FORKED))
                .isPresent();
        return thread.status() + (isForked ? " (forked)" : "") + (thread.open() ? "" : ", closed");
    }

    private ThreadPage whole(AgentClient client) {
        list.checkWhole();
        List<ThreadSummary> wanted = client.lists().threads(new SlowProgress(output)).stream()
                .filter(list::isWanted)
                .toList();
        return new ThreadPage(list.limited(wanted, "thread", output), Optional.empty());
    }
}
