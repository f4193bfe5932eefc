package dev.waymark.client;

import com.google.protobuf.ByteString;
import dev.waymark.client.check.RequestLimits;
import dev.waymark.client.connection.ScheduleRequests;
import dev.waymark.client.connection.ScheduleSpecs;
import dev.waymark.client.connection.ServerTime;
import dev.waymark.client.connection.Sleeper;
import dev.waymark.client.connection.WaitDeadline;
import dev.waymark.client.directory.PageCursor;
import dev.waymark.client.directory.ThreadDirectory;
import dev.waymark.client.failure.Remedy;
import dev.waymark.client.failure.WaymarkException;
import dev.waymark.client.list.Progress;
import dev.waymark.client.schedule.AgentSchedule;
import dev.waymark.client.schedule.NewSchedule;
import dev.waymark.client.schedule.OverlapPolicy;
import dev.waymark.client.schedule.SchedulePage;
import dev.waymark.client.schedule.ScheduleTrigger;
import dev.waymark.codec.ScheduledThread;
import dev.waymark.codec.ThreadForgottenException;
import dev.waymark.contract.EncryptedDataConverter;
import dev.waymark.contract.message.InboundDecoder;
import dev.waymark.contract.thread.StartInput;
import dev.waymark.contract.thread.ThreadStatus;
import dev.waymark.conversation.fact.PersonFact;
import dev.waymark.conversation.fact.SignalNames;
import dev.waymark.conversation.message.Message;
import dev.waymark.conversation.value.ProblemType;
import io.temporal.api.common.v1.WorkflowExecution;
import io.temporal.api.enums.v1.ScheduleOverlapPolicy;
import io.temporal.api.schedule.v1.BackfillRequest;
import io.temporal.api.schedule.v1.Schedule;
import io.temporal.api.schedule.v1.ScheduleActionResult;
import io.temporal.api.schedule.v1.ScheduleInfo;
import io.temporal.api.schedule.v1.ScheduleListEntry;
import io.temporal.api.schedule.v1.SchedulePatch;
import io.temporal.api.schedule.v1.SchedulePolicies;
import io.temporal.api.schedule.v1.ScheduleSpec;
import io.temporal.api.schedule.v1.TriggerImmediatelyRequest;
import io.temporal.api.workflowservice.v1.DescribeScheduleResponse;
import io.temporal.api.workflowservice.v1.ListSchedulesResponse;
import java.time.Duration;
import java.time.Instant;
import java.time.LocalDate;
import java.time.ZoneId;
import java.time.temporal.ChronoUnit;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;
import java.util.Optional;
import java.util.function.Supplier;

/**
 * Schedules that start threads at certain times, by Temporal's own Schedules. Each time starts a thread of its own,
 * named {@code SCHEDULE-TIME}, which closes when its turn ends. Until a thread starts, nothing but the server runs.
 * Needs no worker. The in-memory server has no schedules.
 */
public final class Schedules {
    /** The maximum number of threads that one {@link #backfill} starts. */
    public static final int MAX_BACKFILL = 100;

    /** How long a trigger waits until the server has handled it. */
    private static final int TRIGGER_SECONDS = 10;

    private static final int LOOK_MILLIS = 100;

    private final ClientContext context;
    private final ScheduleRequests requests;

    Schedules(ClientContext context) {
        this.context = context;
        this.requests =
                new ScheduleRequests(context.connection(), context.requests().taskQueue());
    }

    /**
     * Creates a schedule. Creating the same one again changes nothing.
     *
     * @throws WaymarkException.Refused with type {@code KeyReused} if another schedule has this name and is not to be
     *     replaced; with another type if its times never occur
     */
    public AgentSchedule create(NewSchedule wanted) {
        return available(() -> {
            if (EncryptedDataConverter.threadKeys(context.connection().client()).isPresent()) {
                throw RequestLimits.badInput(
                        "a schedule can't start threads with keys of their own: " + wanted.name(),
                        "Temporal starts its threads, and can't create a key. Start them with a timer of your own, or"
                                + " create the schedule without thread keys");
            }
            ScheduleSpec times = ScheduleSpecs.spec(wanted.recurrence(), wanted.timezone(), wanted.jitter());
            if (!ScheduleSpecs.everCome(times, LocalDate.now(ZoneId.of(wanted.timezone())))) {
                throw RequestLimits.badInput(
                        "the times of the schedule " + wanted.name() + " never come: " + wanted.recurrence(),
                        "Use days and years that exist, and are not over");
            }
            StartInput input = ThreadStarter.scheduled(wanted.prompt()).ownedBy(wanted.owner());
            Schedule schedule = Schedule.newBuilder()
                    .setSpec(times)
                    .setAction(requests.action(wanted.name(), input))
                    .setPolicies(SchedulePolicies.newBuilder().setOverlapPolicy(policy(wanted.overlap())))
                    .build();
            if (!requests.create(wanted.name(), schedule)) {
                DescribeScheduleResponse existing = described(wanted.name());
                if (wanted.replacing()) {
                    replace(wanted.name(), schedule, existing);
                } else if (!isSame(existing, wanted, input)) {
                    throw new WaymarkException.Refused(
                            ProblemType.KEY_REUSED,
                            "another schedule has this name: " + wanted.name(),
                            "Replace it, delete it, or use another name");
                }
            }
            return schedule(wanted.name(), described(wanted.name()));
        });
    }

    private boolean isSame(DescribeScheduleResponse existing, NewSchedule wanted, StartInput input) {
        AgentSchedule.Timing timing = timing(existing.getSchedule());
        StartInput known = requests.input(wanted.name(), existing.getSchedule());
        return timing.equals(new AgentSchedule.Timing(
                        Optional.of(wanted.recurrence()),
                        wanted.timezone(),
                        Optional.of(wanted.overlap()),
                        wanted.jitter()))
                && ThreadStarter.isSame(known, input);
    }

    /** Replaces even an equal schedule: the new one has the newest rules and is encrypted with the newest key. */
    private void replace(String name, Schedule schedule, DescribeScheduleResponse existing) {
        requests.update(
                name,
                schedule.toBuilder().setState(existing.getSchedule().getState()).build(),
                existing.getConflictToken());
    }

    /** A schedule, with the outcomes of its last threads. */
    public AgentSchedule get(String name) {
        return available(() -> {
            AgentSchedule found = schedule(name, described(name));
            AgentSchedule.Starts starts = found.starts();
            List<AgentSchedule.Run> runs =
                    ThreadDirectory.each(starts.runs(), run -> Optional.of(withOutcome(run)), Progress.NONE);
            return new AgentSchedule(
                    found.name(),
                    found.agent(),
                    found.message(),
                    found.owner(),
                    found.timing(),
                    found.paused(),
                    found.note(),
                    new AgentSchedule.Starts(
                            starts.next(), starts.running(), runs, starts.started(), starts.skipped()));
        });
    }

    private AgentSchedule.Run withOutcome(AgentSchedule.Run run) {
        Optional<String> outcome;
        try {
            outcome = context.requests()
                    .find(run.thread())
                    .map(known ->
                            ThreadStatus.of(context.read(run.thread()).now()).status());
        } catch (ThreadForgottenException e) {
            outcome = Optional.empty();
        }
        return new AgentSchedule.Run(run.thread(), run.time(), run.startedAt(), outcome);
    }

    /**
     * A page of the schedules, without the outcomes of their threads. A new schedule may be missing for about a second.
     * Schedules of other programs are left out.
     *
     * @param after the {@code next} value of the previous page
     */
    public SchedulePage page(int limit, Optional<String> after) {
        return available(() -> {
            ListSchedulesResponse page =
                    requests.page(limit, after.map(PageCursor::parse).orElse(ByteString.EMPTY));
            List<String> names = page.getSchedulesList().stream()
                    .filter(ScheduleRequests::isOfThreads)
                    .map(ScheduleListEntry::getScheduleId)
                    .toList();
            List<AgentSchedule> schedules = ThreadDirectory.each(
                    names, name -> requests.describe(name).map(known -> schedule(name, known)), Progress.NONE);
            return new SchedulePage(
                    schedules,
                    Optional.of(page.getNextPageToken())
                            .filter(token -> !token.isEmpty())
                            .map(PageCursor::of));
        });
    }

    /** Pauses the schedule until {@link #resume}. Open threads continue. */
    public void pause(String name, Optional<String> note) {
        available(() -> {
            described(name);
            requests.patch(
                    name,
                    SchedulePatch.newBuilder().setPause(note.orElse("paused")).build());
            return true;
        });
    }

    /** Resumes a paused schedule. Missed times stay skipped, see {@link #backfill}. */
    public void resume(String name) {
        available(() -> {
            described(name);
            requests.patch(
                    name, SchedulePatch.newBuilder().setUnpause("resumed").build());
            return true;
        });
    }

    /** Starts a thread now, also if the schedule is paused. While another thread is open, the overlap policy decides. */
    public ScheduleTrigger trigger(String name) {
        return available(() -> {
            ScheduleInfo before = described(name).getInfo();
            requests.patch(
                    name,
                    SchedulePatch.newBuilder()
                            .setTriggerImmediately(TriggerImmediatelyRequest.getDefaultInstance())
                            .build());
            WaitDeadline deadline = WaitDeadline.after(Duration.ofSeconds(TRIGGER_SECONDS));
            while (!deadline.isPast()) {
                Optional<ScheduleTrigger> result =
                        result(before, described(name).getInfo());
                if (result.isPresent()) {
                    return result.get();
                }
                Sleeper.millis(LOOK_MILLIS);
            }
            return new ScheduleTrigger(ScheduleTrigger.Result.REQUESTED, Optional.empty());
        });
    }

    private static Optional<ScheduleTrigger> result(ScheduleInfo before, ScheduleInfo now) {
        Optional<String> open =
                now.getRunningWorkflowsList().stream().findFirst().map(WorkflowExecution::getWorkflowId);
        if (now.getActionCount() > before.getActionCount()) {
            ScheduleActionResult newest = now.getRecentActions(now.getRecentActionsCount() - 1);
            return Optional.of(new ScheduleTrigger(
                    ScheduleTrigger.Result.STARTED,
                    Optional.of(newest.getStartWorkflowResult().getWorkflowId())));
        }
        if (now.getOverlapSkipped() > before.getOverlapSkipped()
                || now.getBufferDropped() > before.getBufferDropped()) {
            return Optional.of(new ScheduleTrigger(ScheduleTrigger.Result.SKIPPED, open));
        }
        return now.getBufferSize() > before.getBufferSize()
                ? Optional.of(new ScheduleTrigger(ScheduleTrigger.Result.WAITING, open))
                : Optional.empty();
    }

    /**
     * Starts a thread for each time of the schedule from one time to another, both included: one after the other, or all
     * at once if the schedule allows overlaps.
     *
     * @return the times
     * @throws WaymarkException.Refused if the schedule has no time there, or more than {@link #MAX_BACKFILL}, or has
     *     started a thread for one of them
     */
    public List<Instant> backfill(String name, Instant from, Instant to) {
        return available(() -> {
            Schedule schedule = described(name).getSchedule();
            Instant first = from.truncatedTo(ChronoUnit.SECONDS);
            List<Instant> times = requests.times(name, first, to, MAX_BACKFILL + 1);
            if (times.isEmpty()) {
                throw RequestLimits.badInput(
                        "the schedule " + name + " has no times from " + first + " to " + to, "Use another range");
            }
            if (times.size() > MAX_BACKFILL) {
                throw RequestLimits.badInput(
                        "the schedule " + name + " has more than " + MAX_BACKFILL + " times from " + first + " to "
                                + to,
                        "Use a shorter range, several times. The range up to " + times.get(MAX_BACKFILL - 1) + " has "
                                + MAX_BACKFILL);
            }
            context.directory().ofSchedule(name, first, to).stream().findFirst().ifPresent(thread -> {
                throw RequestLimits.badInput(
                        "the schedule has already started a thread for one of these times: " + thread,
                        "Use ranges without it");
            });
            boolean allowed = schedule.getPolicies().getOverlapPolicy()
                    == ScheduleOverlapPolicy.SCHEDULE_OVERLAP_POLICY_ALLOW_ALL;
            requests.patch(
                    name,
                    SchedulePatch.newBuilder()
                            .addBackfillRequest(BackfillRequest.newBuilder()
                                    .setStartTime(ServerTime.timestamp(first))
                                    .setEndTime(ServerTime.timestamp(to))
                                    .setOverlapPolicy(
                                            allowed
                                                    ? ScheduleOverlapPolicy.SCHEDULE_OVERLAP_POLICY_ALLOW_ALL
                                                    : ScheduleOverlapPolicy.SCHEDULE_OVERLAP_POLICY_BUFFER_ALL))
                            .build());
            return times;
        });
    }

    /** The times of a schedule from one time to another, both included; at most {@code most}. */
    public List<Instant> times(String name, Instant from, Instant to, int most) {
        return available(() -> {
            described(name);
            return requests.times(name, from.truncatedTo(ChronoUnit.SECONDS), to, most);
        });
    }

    /** Deletes a schedule. The threads that it has started continue. */
    public void delete(String name) {
        available(() -> {
            described(name);
            requests.delete(name);
            return true;
        });
    }

    private <T> T available(Supplier<T> request) {
        if (context.connection().isInMemory()) {
            throw RequestLimits.badInput(
                    "an in-memory server has no schedules", "Connect to a server that keeps its threads");
        }
        return context.translated(request);
    }

    private DescribeScheduleResponse described(String name) {
        return requests.describe(NewSchedule.checkName(name))
                .filter(known -> ScheduleRequests.isOfThreads(known.getSchedule()))
                .orElseThrow(() -> new WaymarkException.NotFound(
                        "no such schedule: " + name, Remedy.of(Remedy.Action.LIST_SCHEDULES)));
    }

    private AgentSchedule schedule(String name, DescribeScheduleResponse known) {
        Schedule schedule = known.getSchedule();
        StartInput input = requests.input(name, schedule);
        ScheduleInfo info = known.getInfo();
        boolean paused = schedule.getState().getPaused();
        List<AgentSchedule.Run> runs = new ArrayList<>(
                info.getRecentActionsList().stream().map(Schedules::run).toList());
        Collections.reverse(runs);
        return new AgentSchedule(
                name,
                input.agent(),
                text(input),
                input.owner(),
                timing(schedule),
                paused,
                Optional.of(schedule.getState().getNotes()).filter(note -> paused && !note.isEmpty()),
                new AgentSchedule.Starts(
                        paused
                                ? List.of()
                                : info.getFutureActionTimesList().stream()
                                        .map(ServerTime::instant)
                                        .toList(),
                        info.getRunningWorkflowsList().stream()
                                .map(WorkflowExecution::getWorkflowId)
                                .toList(),
                        runs,
                        info.getActionCount(),
                        info.getOverlapSkipped() + info.getBufferDropped()));
    }

    private static AgentSchedule.Run run(ScheduleActionResult started) {
        String thread = started.getStartWorkflowResult().getWorkflowId();
        return new AgentSchedule.Run(
                thread,
                ScheduledThread.of(thread)
                        .map(ScheduledThread::time)
                        .orElseGet(() -> ServerTime.instant(started.getScheduleTime())),
                ServerTime.instant(started.getActualTime()),
                Optional.empty());
    }

    private static Optional<String> text(StartInput input) {
        return input.say()
                .map(body -> InboundDecoder.read(SignalNames.SAY, body))
                .filter(PersonFact.UserSpoke.class::isInstance)
                .flatMap(said -> ((PersonFact.UserSpoke) said).content())
                .map(Message::text);
    }

    private static AgentSchedule.Timing timing(Schedule schedule) {
        String zone = schedule.getSpec().getTimezoneName();
        return new AgentSchedule.Timing(
                ScheduleSpecs.recurrence(schedule.getSpec()),
                zone.isEmpty() ? NewSchedule.UTC : zone,
                overlap(schedule.getPolicies().getOverlapPolicy()),
                ScheduleSpecs.duration(schedule.getSpec().getJitter()));
    }

    private static ScheduleOverlapPolicy policy(OverlapPolicy overlap) {
        return switch (overlap) {
            case SKIP -> ScheduleOverlapPolicy.SCHEDULE_OVERLAP_POLICY_SKIP;
            case BUFFER -> ScheduleOverlapPolicy.SCHEDULE_OVERLAP_POLICY_BUFFER_ONE;
            case CANCEL -> ScheduleOverlapPolicy.SCHEDULE_OVERLAP_POLICY_CANCEL_OTHER;
            case ALLOW -> ScheduleOverlapPolicy.SCHEDULE_OVERLAP_POLICY_ALLOW_ALL;
        };
    }

    private static Optional<OverlapPolicy> overlap(ScheduleOverlapPolicy policy) {
        return policy == ScheduleOverlapPolicy.SCHEDULE_OVERLAP_POLICY_UNSPECIFIED
                ? Optional.of(OverlapPolicy.SKIP)
                : Arrays.stream(OverlapPolicy.values())
                        .filter(known -> policy(known) == policy)
                        .findFirst();
    }
}
