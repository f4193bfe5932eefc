package dev.waymark.starter.checkpoint;

import dev.waymark.cli.CommandGroup;
import dev.waymark.cli.ExitCode;
import dev.waymark.cli.HelpEntry;
import dev.waymark.client.document.JsonDocuments;
import dev.waymark.conversation.Conversation;
import dev.waymark.starter.options.ThreadVerb;
import dev.waymark.starter.render.TextTable;
import dev.waymark.timeline.Timeline;
import dev.waymark.timeline.Version;
import java.util.ArrayList;
import java.util.List;
import picocli.CommandLine.Command;

@HelpEntry(group = CommandGroup.LOOK, examples = "checkpoints trip")
@Command(name = "checkpoints", description = "Lists the versions of a thread that are still in history.")
public final class CheckpointsCommand extends ThreadVerb {
    @Override
    public Integer call() {
        return reading(client -> {
            Timeline timeline = client.timeline(thread);
            if (timeline.cut()) {
                output.note("waymark: older versions were deleted from the server");
            }
            if (output.isJson()) {
                output.document(JsonDocuments.versions(timeline));
                return ExitCode.DONE;
            }
            List<List<String>> rows = new ArrayList<>();
            rows.add(List.of("VERSION", "AT", "EVENT", "PHASE", "ITERATIONS", "TOKENS", "DIGEST"));
            for (Version version : timeline.versions()) {
                Conversation state = version.state();
                boolean newest = version.moment().runId().equals(timeline.runId());
                rows.add(List.of(
                        String.valueOf(version.number()),
                        version.moment().at().toString(),
                        newest
                                ? version.moment().place().toString()
                                : version.moment().address(),
                        state.phase().wireName(),
                        String.valueOf(state.turn().iterations()),
                        state.turn().usage().inputTokens() + "+"
                                + state.turn().usage().outputTokens(),
                        state.transcript().digest().substring(0, 12)));
            }
            TextTable.print(output, rows);
            return ExitCode.DONE;
        });
    }
}
