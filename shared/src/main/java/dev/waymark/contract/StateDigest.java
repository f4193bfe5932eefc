package dev.waymark.contract;

import com.fasterxml.jackson.core.type.TypeReference;
import dev.waymark.conversation.Conversation;
import dev.waymark.conversation.message.Transcript;
import dev.waymark.conversation.value.Json;
import dev.waymark.conversation.value.Sha256;
import java.util.LinkedHashMap;
import java.util.Map;

/** A digest of a whole state, to compare the results of two readers of a history. */
public final class StateDigest {
    private StateDigest() {}

    /** Uses the transcript's own digest, so that the cost does not grow with the conversation. */
    public static String of(Conversation state) {
        Map<String, Object> tree = new LinkedHashMap<>(PayloadJson.MAPPER.convertValue(
                state.withTranscript(Transcript.EMPTY), new TypeReference<Map<String, Object>>() {}));
        tree.put("transcriptDigest", state.transcript().digest());
        return Sha256.hex(Json.canonical(tree));
    }
}
