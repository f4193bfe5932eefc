package dev.waymark.client;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.JsonMappingException;
import dev.waymark.client.failure.WaymarkException;
import dev.waymark.contract.PayloadJson;
import dev.waymark.conversation.value.Json;
import dev.waymark.conversation.value.ProblemType;
import java.util.stream.Collectors;

/** Converts the JSON of a structured reply to a record. */
final class TypedReply {
    private TypedReply() {}

    static <T extends Record> T of(AgentResult.Complete result, Class<T> type) {
        Json reply = result.structured()
                .orElseThrow(() -> mismatch(
                        result, "the prompt has no schema. Add withSchema(" + type.getSimpleName() + ".class)"));
        try {
            return PayloadJson.MAPPER.treeToValue(PayloadJson.MAPPER.valueToTree(reply), type);
        } catch (JsonMappingException e) {
            throw mismatch(
                    result,
                    "the reply is no " + type.getSimpleName() + ": " + place(e) + ": " + e.getOriginalMessage());
        } catch (JsonProcessingException e) {
            throw mismatch(result, "the reply is no " + type.getSimpleName() + ": " + e.getOriginalMessage());
        }
    }

    /** The path of the field, as the check of the schema names it: {@code /lines/1/due}. */
    private static String place(JsonMappingException failure) {
        return failure.getPath().stream()
                .map(step ->
                        "/" + (step.getFieldName() == null ? String.valueOf(step.getIndex()) : step.getFieldName()))
                .collect(Collectors.joining());
    }

    private static WaymarkException mismatch(AgentResult.Complete result, String words) {
        return new WaymarkException.NotComplete(ProblemType.SCHEMA_MISMATCH, words, result.thread());
    }
}
