package dev.waymark.starter.cli;

import dev.waymark.contract.CallItem;
import dev.waymark.conversation.Call;
import dev.waymark.history.Timeline;
import dev.waymark.starter.client.AgentClient;
import java.time.temporal.ChronoUnit;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/** Lists the tool calls of a thread. */
@Command(name = "calls", description = "Lists the tool calls of a thread.")
final class Calls implements Callable<Integer> {
    @Mixin
    private Output output;

    @Parameters(index = "0", paramLabel = "THREAD", description = "The thread.")
    private String thread;

    @Option(names = "--pending", description = "Only those that have no result yet.")
    private boolean pending;

    @Override
    public Integer call() {
        try (AgentClient client = Connect.toServer()) {
            Timeline timeline = client.timeline(thread);
            List<CallItem> calls = CallItem.of(thread, timeline.now(), Integer.MAX_VALUE).stream()
                    .filter(call -> !pending || call.lacksResult())
                    .toList();
            if (output.isJson()) {
                output.document(Documents.tree(calls));
                return ExitCode.DONE;
            }
            List<List<String>> rows = new ArrayList<>();
            rows.add(List.of("CALL", "STATUS", "SINCE", "TOOL", "DISPATCHES", "APPROVAL", "ARGS"));
            for (CallItem call : calls) {
                rows.add(List.of(
                        Lines.oneLine(call.callId()),
                        call.status(),
                        call.since().truncatedTo(ChronoUnit.SECONDS).toString(),
                        Lines.oneLine(call.tool()),
                        String.valueOf(call.dispatches()),
                        call.approval().map(Calls::words).orElse(""),
                        Lines.shortened(call.args().canonical())));
            }
            Table.print(output, rows);
            return ExitCode.DONE;
        }
    }

    private static String words(Call.Approval approval) {
        String how = approval.approved() ? "approved" : "denied";
        String by = approval.by().map(who -> " by " + Lines.oneLine(who)).orElse("");
        return how + by + (approval.edited() ? ", edited" : "");
    }
}
