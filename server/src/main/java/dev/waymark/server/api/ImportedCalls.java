package dev.waymark.server.api;

import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.waymark.client.CheckpointReview;
import dev.waymark.contract.PayloadJson;
import java.util.List;

/** The calls of an imported checkpoint that need a person's attention, as JSON. */
final class ImportedCalls {
    /** Longer arguments are replaced by their length; the thread contains them in full. */
    private static final int MOST_CHARACTERS = 8_000;

    private ImportedCalls() {}

    static ArrayNode document(CheckpointReview review) {
        ArrayNode list = PayloadJson.MAPPER.createArrayNode();
        add(list, review.notStarted(), "not-started");
        add(list, review.mayHaveRun(), "may-have-run");
        add(list, review.aheadOfTranscript(), "ahead-of-transcript");
        return list;
    }

    private static void add(ArrayNode list, List<CheckpointReview.FileCall> calls, String standing) {
        for (CheckpointReview.FileCall call : calls) {
            ObjectNode row = list.addObject();
            row.put("callId", call.callId());
            row.put("tool", call.tool());
            int length = call.args().canonical().length();
            if (length > MOST_CHARACTERS) {
                row.putObject("args").put("truncated", length);
            } else {
                row.set("args", PayloadJson.MAPPER.valueToTree(call.args()));
            }
            row.put("standing", standing);
            row.put("since", call.since().toString());
        }
    }
}
