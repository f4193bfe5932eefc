package dev.waymark.conversation.call;

import com.fasterxml.jackson.annotation.JsonCreator;
import com.fasterxml.jackson.annotation.JsonInclude;
import com.fasterxml.jackson.annotation.JsonValue;
import dev.waymark.conversation.value.PersistentMap;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.function.Predicate;

/**
 * The record of side effects, by tool and arguments, because models give a repeated call a new id. The record remains
 * when a conversation is cleared.
 */
public final class EffectLog {
    public static final EffectLog NONE = new EffectLog(PersistentMap.empty());

    private final PersistentMap<Effect> known;

    @JsonCreator(mode = JsonCreator.Mode.DELEGATING)
    public EffectLog(PersistentMap<Effect> known) {
        this.known = Objects.requireNonNull(known, "known");
    }

    @JsonValue
    public PersistentMap<Effect> known() {
        return known;
    }

    /** The key of a tool with these arguments. Tool names contain no colon. */
    public static String key(String tool, String argsDigest) {
        return tool + ":" + argsDigest;
    }

    /** The entries of the tools whose name matches. */
    public EffectLog of(Predicate<String> tool) {
        EffectLog[] kept = {NONE};
        known.forEach((key, effect) -> {
            if (tool.test(key.substring(0, key.indexOf(':')))) {
                kept[0] = kept[0].with(key, effect);
            }
        });
        return kept[0];
    }

    /** The record for a fork, whose calls have their own keys. */
    public EffectLog inherited() {
        EffectLog[] all = {NONE};
        known.forEach((key, effect) -> all[0] = all[0].with(key, effect.inSession()));
        return all[0];
    }

    /** Removes results, so that none is returned again. Used keys and possible effects remain recorded. */
    public EffectLog withoutResults() {
        EffectLog[] all = {NONE};
        known.forEach((key, effect) -> all[0] = all[0].with(
                key,
                new Effect(
                        effect.executions,
                        Optional.empty(),
                        Optional.empty(),
                        effect.remembered,
                        false,
                        effect.token)));
        return all[0];
    }

    public boolean isEmpty() {
        return known.size() == 0;
    }

    public Effect of(String key) {
        return known.get(key).orElse(Effect.NONE);
    }

    /** The result of this call, if later identical calls return it. */
    public Optional<String> resultOf(Call call) {
        Effect effect = of(key(call.tool(), call.argsDigest()));
        return effect.success().equals(Optional.of(call.id())) ? effect.result() : Optional.empty();
    }

    public EffectLog with(String key, Effect effect) {
        return new EffectLog(known.with(key, effect));
    }

    @Override
    public boolean equals(Object other) {
        return other instanceof EffectLog effects && effects.known.equals(known);
    }

    @Override
    public int hashCode() {
        return known.hashCode();
    }

    @Override
    public String toString() {
        return known.toString();
    }

    /**
     * What is recorded about a tool with one set of arguments.
     *
     * @param executions the number of claimed calls that ended with a known outcome
     * @param success the id of the first successful call, if later calls return its result
     * @param result the result of that call
     * @param remembered claims that are not attached to an open call, for example because a reset removed the calls but
     *     not their effects
     * @param inherited whether the success comes from the thread that this one was forked from; its result is then
     *     always returned
     * @param token the fencing token of the newest claim
     */
    @JsonInclude(JsonInclude.Include.NON_EMPTY)
    public record Effect(
            int executions,
            Optional<String> success,
            Optional<String> result,
            List<Remembered> remembered,

            @JsonInclude(JsonInclude.Include.NON_DEFAULT) boolean inherited,

            @JsonInclude(JsonInclude.Include.NON_DEFAULT) long token) {
        public static final Effect NONE = new Effect(0, Optional.empty(), Optional.empty(), List.of(), false, 0);

        public Effect {
            remembered = remembered == null ? List.of() : List.copyOf(remembered);
        }

        public Effect claimed(long newest) {
            return new Effect(executions, success, result, remembered, inherited, newest);
        }

        public Effect executed() {
            return new Effect(executions + 1, success, result, remembered, inherited, token);
        }

        public Effect executed(int times) {
            return new Effect(times, success, result, remembered, inherited, token);
        }

        public Effect succeeded(String callId, String text) {
            return success.isPresent()
                    ? this
                    : new Effect(executions, Optional.of(callId), Optional.of(text), remembered, inherited, token);
        }

        /** Adopts the result of another thread's call, so that this thread never repeats it. */
        public Effect inheriting(String callId, String text) {
            return new Effect(0, Optional.of(callId), Optional.of(text), remembered, true, token);
        }

        /** The record for a thread whose calls have other keys. */
        Effect inSession() {
            return new Effect(0, success, result, remembered, success.isPresent(), token);
        }

        /** Keeps one claim per call: a call is claimed again only if its earlier claim had no effect. */
        public Effect remembering(Remembered claim) {
            List<Remembered> others = without(claim.callId());
            others.add(claim);
            return new Effect(executions, success, result, others, inherited, token);
        }

        /** The claim that a call with this id takes over: its own claim or, if it has none, the oldest one. */
        public Optional<Remembered> rememberedFor(String callId) {
            return remembered.stream()
                    .filter(claim -> claim.callId().equals(callId))
                    .findFirst()
                    .or(() -> remembered.stream().findFirst());
        }

        public Effect forgetting(Remembered claim) {
            return new Effect(executions, success, result, without(claim.callId()), inherited, token);
        }

        private List<Remembered> without(String callId) {
            List<Remembered> others = new ArrayList<>(remembered);
            others.removeIf(claim -> claim.callId().equals(callId));
            return others;
        }
    }

    /**
     * A claim that is not attached to an open call. After a reset, the time in {@code claim} is when the claim was
     * reapplied.
     */
    public record Remembered(String callId, int repeat, Call.Claim claim) {
        public Remembered {
            Objects.requireNonNull(callId, "callId");
            Objects.requireNonNull(claim, "claim");
        }
    }
}
