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

    /** Counts a claimed call whose outcome is known. */
    void executed(Call call, boolean succeeded, String text) {
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
