package dev.waymark.simulation;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.core.type.TypeReference;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.waymark.contract.PayloadJson;
import dev.waymark.conversation.Conversation;
import dev.waymark.conversation.call.Call;
import dev.waymark.conversation.value.PersistentMap;
import java.util.function.Consumer;

/** Creates states that the rules would never produce. */
final class StateEditor {
    private StateEditor() {}

    static Conversation edit(Conversation state, Consumer<ObjectNode> change) {
        try {
            ObjectNode tree = PayloadJson.MAPPER.valueToTree(state);
            change.accept(tree);
            return PayloadJson.MAPPER.treeToValue(tree, Conversation.class);
        } catch (JsonProcessingException e) {
            throw new AssertionError(e);
        }
    }

    static PersistentMap<Call> calls(ObjectNode state) {
        return PayloadJson.MAPPER.convertValue(state.get("calls"), new TypeReference<PersistentMap<Call>>() {});
    }
}
