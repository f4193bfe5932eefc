package dev.waymark.conversation.call;

import dev.waymark.conversation.value.Json;
import dev.waymark.conversation.value.PersistentMap;
import dev.waymark.conversation.value.Sha256;
import java.time.Instant;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/** Counts the effects of a checkpoint's calls while a conversation is restored from it. Not thread-safe. */
public final class RestoredEffects {
    private static final String REPLAY = "[idempotent replay of ";

    private final Map<String, Integer> repeats = new LinkedHashMap<>();
    private EffectLog log = EffectLog.NONE;

    public EffectLog log() {
        return log;
    }

    /** Sets how many identical calls had run before this one, according to its idempotency key. */
    public void repeating(String callId, int earlier) {
        repeats.put(callId, earlier);
    }

    /** A copy of the call with the number of identical calls counted so far. */
    public Call counted(Call call) {
        return call.repeating(log.of(keyOf(call)).executions());
    }

    /** Counts a call that has run but has no result: it asks a question, or its result was deleted. */
    public void executed(String tool, Json args) {
        String key = keyOf(tool, args);
        log = log.with(key, log.of(key).executed());
    }

    /**
     * Records a call that started elsewhere. Its outcome is unknown, so an identical call must not run without a check.
     */
    public void started(String callId, String tool, Json args, Instant at) {
        String key = keyOf(tool, args);
        log = log.with(key, log.of(key).remembering(new EffectLog.Remembered(callId, 0, Call.Claim.elsewhere(at))));
    }

    /**
     * Records a call that ended with this text. A success counts as executed unless the text repeats an earlier result,
     * and a failure only if the text is an error of the tool.
     */
    public void ended(String callId, String tool, Json args, String text, boolean succeeded) {
        boolean ran = succeeded ? !text.startsWith(REPLAY) : text.startsWith(ToolTexts.failure(""));
        if (ran) {
            String key = keyOf(tool, args);
            EffectLog.Effect effect = log.of(key).executed();
            log = log.with(key, succeeded ? effect.succeeded(callId, text) : effect);
        }
    }

    /**
     * Replaces the numbers that were derived from results by those from idempotency keys, in the returned calls and in
     * the log.
     */
    public PersistentMap<Call> countedByKeys(PersistentMap<Call> calls) {
        PersistentMap<Call> counted = calls;
        Map<String, List<Call>> identical = new LinkedHashMap<>();
        for (Map.Entry<String, Integer> repeat : repeats.entrySet()) {
            Call call = calls.get(repeat.getKey()).orElseThrow().repeating(repeat.getValue());
            counted = counted.with(call.id(), call);
            identical.computeIfAbsent(keyOf(call), key -> new ArrayList<>()).add(call);
        }
        identical.forEach(this::countByKeys);
        return counted;
    }

    private void countByKeys(String key, List<Call> identical) {
        int newest = identical.stream().mapToInt(Call::repeat).max().orElse(0);
        boolean oneIsOpen = identical.stream().anyMatch(Call::isOpen);
        // All calls that are safe to retry have the key of the first one.
        boolean uncounted = newest == 0 && identical.size() > 1;
        int executions = oneIsOpen || uncounted ? newest : newest + 1;
        EffectLog.Effect effect = log.of(key);
        if (effect.executions() > 0 || oneIsOpen) {
            log = log.with(key, effect.executed(executions));
        }
    }

    private static String keyOf(Call call) {
        return EffectLog.key(call.tool(), call.argsDigest());
    }

    private static String keyOf(String tool, Json args) {
        return EffectLog.key(tool, Sha256.hex(args.canonical()));
    }
}
