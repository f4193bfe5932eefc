package dev.waymark.starter.command;

import dev.waymark.client.AgentClient;
import dev.waymark.contract.CallItem;
import dev.waymark.starter.options.ConnectionOptions;
import dev.waymark.starter.render.CallLog;
import dev.waymark.starter.render.ExitCode;
import dev.waymark.starter.render.OneLine;
import dev.waymark.starter.render.Output;
import dev.waymark.starter.render.TextTable;
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
public final class CallsCommand implements Callable<Integer> {
    @Mixin
    private Output output;

    @Parameters(index = "0", paramLabel = "THREAD", description = "The thread.")
    private String thread;

    @Option(names = "--pending", description = "Only those that have no result yet.")
    private boolean pending;

    @Override
    public Integer call() {
        try (AgentClient client = ConnectionOptions.toServer()) {
            List<CallLog.Row> calls = CallLog.of(client.timeline(thread)).stream()
                    .filter(row -> !pending || row.call().lacksResult())
                    .toList();
            if (output.isJson()) {
                output.document(CallLog.document(calls));
                return ExitCode.DONE;
            }
            List<List<String>> rows = new ArrayList<>();
            rows.add(List.of("CALL", "STATUS", "SINCE", "TOOL", "DISPATCHES", "DECIDED", "ARGS"));
            for (CallLog.Row row : calls) {
                CallItem call = row.call();
                rows.add(List.of(
                        OneLine.oneLine(call.callId()),
                        call.status(),
                        call.since().truncatedTo(ChronoUnit.SECONDS).toString(),
                        OneLine.oneLine(call.tool()),
                        String.valueOf(call.dispatches()),
                        CallLog.decisions(row),
                        OneLine.shortened(call.args().canonical())));
            }
            TextTable.print(output, rows);
            return ExitCode.DONE;
        }
    }
}
