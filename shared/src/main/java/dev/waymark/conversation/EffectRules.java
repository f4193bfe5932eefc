package dev.waymark.conversation;

import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Optional;

/** Rules of side effects: what is counted, remembered and replayed, by tool and arguments. */
final class EffectRules {
    private final Draft draft;

    EffectRules(Draft draft) {
        this.draft = draft;
    }

    /**
     * A claim, with a fencing token that is larger than those of all claims of the same tool and arguments before. It
     * begins with the time, so that it grows also over a reset, and from a saved thread to the one that goes on from it.
     */
    Call.Claim claim(String tool, String argsDigest, String execution) {
        if (draft.identity.rules < 2) {
            return new Call.Claim(execution, draft.at);
        }
        String key = EffectLog.key(tool, argsDigest);
        EffectLog.Effect effect = draft.book.effects.of(key);
        long token = Math.max(draft.at.toEpochMilli(), effect.token() + 1);
        draft.book.effects = draft.book.effects.with(key, effect.claimed(token));
        return new Call.Claim(execution, draft.at, token);
    }

    /** Counts a claimed call that took effect, or of which a person is asked. */
    void done(Call call, boolean succeeded, String text) {
        executed(call, succeeded, text);
    }

    /**
     * Takes note of a claimed call that failed. Under the first rules its key was used up by that. But an error that a tool
     * reports does not prove that nothing took effect, so the next call like it has to show the same key.
     */
    void failed(Call call, boolean notDone) {
        if (notDone || draft.identity.rules < 2) {
            executed(call, false, "");
        }
    }

    private void executed(Call call, boolean succeeded, String text) {
        AgentPolicy.Care care = draft.careOf(call);
        if (call.claim().isPresent() && care.effect()) {
            EffectLog.Effect effect = draft.book.effectOf(call).executed();
            draft.book.put(call, succeeded && care.dedupe() ? effect.succeeded(call.id(), text) : effect);
            // A call of a later turn that has not run yet is the next of its kind now, and its key says so.
            draft.book.openCalls().stream()
                    .filter(other -> other.status() == Call.Status.ISSUED
                            && other.dispatches() == 0
                            && other.claim().isEmpty()
                            && CallBook.effectKey(other).equals(CallBook.effectKey(call)))
                    .forEach(other -> draft.book.put(other.repeating(effect.executions())));
        }
    }

    /** Keeps what is known of tools with side effects: a checkpoint does not say which tools have some. */
    void keepOnlyEffects(AgentPolicy terms) {
        draft.book.effects = draft.book.effects.of(tool -> terms.careOf(tool).effect());
    }

    /** What was done is done for a fork too; a result that was forgotten may have been anything. */
    void inherit() {
        Map<String, String> results = new LinkedHashMap<>();
        draft.dialogue
                .transcript
                .messages()
                .forEach(message ->
                        message.toolResults().forEach(result -> results.put(result.toolUseId(), result.content())));
        draft.book.effects = draft.book.effects.inherited();
        draft.book.calls.forEach((id, call) -> {
            if (call.status() == Call.Status.COMPLETED && draft.careOf(call).effect()) {
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
