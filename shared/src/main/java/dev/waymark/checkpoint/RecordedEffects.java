package dev.waymark.checkpoint;

import dev.waymark.conversation.call.ToolTexts;
import dev.waymark.conversation.message.Part;
import dev.waymark.conversation.rule.Restoration;
import dev.waymark.conversation.value.Json;
import java.time.Instant;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * Results recorded separately from a conversation, so that a call with a result is never executed again. Each row has
 * hashes of its input and output; a mismatch is corruption.
 */
final class RecordedEffects {
    private final Map<String, List<Row>> rows = new LinkedHashMap<>();

    private record Row(CheckpointFields fields, int step, String inputHash, Json output, boolean success) {
        String text() {
            if (output.isNull() && !success) {
                return ToolTexts.failure("its message was not recorded");
            }
            return output.value() instanceof String words ? words : output.canonical();
        }
    }

    /** Adds the results recorded with this step. */
    void add(CheckpointFields effects, int step) {
        for (String callId : effects.names()) {
            CheckpointFields fields = effects.object(callId);
            Json output = fields.json("output");
            if (!fields.text("output_hash").equals(PhasesSnapshot.outputHash(output))) {
                throw fields.corrupt("\"output_hash\" does not match the output");
            }
            rows.computeIfAbsent(callId, id -> new ArrayList<>())
                    .add(new Row(fields, step, fields.text("input_hash"), output, fields.flag("success")));
        }
    }

    /**
     * Gives results to the open calls that have one, and returns the number of these calls. Rows of other calls are
     * ignored. If an earlier reply has a call with the same id, only rows of the newest step belong to the newest call.
     */
    int replay(CallIds ids, Restoration conversation, int newestStep, Instant at) {
        int replayed = 0;
        for (Map.Entry<String, List<Row>> each : rows.entrySet()) {
            boolean isUsedBefore = ids.usesInEarlierReplies(each.getKey()) > 0;
            List<Row> ofCall = each.getValue().stream()
                    .filter(row -> !isUsedBefore || row.step() == newestStep)
                    .toList();
            Optional<String> found = ofCall.isEmpty() ? Optional.empty() : ids.find(each.getKey());
            if (found.isEmpty()) {
                continue;
            }
            String callId = found.get();
            conversation.toolUse(callId).ifPresent(call -> ofCall.forEach(row -> check(row, call, ofCall.get(0))));
            if (conversation.openCall(callId).isPresent()) {
                Row row = ofCall.get(0);
                conversation.answerIfOpen(callId, row.text(), !row.success(), at);
                replayed++;
            }
        }
        return replayed;
    }

    private static void check(Row row, Part.ToolUse call, Row first) {
        if (!row.inputHash().equals(PhasesSnapshot.inputHash(call.name(), FileArguments.written(call.input())))) {
            throw row.fields().corrupt("\"input_hash\" does not match the call");
        }
        if (!row.output().equals(first.output()) || row.success() != first.success()) {
            throw row.fields().corrupt("the result differs from an earlier record");
        }
    }
}
