package dev.waymark.bench.soak;

import dev.waymark.bench.chaos.ReplayCheck;
import dev.waymark.bench.chaos.ToolVariant;
import dev.waymark.connect.Connection;
import dev.waymark.contract.WireNames;
import dev.waymark.conversation.call.Call;
import dev.waymark.conversation.fact.ModelFact;
import dev.waymark.conversation.message.Message;
import dev.waymark.conversation.message.Part;
import dev.waymark.conversation.state.Turn;
import dev.waymark.conversation.value.IdempotencyKey;
import dev.waymark.history.HistoryReader;
import dev.waymark.history.ThreadCalls;
import dev.waymark.testkit.EffectLedger;
import dev.waymark.testkit.crash.EffectCheck;
import dev.waymark.timeline.Moment;
import dev.waymark.timeline.Timeline;
import java.time.Instant;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.stream.Stream;

/**
 * Compares the messages that callers sent with the histories of their threads, and the calls in these histories with
 * the effects that happened.
 */
final class SoakCheck implements AutoCloseable {
    private final HistoryReader histories;
    private final ReplayCheck replay;
    private final List<EffectLedger.Effect> ledger;
    private final List<Outage> outages;
    /** The idempotency keys of all calls in the checked threads. */
    private final Set<String> known = new HashSet<>();

    /**
     * The ids of calls that may have run without a record: they run with the model call, and the reply is discarded if
     * the thread is cancelled meanwhile.
     */
    private final Set<String> unrecorded = new HashSet<>();

    private final Figures figures = new Figures();

    SoakCheck(Connection connection, List<EffectLedger.Effect> ledger, List<Outage> outages) {
        this.histories = new HistoryReader(connection.client());
        this.replay = new ReplayCheck(connection);
        this.ledger = ledger;
        this.outages = outages;
    }

    /** Totals of all checked threads. */
    static final class Figures {
        int threads;
        int runs;
        int subagents;
        int turns;
        int messages;
        int summaries;
        int calls;
        int duplicated;
        int lost;
        int unknown;
        int dispatchedAgain;
        final Map<Call.Status, Integer> byStatus = new EnumMap<>(Call.Status.class);
        final List<String> violations = new ArrayList<>();
    }

    Figures figures() {
        return figures;
    }

    void check(SoakThread thread) {
        List<String> violations = new ArrayList<>();
        try {
            boolean cancelled = thread.kind() == SoakThread.Kind.CANCELLED;
            Timeline timeline = histories.read(thread.id()).orElseThrow();
            figures.threads++;
            figures.messages += thread.accepted().size();
            violations.addAll(deliveries(thread, timeline, cancelled));
            violations.addAll(check(timeline, thread.accepted(), cancelled));
        } catch (RuntimeException e) {
            violations.add("cannot be checked: " + e);
        }
        violations.forEach(violation -> figures.violations.add(thread.id() + ": " + violation));
    }

    /**
     * Checks that each message was delivered exactly once. A cancelled thread may lack messages that it had not
     * reached.
     */
    private static List<String> deliveries(SoakThread thread, Timeline timeline, boolean cancelled) {
        Map<String, Integer> most = new HashMap<>();
        for (Moment moment : timeline.moments()) {
            Map<String, Integer> now = new HashMap<>();
            Stream<Message> queued = moment.state().queue().stream().map(each -> each.message());
            SoakAgents.tasks(Stream.concat(moment.state().transcript().messages().stream(), queued)
                            .toList())
                    .forEach(task -> now.merge(task.id(), 1, Integer::sum));
            now.forEach((task, count) -> most.merge(task, count, Math::max));
        }
        List<String> violations = new ArrayList<>();
        Set<String> sent = new HashSet<>();
        for (SoakTask task : thread.accepted()) {
            sent.add(task.id());
            int count = most.getOrDefault(task.id(), 0);
            if (count > 1 || (count == 0 && !cancelled)) {
                violations.add("message " + task.id() + " was delivered " + count + " times");
            }
        }
        most.keySet().stream()
                .filter(task -> !sent.contains(task))
                .forEach(task -> violations.add("message " + task + " was not sent"));
        return violations;
    }

    private List<String> check(Timeline timeline, List<SoakTask> tasks, boolean cancelled) {
        List<String> violations = new ArrayList<>(replay.violations(timeline));
        figures.runs +=
                (int) timeline.moments().stream().map(Moment::runId).distinct().count();
        figures.turns += timeline.now().turn().number();
        figures.summaries += (int) timeline.moments().stream()
                .flatMap(moment -> moment.fact().stream())
                .filter(ModelFact.Summarised.class::isInstance)
                .count();
        if (timeline.agent().isPresent()) {
            violations.addAll(effects(timeline));
        }
        Turn.Status status = timeline.now().turn().status();
        if (status != Turn.Status.COMPLETE && !cancelled) {
            violations.add("the turn is " + status);
        }
        Map<String, Call> calls = ThreadCalls.of(timeline);
        for (SoakTask task : tasks) {
            for (Part.ToolUse use : task.calls()) {
                if (!cancelled && !calls.containsKey(use.id())) {
                    violations.add(use.id() + " was not called");
                } else if (cancelled && use.name().equals(ToolVariant.SAFE.tool(false))) {
                    unrecorded.add(use.id());
                }
            }
        }
        String session = timeline.now().session().orElse(timeline.thread());
        calls.forEach((id, call) -> {
            figures.byStatus.merge(call.status(), 1, Integer::sum);
            known.add(IdempotencyKey.of(session, call.tool(), call.args(), call.repeat()));
            if (call.tool().equals(SoakAgents.HELPER)) {
                violations.addAll(checkSubagent(timeline.thread(), call, cancelled));
            }
        });
        return violations;
    }

    private List<String> effects(Timeline timeline) {
        EffectCheck effects = EffectCheck.of(timeline, ledger, this::canBeHidden);
        figures.calls += effects.calls();
        figures.duplicated += effects.duplicated();
        figures.lost += effects.lost();
        figures.unknown += effects.unknown();
        figures.dispatchedAgain += effects.dispatchedAgain();
        return effects.violations();
    }

    private List<String> checkSubagent(String parent, Call call, boolean cancelled) {
        Optional<Timeline> thread = histories.read(WireNames.subagentThread(parent, call.id()));
        if (thread.isEmpty()) {
            return call.status() == Call.Status.COMPLETED ? List.of(call.id() + " has no thread") : List.of();
        }
        figures.subagents++;
        boolean ended = cancelled || call.status() != Call.Status.COMPLETED;
        List<SoakTask> tasks = SoakTask.parse(String.valueOf(call.args().field("task"))).stream()
                .toList();
        return check(thread.get(), tasks, ended).stream()
                .map(violation -> call.id() + ": " + violation)
                .toList();
    }

    private boolean canBeHidden(Instant dispatched, Instant lost) {
        return outages.stream().anyMatch(outage -> outage.touches(dispatched, lost));
    }

    /** Returns the effects of calls that no thread contains. To be called after all threads were checked. */
    List<EffectLedger.Effect> strays() {
        return ledger.stream()
                .filter(effect -> !known.contains(effect.key()) && !unrecorded.contains(effect.call()))
                .toList();
    }

    @Override
    public void close() {
        replay.close();
    }
}
