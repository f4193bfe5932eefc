package dev.waymark.starter.command;

import dev.waymark.cli.CommandGroup;
import dev.waymark.cli.ExitCode;
import dev.waymark.cli.HelpEntry;
import dev.waymark.client.document.CallLog;
import dev.waymark.contract.thread.CallItem;
import dev.waymark.display.SafeText;
import dev.waymark.starter.options.ThreadVerb;
import dev.waymark.starter.render.CallText;
import dev.waymark.starter.render.OneLine;
import dev.waymark.starter.render.TextTable;
import dev.waymark.timeline.Timeline;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;

@HelpEntry(group = CommandGroup.LOOK, examples = "calls trip --full")
@Command(name = "calls", description = "Lists the tool calls of a thread.")
public final class CallsCommand extends ThreadVerb {
    @Option(names = "--pending", description = "List only calls without a result.")
    private boolean pending;

    @Option(names = "--full", description = "Also show idempotency keys, full arguments and results.")
    private boolean full;

    @Override
    public Integer call() {
        return reading(client -> {
            Timeline timeline = client.timeline(thread);
            Map<String, CallLog.Result> results = full ? CallLog.results(timeline) : Map.of();
            List<CallItem> calls = CallLog.of(timeline).stream()
                    .filter(call -> !pending || call.lacksResult())
                    .toList();
            if (output.isJson()) {
                output.document(CallLog.document(calls, results));
                return ExitCode.DONE;
            }
            if (full) {
                calls.forEach(call -> CallText.full(call, Optional.ofNullable(results.get(call.callId())))
                        .forEach(output::line));
                return ExitCode.DONE;
            }
            List<List<String>> rows = new ArrayList<>();
            rows.add(List.of("CALL", "STATUS", "SINCE", "TOOL", "DISPATCHES", "DECIDED", "ARGS"));
            for (CallItem call : calls) {
                rows.add(List.of(
                        SafeText.line(call.callId()),
                        call.status(),
                        TextTable.time(call.since()),
                        CallText.tool(call),
                        String.valueOf(call.dispatches()),
                        CallText.decisions(call),
                        OneLine.shortenedJson(call.args().canonical())));
            }
            TextTable.print(output, rows);
            return ExitCode.DONE;
        });
    }
}
