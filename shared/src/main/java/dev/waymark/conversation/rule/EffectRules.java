package dev.waymark.conversation.rule;

import dev.waymark.conversation.call.AgentPolicy;
import dev.waymark.conversation.call.Call;
import dev.waymark.conversation.call.EffectLog;
import dev.waymark.conversation.state.CallBook;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Optional;

/**
 * Rules of the record of side effects, by tool and arguments: counts, remembered claims, and results to return again.
 */
final class EffectRules {
    private EffectRules() {}

    /**
     * A claim with a fencing token that is larger than all earlier tokens for the same tool and arguments. The token is
     * at least the time in milliseconds, so it also grows across resets, and from a saved thread to its continuation.
     */
    static Call.Claim claim(Draft draft, String tool, String argsDigest, String execution) {
        String key = EffectLog.key(tool, argsDigest);
        EffectLog.Effect effect = draft.book.effects.of(key);
        long token = Math.max(draft.at.toEpochMilli(), effect.token() + 1);
        draft.book.effects = draft.book.effects.with(key, effect.claimed(token));
        return new Call.Claim(execution, draft.at, token);
    }

    /** Counts a claimed call that took effect, or that asks a person. */
    static void done(Draft draft, Call call, boolean succeeded, String text) {
        AgentPolicy.ToolPolicy policy = draft.policyOf(call);
        // A claimed call has side effects, even if the agent is not known yet.
        boolean isUnknown = draft.binding.policy.isEmpty();
        if (call.claim().isPresent() && (policy.effect() || isUnknown)) {
            EffectLog.Effect effect = draft.book.effectOf(call).executed();
            draft.book.put(
                    call,
                    succeeded && policy.dedupe()
                            ? effect.succeeded(call.id(), ResultRules.told(draft, call, text))
                            : effect);
            // An undispatched identical call of a later turn is now the next one, and gets the next key.
            draft.book.openCalls().stream()
                    .filter(other -> other.status() == Call.Status.ISSUED
                            && other.dispatches() == 0
                            && other.claim().isEmpty()
                            && CallBook.effectKey(other).equals(CallBook.effectKey(call)))
                    .forEach(other -> draft.book.put(other.repeating(effect.executions())));
        }
    }

    /**
     * Records a claimed call that failed. A failure uses up the key only if it proves that nothing took effect. Other
     * errors prove nothing, so the next identical call must use the same key.
     */
    static void failed(Draft draft, Call call, boolean notDone) {
        if (notDone) {
            done(draft, call, false, "");
        }
    }

    /** Drops the records of tools without side effects. A checkpoint does not show which tools have some. */
    static void keepOnlyEffects(Draft draft, AgentPolicy policy) {
        draft.book.effects = draft.book.effects.of(tool -> policy.policyOf(tool).effect());
    }

    /**
     * Copies the effects of the original thread to its fork. If the result of a call was deleted, its outcome counts as
     * unknown.
     */
    static void inherit(Draft draft) {
        Map<String, String> results = new LinkedHashMap<>();
        draft.dialogue
                .transcript
                .messages()
                .forEach(message ->
                        message.toolResults().forEach(result -> results.put(result.toolUseId(), result.content())));
        draft.book.effects = draft.book.effects.inherited();
        draft.book.calls.forEach((id, call) -> {
            if (call.status() == Call.Status.COMPLETED && draft.policyOf(call).effect()) {
                EffectLog.Effect effect = draft.book.effectOf(call);
                Optional<String> result = call.result().or(() -> Optional.ofNullable(results.get(id)));
                Call.Claim claim = new Call.Claim("before the fork", call.since());
                draft.book.put(
                        call,
                        effect.success().isPresent()
                                ? effect
                                : result.map(text -> effect.inheriting(id, text))
                                        .orElseGet(() -> effect.remembering(new EffectLog.Remembered(id, 0, claim))));
            }
        });
    }
}
