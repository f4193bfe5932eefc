package dev.waymark.testkit.crash;

import dev.waymark.agent.AgentSpec;
import dev.waymark.agent.SideEffects;
import dev.waymark.agent.ToolSpec;
import dev.waymark.contract.work.AgentPolicies;
import dev.waymark.conversation.call.AgentPolicy;
import dev.waymark.conversation.call.Call;
import dev.waymark.conversation.fact.Fact;
import dev.waymark.conversation.fact.ToolFact;
import dev.waymark.conversation.value.IdempotencyKey;
import dev.waymark.history.ThreadCalls;
import dev.waymark.testkit.EffectLedger;
import dev.waymark.timeline.Moment;
import dev.waymark.timeline.Timeline;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.function.BiPredicate;

/**
 * Compares a thread's record of its calls with the effects that happened.
 *
 * <pre>{@code
 * EffectCheck effects = EffectCheck.of(timeline, ledger.effects(), List.of(killedAt));
 * assertThat(effects.violations()).isEmpty();
 * }</pre>
 *
 * @param calls the number of calls of the agent's tools
 * @param duplicated the number of calls of side-effecting tools that took effect more than once
 * @param lost how often a call is recorded as completed but took no effect, or has no result
 * @param unknown the number of calls with an unknown outcome
 * @param dispatchedAgain the number of repeated dispatches
 * @param violations broken guarantees, as text, including those that {@code duplicated} and {@code lost} count
 */
public record EffectCheck(
        int calls, int duplicated, int lost, int unknown, int dispatchedAgain, List<String> violations) {
    public EffectCheck {
        violations = List.copyOf(violations);
    }

    /**
     * Checks a thread whose turn is over.
     *
     * @param killed the times at which workers were killed
     */
    public static EffectCheck of(Timeline timeline, List<EffectLedger.Effect> ledger, List<Instant> killed) {
        return of(timeline, ledger, (dispatched, lost) -> killed.stream().anyMatch(time -> !dispatched.isAfter(time)));
    }

    /**
     * Checks a thread whose turn is over.
     *
     * @param hidden whether a fault can have hidden the outcome of a call, given the time of the last dispatch of the
     * call and the time at which its outcome became unknown
     */
    public static EffectCheck of(
            Timeline timeline, List<EffectLedger.Effect> ledger, BiPredicate<Instant, Instant> hidden) {
        return new Reading(timeline, ledger, hidden).read();
    }

    private static final class Reading {
        private final Timeline timeline;
        private final AgentSpec agent;
        private final List<EffectLedger.Effect> ledger;
        private final BiPredicate<Instant, Instant> hidden;
        private final Map<String, Integer> results;
        /** Tools that record their executions. Those that only read need not. */
        private final Set<String> recorded = new LinkedHashSet<>();

        private final List<String> violations = new ArrayList<>();
        private int calls;
        private int duplicated;
        private int lost;
        private int unknown;
        private int dispatchedAgain;

        Reading(Timeline timeline, List<EffectLedger.Effect> ledger, BiPredicate<Instant, Instant> hidden) {
            this.timeline = timeline;
            this.agent = timeline.agent().orElseThrow(() -> new IllegalArgumentException("the thread has no agent"));
            this.ledger = ledger;
            this.hidden = hidden;
            this.results = results(timeline);
        }

        /**
         * Returns the largest number of results that each call had in the transcript at any time, because a summary may
         * have replaced them since. In a cancelled thread, the newest results never enter the transcript; each
         * counts as one result of its call.
         */
        private static Map<String, Integer> results(Timeline timeline) {
            Map<String, Integer> most = new HashMap<>();
            for (Moment moment : timeline.moments()) {
                Map<String, Integer> now = new HashMap<>();
                moment.state().transcript().messages().stream()
                        .flatMap(message -> message.toolResults().stream())
                        .forEach(result -> now.merge(result.toolUseId(), 1, Integer::sum));
                now.forEach((callId, count) -> most.merge(callId, count, Math::max));
            }
            timeline.now().uncommittedResults().forEach(result -> most.putIfAbsent(result.toolUseId(), 1));
            return most;
        }

        EffectCheck read() {
            Collection<Call> all = ThreadCalls.of(timeline).values();
            all.stream().filter(call -> happened(call) > 0).map(Call::tool).forEach(recorded::add);
            all.forEach(call -> agent.tool(call.tool()).ifPresent(tool -> read(call, tool)));
            return new EffectCheck(calls, duplicated, lost, unknown, dispatchedAgain, violations);
        }

        private void read(Call call, ToolSpec tool) {
            calls++;
            dispatchedAgain += Math.max(0, call.dispatches() - 1);
            int count = results.getOrDefault(call.id(), 0);
            if (count != 1) {
                violations.add(call.id() + " has " + count + " results");
                lost += count == 0 ? 1 : 0;
            }
            if (AgentPolicies.executor(tool.kind()) == AgentPolicy.Executor.ACTIVITY) {
                readEffects(call, tool);
            } else if (call.isOpen()) {
                violations.add(call.id() + " is " + call.status());
            }
        }

        private long happened(Call call) {
            String key = IdempotencyKey.of(
                    timeline.now().session().orElse(timeline.thread()), call.tool(), call.args(), call.repeat());
            return ledger.stream().filter(effect -> effect.key().equals(key)).count();
        }

        private void readEffects(Call call, ToolSpec tool) {
            long happened = happened(call);
            if (tool.hasEffect() && happened > 1) {
                duplicated++;
                violations.add(call.id() + " took effect " + happened + " times");
            }
            switch (call.status()) {
                case COMPLETED -> {
                    if (happened == 0 && (tool.hasEffect() || recorded.contains(call.tool()))) {
                        lost++;
                        violations.add(call.id() + " is completed and never took effect");
                    }
                }
                case DENIED -> {
                    if (happened > 0) {
                        violations.add(call.id() + " took effect and is denied");
                    }
                }
                case LOST -> {
                    unknown++;
                    readLost(call, tool, happened);
                }
                case ISSUED,
                        HELD,
                        JUDGING,
                        AWAITING,
                        DISPATCHED,
                        CLAIMED,
                        DELEGATED,
                        UNKNOWN,
                        DOUBTED,
                        VERIFYING,
                        UNSETTLED,
                        ASKING -> violations.add(call.id() + " is " + call.status());
                case FAILED, CANCELLED -> {
                    // The tool reported a failure, or a person cancelled the call: it may have taken effect or not.
                }
            }
        }

        private void readLost(Call call, ToolSpec tool, long happened) {
            // The time of the dispatch counts, because a claim may be granted after its worker was lost.
            if (!wasClaimed(call) || !hidden.test(dispatchedAt(call), call.since())) {
                violations.add(call.id() + " is unknown, but no worker was lost that could have claimed it");
            }
            SideEffects declared = tool.effects();
            boolean canRunAgain = declared.verifyForbids() || declared.honoursKey();
            if (declared.canVerify() && (happened > 0 || canRunAgain)) {
                violations.add(call.id() + " is unknown, although its tool can verify it");
            }
        }

        /**
         * Whether the call was ever claimed. Searches earlier states too, because the call no longer has its claim if
         * the lost execution reported its end too late.
         */
        private boolean wasClaimed(Call call) {
            return timeline.moments().stream()
                    .flatMap(moment -> moment.state().calls().get(call.id()).stream())
                    .anyMatch(earlier -> earlier.claim().isPresent());
        }

        /** Returns the time of the call's last dispatch. */
        private Instant dispatchedAt(Call call) {
            Fact dispatched = new ToolFact.ToolDispatched(call.id(), call.dispatches());
            return timeline.moments().stream()
                    .filter(moment -> moment.fact().equals(Optional.of(dispatched)))
                    .map(Moment::at)
                    .findFirst()
                    .orElse(Instant.MAX);
        }
    }
}
