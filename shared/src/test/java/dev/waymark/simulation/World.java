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
 * What tools really did. It knows executions and their effects and no rule of the conversation, and holds every state
 * against them: for each effect the state must hold the claim on which it took place.
 */
final class World {
    static final Duration TIMEOUT = Duration.ofSeconds(60);

    private final List<Execution> granted = new ArrayList<>();
    private final Set<String> known = new HashSet<>();

    /**
     * One execution that was granted its claim. It takes effect once or never, whenever it likes: nothing ends an execution
     * whose host was frozen. Only the target can refuse it, where it knows the effect by its key or was told to forbid it.
     */
    static final class Execution {
        final String name;
        final String callId;
        final String key;
        final int repeat;
        private final boolean honoursKey;
        private final Instant claimedAt;
        private boolean ended;
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

        /** Whether an effect of it may still come. */
        boolean isAlive() {
            return !ended && !forbidden;
        }

        /** Whether it may still run, and an effect of it would be a second one. */
        boolean isDangerous() {
            return isAlive() && !honoursKey;
        }

        boolean isLate(Instant at) {
            return !at.isBefore(claimedAt.plus(TIMEOUT));
        }

        void end() {
            ended = true;
        }

        /** A late effect whose key the target honours is one with that of the execution that may have taken its place. */
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

    /** A check that found no effect has seen to it that none comes. */
    void forbid(String key, int repeat) {
        granted.stream()
                .filter(each -> each.key.equals(key) && each.repeat == repeat && !each.tookEffect)
                .forEach(each -> each.forbidden = true);
    }

    boolean hasEffect(String execution) {
        return granted.stream().anyMatch(each -> each.name.equals(execution) && each.tookEffect);
    }

    /** What a check by the idempotency key finds. */
    boolean hasEffect(String key, int repeat) {
        return granted.stream().anyMatch(each -> each.key.equals(key) && each.repeat == repeat && each.tookEffect);
    }

    boolean wasGranted(String execution) {
        return granted.stream().anyMatch(each -> each.name.equals(execution));
    }

    /** The outcome of this execution was reported, after its call had been cancelled. */
    void reportedLate(String execution) {
        known.add(execution);
    }

    /** Nothing took effect of which the state says, or would have somebody believe, that it did not. */
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
