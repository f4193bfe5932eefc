package dev.waymark.starter.command;

import com.fasterxml.jackson.core.type.TypeReference;
import dev.waymark.client.AgentClient;
import dev.waymark.client.check.RequestLimits;
import dev.waymark.client.request.Prompt;
import dev.waymark.client.schedule.AgentSchedule;
import dev.waymark.client.schedule.NewSchedule;
import dev.waymark.client.schedule.OverlapPolicy;
import dev.waymark.client.schedule.Recurrence;
import dev.waymark.contract.PayloadJson;
import dev.waymark.conversation.value.Json;
import dev.waymark.conversation.value.ProblemType;
import dev.waymark.display.SafeText;
import dev.waymark.starter.connection.ConnectionOptions;
import dev.waymark.starter.options.Durations;
import dev.waymark.starter.options.JsonFiles;
import dev.waymark.starter.render.Output;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

/** The command {@code schedule create}. */
@Command(
        name = "create",
        description = "Creates a schedule. Each time starts a thread of its own, named NAME-TIME, which closes when its"
                + " turn ends. Creating the same schedule again changes nothing.")
public final class ScheduleCreation implements Callable<Integer> {
    @Mixin
    private Output output;

    @Parameters(index = "0", paramLabel = "NAME", description = "The name of the schedule, such as nightly.")
    private String name;

    @Parameters(index = "1", paramLabel = "MESSAGE", description = "The message that each thread starts with.")
    private String message;

    @Option(names = "--agent", paramLabel = "A", required = true, description = "The agent.")
    private String agent;

    @Option(
            names = "--cron",
            paramLabel = "EXPRESSION",
            description =
                    "The times as a cron expression of five fields, or @hourly, @daily, @weekly, @monthly, @yearly.")
    private String cron;

    @Option(
            names = "--every",
            paramLabel = "D",
            converter = Durations.class,
            description = "The times as an interval, such as 30m or 24h, counted from 1970-01-01T00:00:00Z.")
    private Duration every;

    @Option(
            names = "--calendar",
            paramLabel = "JSON",
            description = "The times as an object of second, minute, hour, dayOfMonth, month, year and dayOfWeek, such"
                    + " as '{\"hour\": \"9\", \"dayOfWeek\": \"MON-FRI\"}'. A time has to match all fields.")
    private String calendar;

    @Option(
            names = "--timezone",
            paramLabel = "ZONE",
            defaultValue = NewSchedule.UTC,
            description = "The time zone of the times, such as Europe/Berlin. Default: ${DEFAULT-VALUE}. A local time"
                    + " that a change of the clocks skips is skipped; one that occurs twice may start two threads.")
    private String timezone;

    @Option(
            names = "--overlap",
            paramLabel = "POLICY",
            defaultValue = "skip",
            description = "What happens while the previous thread is open: skip the time, buffer one start until it has"
                    + " closed, cancel it, or allow both. Default: ${DEFAULT-VALUE}.")
    private String overlap;

    @Option(
            names = "--jitter",
            paramLabel = "D",
            converter = Durations.class,
            defaultValue = "0s",
            description = "Delay each start by up to this time, to spread many schedules. Default: ${DEFAULT-VALUE}.")
    private Duration jitter;

    @Option(
            names = "--max-iterations",
            paramLabel = "N",
            description = "The maximum number of model calls in a thread.")
    private Integer maxIterations;

    @Option(
            names = "--context",
            paramLabel = "JSON",
            description = "A JSON object as context for the threads' tools. Its fields override the agent's.")
    private String context;

    @Option(names = "--schema", paramLabel = "FILE", description = "A JSON Schema for the agent's final reply.")
    private Path schema;

    @Option(names = "--replace", description = "Replace an existing schedule of this name. A paused one stays paused.")
    private boolean replace;

    /** Always refused by {@link NewSchedule}, with an explanation. */
    @Option(names = "--thread", paramLabel = "ID", hidden = true)
    private String thread;

    @Spec
    private CommandSpec spec;

    @Override
    public Integer call() {
        OverlapPolicy policy = OverlapPolicy.of(overlap)
                .orElseThrow(() -> new ParameterException(
                        spec.commandLine(),
                        "no such policy: " + overlap + ". Use one of " + String.join(", ", OverlapPolicy.names())));
        Recurrence recurrence = Recurrence.only(
                Optional.ofNullable(cron),
                Optional.ofNullable(every),
                Optional.ofNullable(calendar).map(ScheduleCreation::fields));
        NewSchedule schedule = NewSchedule.of(name, prompt(), recurrence)
                .withTimezone(timezone)
                .withOverlap(policy)
                .withJitter(jitter);
        try (AgentClient client = ConnectionOptions.toServer()) {
            AgentSchedule created = client.schedules().create(replace ? schedule.replacingExisting() : schedule);
            client.reportedAgents().warning(agent).ifPresent(why -> output.note("warning: " + SafeText.line(why)));
            return ScheduleCommand.print(output, created);
        }
    }

    private Prompt prompt() {
        Prompt prompt = Prompt.of(agent, message);
        prompt = maxIterations == null ? prompt : prompt.withMaxIterations(maxIterations);
        prompt = context == null ? prompt : prompt.withContext(JsonFiles.parse("--context", context));
        prompt = schema == null ? prompt : prompt.withSchema(JsonFiles.read(schema, ProblemType.BAD_INPUT));
        return thread == null ? prompt : prompt.withThread(thread);
    }

    private static Map<String, String> fields(String json) {
        Json tree = JsonFiles.parse("--calendar", json);
        if (!(tree.value() instanceof Map<?, ?> map)
                || map.values().stream().anyMatch(value -> value instanceof Map || value instanceof List)) {
            throw RequestLimits.badInput(
                    "--calendar is not an object of texts: " + json,
                    "Example: {\"hour\": \"9\", \"dayOfWeek\": \"MON-FRI\"}");
        }
        return PayloadJson.MAPPER.convertValue(tree, new TypeReference<Map<String, String>>() {});
    }
}
