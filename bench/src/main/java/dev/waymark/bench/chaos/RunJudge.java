package dev.waymark.bench.chaos;

import dev.waymark.connect.Connection;
import dev.waymark.conversation.Conversation;
import dev.waymark.conversation.call.Call;
import dev.waymark.conversation.fact.ModelFact;
import dev.waymark.conversation.state.Turn;
import dev.waymark.conversation.value.IdempotencyKey;
import dev.waymark.conversation.value.Usage;
import dev.waymark.history.HistoryReader;
import dev.waymark.testkit.EffectLedger;
import dev.waymark.testkit.crash.EffectCheck;
import dev.waymark.timeline.Timeline;
import java.time.Duration;
import java.time.Instant;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.stream.IntStream;
import java.util.stream.Stream;

/** Checks whether a run kept all guarantees. Thread-safe. */
final class RunJudge implements AutoCloseable {
    private final Connection connection;
    private final HistoryReader histories;
    private final EffectLedger ledger;
    private final ReplayCheck replay;
    /** The idempotency keys of all calls in the threads of finished runs. */
    private final Set<String> known = ConcurrentHashMap.newKeySet();

    RunJudge(Connection connection, EffectLedger ledger) {
        this.connection = connection;
        this.replay = new ReplayCheck(connection);
        this.histories = new HistoryReader(connection.client());
        this.ledger = ledger;
    }

    /**
     * Judges a run whose turn is over, and terminates its thread.
     *
     * @param thread the thread that has completed the turn
     * @param disrupted the times at which the faults fired
     * @param violations the violations found so far, to which this method adds
     */
    RunResult result(ChaosRun run, String thread, List<Instant> disrupted, List<String> violations) {
        Timeline root = histories.read(thread).orElseThrow();
        String caller = run.scene().callingThread(thread);
        Timeline timeline = histories.read(caller).orElseThrow();
        if (!thread.equals(run.id())) {
            Timeline before = histories.read(run.id()).orElseThrow();
            violations.addAll(replay.violations(before));
            timeline = following(before, timeline);
        }
        EffectCheck effects = EffectCheck.of(timeline, ledger.effects(), lossesOfOutcomes(run, disrupted));
        if (effects.calls() != run.calls()) {
            violations.add(effects.calls() + " calls of " + run.calls());
        }
        String session = timeline.now().session().orElse(timeline.thread());
        timeline.now().calls().forEach((id, call) -> {
            String key = IdempotencyKey.of(session, call.tool(), call.args(), call.repeat());
            known.add(key);
            if (call.status() != Call.Status.COMPLETED && call.status() != Call.Status.LOST) {
                violations.add(
                        id + " is " + call.status() + ": " + call.result().orElse(""));
            }
            boolean mustBeKnown =
                    !run.disruption().losesOutcomes() && !run.kind().isAlwaysUnknown();
            if (mustBeKnown && call.status() == Call.Status.LOST && tookEffect(key)) {
                violations.add(id + " took effect, and its outcome is unknown");
            }
        });
        violations.addAll(effects.violations());
        judge(root, violations);
        switch (run.scene()) {
            case ALONE -> {}
            case SUBAGENT -> {
                judge(timeline, violations);
                judgeTask(root.now(), run.scene(), violations);
            }
            case SUMMARY -> judgeSummaries(root, violations);
        }
        // A thread that continues a completed turn may not have any moments yet.
        Duration recovery = disrupted.isEmpty() || root.moments().isEmpty()
                ? Duration.ZERO
                : Duration.between(
                        disrupted.get(disrupted.size() - 1),
                        root.moments().get(root.moments().size() - 1).at());
        connection.client().newUntypedWorkflowStub(thread).terminate("played");
        return new RunResult(run, disrupted.size(), effects, recovery, violations);
    }

    /** Returns the timeline of a thread, preceded by the moments of the thread that it continues. */
    private static Timeline following(Timeline before, Timeline now) {
        return new Timeline(
                now.thread(),
                now.runId(),
                Stream.concat(before.moments().stream(), now.moments().stream()).toList(),
                now.now(),
                now.agent(),
                now.ending(),
                now.lastEventId(),
                now.cut());
    }

    /**
     * Returns the times at which the outcome of a call in progress may have been lost. A tool that never reports its
     * effect can lose it at any time.
     */
    private static List<Instant> lossesOfOutcomes(ChaosRun run, List<Instant> disrupted) {
        if (run.kind().isAlwaysUnknown()) {
            return List.of(Instant.MAX);
        }
        return disrupted;
    }

    private boolean tookEffect(String key) {
        return ledger.effects().stream().anyMatch(effect -> effect.key().equals(key));
    }

    private void judge(Timeline timeline, List<String> violations) {
        String thread = timeline.thread();
        Turn.Status status = timeline.now().turn().status();
        if (status != Turn.Status.COMPLETE) {
            violations.add("the turn of " + thread + " is " + status);
        }
        violations.addAll(replay.violations(timeline));
    }

    /**
     * Checks that the parent delegated the task once, that this call completed, and that the parent counts the usage of
     * every model call once.
     */
    private static void judgeTask(Conversation above, Scene scene, List<String> violations) {
        Map<String, Call.Status> calls = new LinkedHashMap<>();
        above.calls().forEach((id, call) -> calls.put(id, call.status()));
        if (!calls.equals(Map.of(Scene.TASK, Call.Status.COMPLETED))) {
            violations.add("above there is " + calls);
        }
        Usage all = IntStream.range(0, scene.modelCalls())
                .mapToObj(call -> ChaosAgents.USAGE)
                .reduce(Usage.NONE, Usage::plus);
        if (!above.usage().equals(all)) {
            violations.add("above " + above.usage() + " is counted, of " + all);
        }
    }

    private static void judgeSummaries(Timeline timeline, List<String> violations) {
        long summaries = timeline.moments().stream()
                .flatMap(moment -> moment.fact().stream())
                .filter(ModelFact.Summarised.class::isInstance)
                .count();
        if (summaries != Scene.SUMMARIES) {
            violations.add(summaries + " summaries of " + Scene.SUMMARIES);
        }
    }

    /** Returns the effects of calls that no thread contains. To be called after all runs. */
    List<EffectLedger.Effect> strays() {
        return ledger.effects().stream()
                .filter(effect -> !known.contains(effect.key()))
                .toList();
    }

    @Override
    public void close() {
        replay.close();
    }
}
