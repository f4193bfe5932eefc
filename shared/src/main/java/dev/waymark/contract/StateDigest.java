package dev.waymark.contract;

import com.fasterxml.jackson.core.type.TypeReference;
import dev.waymark.conversation.Conversation;
import dev.waymark.conversation.message.Transcript;
import dev.waymark.conversation.value.Json;
import dev.waymark.conversation.value.Sha256;
import java.util.LinkedHashMap;
import java.util.Map;

/** A digest of a whole state, for comparing what two readers of one history believe. */
public final class StateDigest {
    private StateDigest() {}

    /** The transcript enters by its own digest, so the cost does not grow with what was said. */
    public static String of(Conversation state) {
        Map<String, Object> tree = new LinkedHashMap<>(PayloadJson.MAPPER.convertValue(
                state.withTranscript(Transcript.EMPTY), new TypeReference<Map<String, Object>>() {}));
        tree.put("transcriptDigest", state.transcript().digest());
        return Sha256.hex(Json.canonical(tree));
    }
}
