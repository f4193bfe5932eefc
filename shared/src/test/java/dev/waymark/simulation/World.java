package dev.waymark.simulation;

import dev.waymark.conversation.Call;
import dev.waymark.conversation.Conversation;
import dev.waymark.conversation.EffectLog;
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
     * One execution that was granted its claim. It takes effect once or never. With a {@code fence} it is dead when its
     * time is over; without one it may take effect whenever it likes.
     */
    static final class Execution {
        final String name;
        final String callId;
        final String key;
        final int repeat;
        private final boolean fence;
        private final Instant claimedAt;
        private boolean ended;
        private boolean tookEffect;

        Execution(String name, String callId, String key, int repeat, boolean fence, Instant claimedAt) {
            this.name = name;
            this.callId = callId;
            this.key = key;
            this.repeat = repeat;
            this.fence = fence;
            this.claimedAt = claimedAt;
        }

        boolean isAlive(Instant at) {
            return !ended && !(fence && !at.isBefore(claimedAt.plus(TIMEOUT)));
        }

        void end() {
            ended = true;
        }

        void takeEffect(Instant at) {
            tookEffect |= isAlive(at);
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

    List<Execution> alive(Instant at) {
        return granted.stream().filter(execution -> execution.isAlive(at)).toList();
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
                    !execution.tookEffect || accounted.contains(execution.name),
                    "an effect that the state knows nothing of: " + execution);
        }
    }
}
