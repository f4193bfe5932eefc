package dev.waymark.starter.command;

import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.waymark.cli.CommandGroup;
import dev.waymark.cli.ExitCode;
import dev.waymark.cli.HelpEntry;
import dev.waymark.client.AgentClient;
import dev.waymark.client.document.ScheduleDocuments;
import dev.waymark.client.schedule.AgentSchedule;
import dev.waymark.client.schedule.SchedulePage;
import dev.waymark.client.schedule.ScheduleTrigger;
import dev.waymark.starter.connection.ConnectionOptions;
import dev.waymark.starter.options.Instants;
import dev.waymark.starter.render.Output;
import dev.waymark.starter.render.ScheduleText;
import dev.waymark.starter.render.TextTable;
import java.time.Instant;
import java.util.List;
import java.util.Optional;
import java.util.TreeSet;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

/** The command {@code schedule}, whose own commands are its methods and {@link ScheduleCreation}. */
@HelpEntry(
        group = CommandGroup.START,
        examples = {
            "schedule create nightly --agent billing --cron \"0 2 * * *\" --timezone Europe/Berlin \"Check the invoices\"",
            "schedule create hourly --agent assistant --every 1h --overlap allow \"Anything new?\"",
            "schedule list",
            "schedule show nightly",
            "schedule pause nightly --note \"Invoices are closed\"",
            "schedule trigger nightly",
            "schedule backfill nightly --from 2026-11-20T00:00:00Z --to 2026-11-22T00:00:00Z",
            "schedule delete nightly"
        })
@Command(
        name = "schedule",
        description = "Starts threads at certain times: create, list, show, pause, resume, trigger, backfill, delete.",
        subcommands = ScheduleCreation.class)
public final class ScheduleCommand implements Runnable {
    private static final String NAME = "The name of the schedule.";

    @Spec
    private CommandSpec spec;

    @Override
    public void run() {
        throw new ParameterException(
                spec.commandLine(),
                "schedule needs one of "
                        + String.join(", ", new TreeSet<>(spec.subcommands().keySet())));
    }

    @Command(name = "list", description = "Lists the schedules on the server.")
    int list(
            @Mixin Output output,
            @Option(
                            names = "--limit",
                            paramLabel = "N",
                            defaultValue = "100",
                            description = "Read at most this many. Default: ${DEFAULT-VALUE}.")
                    int limit,
            @Option(
                            names = "--after",
                            paramLabel = "PAGE",
                            description = "Show the next page. Use the value that was printed with the previous page.")
                    @Nullable
                    String after) {
        if (limit < 1) {
            throw new ParameterException(spec.commandLine(), "--limit must be at least 1: " + limit);
        }
        try (AgentClient client = ConnectionOptions.toServer()) {
            SchedulePage page = client.schedules().page(limit, Optional.ofNullable(after));
            if (output.isJson()) {
                output.document(ScheduleDocuments.of(page));
            } else {
                TextTable.print(output, ScheduleText.rows(page.schedules()));
                page.next()
                        .ifPresent(next -> output.note("There may be more. Repeat the command with --after " + next));
            }
            return ExitCode.DONE;
        }
    }

    @Command(name = "show", description = "Shows a schedule: its next times, and its last threads with their outcomes.")
    int show(@Mixin Output output, @Parameters(paramLabel = "NAME", description = NAME) String name) {
        try (AgentClient client = ConnectionOptions.toServer()) {
            return print(output, client.schedules().get(name));
        }
    }

    @Command(name = "pause", description = "Starts nothing until resume. Open threads continue.")
    int pause(
            @Mixin Output output,
            @Parameters(paramLabel = "NAME", description = NAME) String name,
            @Option(names = "--note", paramLabel = "TEXT", description = "Why it is paused.") @Nullable String note) {
        try (AgentClient client = ConnectionOptions.toServer()) {
            client.schedules().pause(name, Optional.ofNullable(note));
            return print(output, "paused", name);
        }
    }

    @Command(
            name = "resume",
            description = "Starts threads again. Times that have passed in the meantime need backfill.")
    int resume(@Mixin Output output, @Parameters(paramLabel = "NAME", description = NAME) String name) {
        try (AgentClient client = ConnectionOptions.toServer()) {
            client.schedules().resume(name);
            return print(output, "resumed", name);
        }
    }

    @Command(name = "delete", description = "Deletes a schedule. Threads that it has started continue.")
    int delete(@Mixin Output output, @Parameters(paramLabel = "NAME", description = NAME) String name) {
        try (AgentClient client = ConnectionOptions.toServer()) {
            client.schedules().delete(name);
            return print(output, "deleted", name);
        }
    }

    @Command(
            name = "trigger",
            description = "Starts a thread now, even if the schedule is paused. While a thread is open, --overlap of"
                    + " the schedule applies.")
    int trigger(@Mixin Output output, @Parameters(paramLabel = "NAME", description = NAME) String name) {
        try (AgentClient client = ConnectionOptions.toServer()) {
            ScheduleTrigger trigger = client.schedules().trigger(name);
            if (output.isJson()) {
                output.document(ScheduleDocuments.of(trigger));
            } else {
                output.line(words(trigger));
            }
            return ExitCode.DONE;
        }
    }

    private static String words(ScheduleTrigger trigger) {
        String thread = trigger.thread().orElse("a thread");
        return switch (trigger.result()) {
            case STARTED -> "started: " + thread;
            case WAITING -> "starts when this thread has closed: " + thread;
            case SKIPPED -> "skipped, because this thread is open: " + thread;
            case REQUESTED -> "requested; the server has not started a thread yet";
        };
    }

    @Command(
            name = "backfill",
            description = "Starts a thread for each time in a range that has passed: one after the other, or all at"
                    + " once with --overlap allow.")
    int backfill(
            @Mixin Output output,
            @Parameters(paramLabel = "NAME", description = NAME) String name,
            @Option(
                            names = "--from",
                            paramLabel = "TIME",
                            required = true,
                            converter = Instants.class,
                            description = "The beginning of the range, such as 2026-11-20T00:00:00Z.")
                    Instant from,
            @Option(
                            names = "--to",
                            paramLabel = "TIME",
                            required = true,
                            converter = Instants.class,
                            description = "The end of the range, inclusive.")
                    Instant to) {
        try (AgentClient client = ConnectionOptions.toServer()) {
            List<Instant> times = client.schedules().backfill(name, from, to);
            if (output.isJson()) {
                ObjectNode document = JsonNodeFactory.instance.objectNode();
                document.put("name", name);
                document.set("times", ScheduleDocuments.times(times));
                output.document(document);
            } else {
                output.line("threads start for these times:");
                times.forEach(time -> output.line("  " + time));
            }
            return ExitCode.DONE;
        }
    }

    static int print(Output output, AgentSchedule schedule) {
        if (output.isJson()) {
            output.document(ScheduleDocuments.of(schedule));
        } else {
            ScheduleText.lines(schedule).forEach(output::line);
        }
        return ExitCode.DONE;
    }

    private static int print(Output output, String status, String name) {
        if (output.isJson()) {
            output.document(
                    JsonNodeFactory.instance.objectNode().put("status", status).put("name", name));
        } else {
            output.line(status + ": " + name);
        }
        return ExitCode.DONE;
    }
}
