package dev.waymark.simulation;

import dev.waymark.conversation.Conversation;
import dev.waymark.conversation.call.Call;
import dev.waymark.conversation.call.EffectLog;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;

/**
 * The real effects of tools. Knows executions and their effects, but no rule of the conversation. Checks that a state
 * has the claims of the executions that took effect.
 */
final class World {
    static final Duration TIMEOUT = Duration.ofSeconds(60);

    private final List<Execution> granted = new ArrayList<>();
    private final Set<String> known = new HashSet<>();

    /**
     * An execution that was granted its claim. It takes effect at most once, at any time, because nothing ends an
     * execution whose host is frozen. Only the target can prevent the effect: if it has seen the key before, or was
     * told to forbid the effect.
     */
    static final class Execution {
        final String name;
        final String callId;
        final String key;
        final int repeat;
        private final boolean honoursKey;
        private final Instant claimedAt;
        private boolean ended;
        private boolean silent;
        private boolean forbidden;
        private boolean tookEffect;
        private boolean excused;

        Execution(String name, String callId, String key, int repeat, boolean honoursKey, Instant claimedAt) {
            this.name = name;
            this.callId = callId;
            this.key = key;
            this.repeat = repeat;
            this.honoursKey = honoursKey;
            this.claimedAt = claimedAt;
        }

        /** Whether the execution may still take effect. */
        boolean isAlive() {
            return !ended && !forbidden;
        }

        /** Whether the execution may still take effect in addition to an execution that replaces it. */
        boolean isDangerous() {
            return isAlive() && !honoursKey;
        }

        boolean isLate(Instant at) {
            return !at.isBefore(claimedAt.plus(TIMEOUT));
        }

        void end() {
            ended = true;
        }

        /** Ends the process, so that it reports nothing afterward. */
        void silence() {
            silent = true;
        }

        boolean isSilent() {
            return silent;
        }

        /**
         * Takes effect, unless the execution has ended or is forbidden. If the target honours keys, a late effect and
         * the effect of a replacing execution count as one.
         */
        void takeEffect(Instant at) {
            excused |= isAlive() && honoursKey && isLate(at);
            tookEffect |= isAlive();
        }

        boolean tookEffect() {
            return tookEffect;
        }

        @Override
        public String toString() {
            return name + " of " + callId + ": " + key + (tookEffect ? " took effect" : "");
        }
    }

    void grant(Execution execution) {
        granted.add(execution);
    }

    List<Execution> alive() {
        return granted.stream().filter(Execution::isAlive).toList();
    }

    /** Forbids further effects with this key, as a check does that finds no effect and forbids later ones. */
    void forbid(String key, int repeat) {
        granted.stream()
                .filter(each -> each.key.equals(key) && each.repeat == repeat && !each.tookEffect)
                .forEach(each -> each.forbidden = true);
    }

    boolean hasEffect(String execution) {
        return granted.stream().anyMatch(each -> each.name.equals(execution) && each.tookEffect);
    }

    /** Returns what a check by this idempotency key finds. */
    boolean hasEffect(String key, int repeat) {
        return granted.stream().anyMatch(each -> each.key.equals(key) && each.repeat == repeat && each.tookEffect);
    }

    boolean wasGranted(String execution) {
        return granted.stream().anyMatch(each -> each.name.equals(execution));
    }

    /** Records that the outcome of this execution was reported after its call had been cancelled. */
    void reportedLate(String execution) {
        known.add(execution);
    }

    /** Checks that the state has the claim of each effect, unless the effect was reported late or is excused. */
    void check(Conversation state) {
        Set<String> accounted = new HashSet<>(known);
        state.calls()
                .forEach((id, call) -> call.claim().map(Call.Claim::execution).ifPresent(accounted::add));
        state.effects()
                .map(EffectLog::known)
                .ifPresent(effects -> effects.forEach((key, effect) -> effect.remembered()
                        .forEach(each -> accounted.add(each.claim().execution()))));
        for (Execution execution : granted) {
            Violation.unless(
                    !execution.tookEffect || execution.excused || accounted.contains(execution.name),
                    "an effect that the state knows nothing of: " + execution);
        }
    }
}
