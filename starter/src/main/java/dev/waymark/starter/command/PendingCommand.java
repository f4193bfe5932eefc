package dev.waymark.starter.command;

import dev.waymark.cli.CommandGroup;
import dev.waymark.cli.ExitCode;
import dev.waymark.cli.HelpEntry;
import dev.waymark.client.AgentClient;
import dev.waymark.client.document.JsonDocuments;
import dev.waymark.client.list.PendingPage;
import dev.waymark.conversation.call.Call;
import dev.waymark.conversation.decision.PendingItem;
import dev.waymark.display.SafeText;
import dev.waymark.starter.options.ListOptions;
import dev.waymark.starter.options.SaverOptions;
import dev.waymark.starter.options.SlowProgress;
import dev.waymark.starter.options.ThreadHelp;
import dev.waymark.starter.render.Output;
import dev.waymark.starter.render.PendingText;
import dev.waymark.starter.render.ShownApprovals;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.Callable;
import java.util.stream.Collectors;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

@HelpEntry(
        group = CommandGroup.DECIDE,
        examples = {"pending", "pending trip --json", "pending --kind approval --agent assistant"})
@Command(name = "pending", description = "Lists the requests that wait for a person.")
public final class PendingCommand implements Callable<Integer> {
    private static final List<String> KINDS = Arrays.stream(PendingItem.Kind.values())
            .map(PendingItem.Kind::wireName)
            .toList();

    @Mixin
    private Output output;

    @Parameters(
            index = "0",
            paramLabel = "THREAD",
            arity = "0..1",
            description = ThreadHelp.ID + " Default: all open threads.")
    private String thread;

    @Mixin
    private ListOptions list;

    @Spec
    private CommandSpec spec;

    @Option(
            names = "--kind",
            paramLabel = "K",
            description = "List only requests of this kind: question, approval or unknown.")
    private String kind;

    @Override
    public Integer call() {
        list.check();
        if (kind != null && !KINDS.contains(kind)) {
            throw new ParameterException(
                    spec.commandLine(), "no such kind: " + kind + ". Use one of " + String.join(", ", KINDS));
        }
        try (AgentClient client = SaverOptions.reader()) {
            PendingPage page = thread == null ? page(client) : ofThread(client);
            List<PendingItem> items = page.items();
            ShownApprovals.remember(items);
            if (output.isJson()) {
                output.document(JsonDocuments.tree(items));
            } else {
                print(items);
            }
            if (thread == null) {
                list.printNextPage(page.next(), output);
                SaverOptions.reportMissingThreads(client, output);
            }
            return ExitCode.DONE;
        }
    }

    private PendingPage page(AgentClient client) {
        return client.lists()
                .pending(list.pending(Optional.ofNullable(kind), client.lists().isIndexed()), new SlowProgress(output));
    }

    private PendingPage ofThread(AgentClient client) {
        String found = client.lists().find(thread);
        if (list.isFiltering() && !list.isWanted(client.status(found))) {
            return new PendingPage(List.of(), Optional.empty());
        }
        printUnknownCalls(client.timeline(found).now().startedElsewhere());
        List<PendingItem> requests = client.pending(found).stream()
                .filter(item -> kind == null || item.kind().wireName().equals(kind))
                .toList();
        return new PendingPage(list.limited(requests, "request", output), Optional.empty());
    }

    /** Prints lost calls that need no decision: the model learns about them if it requests the same call again. */
    private void printUnknownCalls(List<Call> calls) {
        if (!calls.isEmpty()) {
            output.note(
                    "The thread comes from a checkpoint that shows these calls as started. Their outcome is unknown:");
            calls.forEach(call -> output.note("  " + PendingText.line(call.id(), call.tool(), call.args())));
        }
    }

    private void print(List<PendingItem> items) {
        Map<String, Long> counts =
                items.stream().collect(Collectors.groupingBy(PendingItem::thread, Collectors.counting()));
        for (PendingItem item : items) {
            output.line(SafeText.line(item.thread()) + "  " + SafeText.line(item.callId()) + "  since " + item.since());
            PendingText text = PendingText.of(item);
            text.lines().forEach(line -> output.line("  " + line));
            text.commands(counts.getOrDefault(item.thread(), 0L) > 1).forEach(line -> output.line("    " + line));
        }
        if (items.isEmpty()) {
            output.note("nothing waits for a person");
        }
    }
}
