package dev.waymark.starter.checkpoint;

import dev.waymark.checkpoint.CheckpointViews;
import dev.waymark.checkpoint.PhasesCheckpoint;
import dev.waymark.checkpoint.SessionCheckpoint;
import dev.waymark.cli.CommandGroup;
import dev.waymark.cli.ExitCode;
import dev.waymark.cli.HelpEntry;
import dev.waymark.client.document.JsonDocuments;
import dev.waymark.conversation.value.Json;
import dev.waymark.starter.options.ThreadVerb;
import dev.waymark.timeline.CheckpointFormat;
import dev.waymark.timeline.Timeline;
import java.util.Optional;
import java.util.stream.Stream;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;

@HelpEntry(
        group = CommandGroup.LOOK,
        examples = {"checkpoint trip --format session", "checkpoint trip --at 2"})
@Command(name = "checkpoint", description = "Prints a checkpoint, derived from history.")
public final class CheckpointCommand extends ThreadVerb {
    @Option(
            names = "--format",
            paramLabel = "F",
            defaultValue = "runner",
            description = "The format: runner (default), thread, phases, messages, session or versions.")
    private String format;

    @Option(
            names = "--at",
            paramLabel = "V",
            description = "A version, eN (event N of the newest run) or RUNID/eN. Default: the current state.")
    private String at;

    @Option(
            names = "--latest",
            description = "Print only the newest snapshot (phases) or the newest version (versions).")
    private boolean latest;

    @Spec
    private CommandSpec spec;

    @Override
    public Integer call() {
        CheckpointFormat wanted = CheckpointFormat.of(format)
                .orElseThrow(() -> new ParameterException(
                        spec.commandLine(),
                        "no such format: " + format + ". Use one of " + String.join(", ", CheckpointFormat.names())));
        return reading(client -> {
            Timeline timeline = Optional.ofNullable(at)
                    .map(place -> client.timeline(thread, place))
                    .orElseGet(() -> client.timeline(thread));
            print(wanted, timeline);
            return ExitCode.DONE;
        });
    }

    /** Prints phases one record per line, but as one document with --json or --latest, like every other format. */
    private void print(CheckpointFormat wanted, Timeline timeline) {
        if (wanted == CheckpointFormat.PHASES && latest) {
            output.pretty(JsonDocuments.tree(PhasesCheckpoint.latest(timeline)));
        } else if (wanted == CheckpointFormat.PHASES && output.isJson()) {
            output.list(records -> PhasesCheckpoint.tell(timeline, records));
        } else if (wanted == CheckpointFormat.PHASES) {
            PhasesCheckpoint.tell(timeline, record -> output.document(JsonDocuments.tree(record)));
        } else if (wanted == CheckpointFormat.VERSIONS) {
            Stream<Json> versions =
                    latest ? SessionCheckpoint.newestVersion(timeline) : SessionCheckpoint.versions(timeline);
            output.list(versions::forEach);
        } else {
            output.pretty(JsonDocuments.tree(CheckpointViews.of(wanted, timeline)));
        }
    }
}
