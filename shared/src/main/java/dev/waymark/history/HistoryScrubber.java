package dev.waymark.history;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.core.type.TypeReference;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import com.fasterxml.jackson.databind.node.TextNode;
import com.google.protobuf.ByteString;
import com.google.protobuf.Descriptors.FieldDescriptor;
import com.google.protobuf.Message;
import dev.waymark.agent.DeferredTools;
import dev.waymark.agent.ToolSpec;
import dev.waymark.contract.CarriedReference;
import dev.waymark.contract.CarriedState;
import dev.waymark.contract.ChunkedState;
import dev.waymark.contract.PayloadJson;
import dev.waymark.contract.StateChunk;
import dev.waymark.contract.work.ModelInput;
import dev.waymark.contract.work.RunOutcome;
import dev.waymark.conversation.message.Reply;
import dev.waymark.conversation.value.Json;
import dev.waymark.conversation.value.Sha256;
import io.temporal.api.common.v1.Header;
import io.temporal.api.common.v1.Payload;
import io.temporal.api.common.v1.Payloads;
import io.temporal.api.history.v1.History;
import io.temporal.api.history.v1.HistoryEvent;
import io.temporal.common.WorkflowExecutionHistory;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.BiConsumer;
import java.util.function.UnaryOperator;
import org.jspecify.annotations.Nullable;

/**
 * Removes secrets from the events of a thread, so that the events can be shared. Also removes the identities of workers
 * and clients, and all headers. The conversation remains.
 *
 * <p>Recorded digests of masked data are replaced with digests of the masked text, so that the result replays and
 * projects like the original. An instance is for one thread only.
 */
public final class HistoryScrubber {
    private static final String IDENTITY = "identity";
    private static final String SEAL = "seal";

    private final UnaryOperator<String> mask;

    /** Maps the digest of JSON before masking to its digest after masking. */
    private final Map<String, String> digests = new LinkedHashMap<>();

    private boolean changed;

    /** @param mask returns a text without secrets, and equal results for equal texts */
    public HistoryScrubber(UnaryOperator<String> mask) {
        this.mask = mask;
    }

    /**
     * The thread without secrets.
     *
     * @throws IllegalStateException if the thread would not replay without one of its secrets
     */
    public ThreadHistory scrub(ThreadHistory thread) {
        // Digests of arguments are recorded before and after the arguments themselves.
        thread.runs().forEach(run -> masked(run.history()));
        List<ThreadHistory.Run> runs = new ArrayList<>();
        for (ThreadHistory.Run run : thread.runs()) {
            WorkflowExecutionHistory masked = masked(run.history());
            WorkflowExecutionHistory result = changed ? resealed(run.runId(), masked) : masked;
            if (changed) {
                compare(run, result);
            }
            runs.add(new ThreadHistory.Run(run.runId(), result, RunProjection.of(run.runId(), result)));
        }
        return new ThreadHistory(mask.apply(thread.thread()), runs, thread.encrypted());
    }

    private WorkflowExecutionHistory masked(WorkflowExecutionHistory history) {
        History.Builder masked = History.newBuilder();
        MaskedChunks chunks = MaskedChunks.of(history, this::masked, digests::put);
        for (HistoryEvent event : history.getEvents()) {
            HistoryEvent.Builder builder = event.toBuilder();
            mask(builder);
            chunks.result(event)
                    .ifPresent(result -> builder.getActivityTaskCompletedEventAttributesBuilder()
                            .setResult(result));
            masked.addEvents(builder);
        }
        return new WorkflowExecutionHistory(
                masked.build(), mask.apply(history.getWorkflowExecution().getWorkflowId()));
    }

    private void mask(Message.Builder message) {
        for (Map.Entry<FieldDescriptor, Object> entry : message.getAllFields().entrySet()) {
            FieldDescriptor field = entry.getKey();
            if (field.getName().equals(IDENTITY)) {
                message.clearField(field);
            } else if (field.isRepeated()) {
                List<?> values = (List<?>) entry.getValue();
                for (int i = 0; i < values.size(); i++) {
                    message.setRepeatedField(field, i, masked(values.get(i)));
                }
            } else {
                message.setField(field, masked(entry.getValue()));
            }
        }
    }

    private Object masked(Object value) {
        if (value instanceof String text) {
            return text(text);
        }
        if (value instanceof Payload payload) {
            return masked(payload);
        }
        if (value instanceof Header header) {
            return header.getDefaultInstanceForType();
        }
        if (value instanceof Message message) {
            Message.Builder builder = message.toBuilder();
            mask(builder);
            return builder.build();
        }
        return value;
    }

    private Payload masked(Payload payload) {
        String text = payload.getData().toStringUtf8();
        if (!ByteString.copyFromUtf8(text).equals(payload.getData())) {
            return payload; // Masks apply to text, and agents record nothing else.
        }
        JsonNode json;
        try {
            json = PayloadJson.MAPPER.readTree(text);
        } catch (JsonProcessingException e) {
            return with(payload, text(text));
        }
        JsonNode masked = masked(json);
        return masked.equals(json) ? payload : with(payload, masked.toString());
    }

    private static Payload with(Payload payload, String text) {
        return payload.toBuilder()
                .setData(ByteString.copyFrom(text, StandardCharsets.UTF_8))
                .build();
    }

    private JsonNode masked(JsonNode json) {
        if (json.isTextual()) {
            return TextNode.valueOf(text(json.textValue()));
        }
        if (json.isArray()) {
            ArrayNode masked = JsonNodeFactory.instance.arrayNode();
            json.forEach(item -> masked.add(masked(item)));
            return masked;
        }
        if (!json.isObject()) {
            return json;
        }
        ObjectNode masked = JsonNodeFactory.instance.objectNode();
        json.properties().forEach(field -> {
            boolean isState =
                    field.getKey().equals("carried") && field.getValue().isTextual() && json.has("rules");
            masked.set(
                    text(field.getKey()),
                    isState
                            ? TextNode.valueOf(carried(field.getValue().textValue()))
                            : field.getKey().equals(PackedTools.FIELD)
                                    ? deferred(field.getValue())
                                    : masked(field.getValue()));
        });
        if (!masked.equals(json)) {
            digests.put(digest(json), digest(masked));
        }
        return masked;
    }

    private String carried(String packed) {
        JsonNode state = PayloadJson.MAPPER.valueToTree(CarriedState.unpack(packed));
        JsonNode masked = masked(state);
        return masked.equals(state)
                ? packed
                : PayloadJson.MAPPER.convertValue(masked, CarriedState.class).pack();
    }

    private JsonNode deferred(JsonNode value) {
        Optional<JsonNode> tools = PackedTools.in(value).map(PayloadJson.MAPPER::valueToTree);
        if (tools.isEmpty()) {
            return masked(value);
        }
        JsonNode masked = masked(tools.get());
        return masked.equals(tools.get())
                ? value
                : PayloadJson.MAPPER.valueToTree(DeferredTools.of(
                        PayloadJson.MAPPER.convertValue(masked, new TypeReference<List<ToolSpec>>() {})));
    }

    /** The text without secrets. A digest of something that was masked becomes the digest of the masked value. */
    private String text(String text) {
        String masked = mask.apply(text);
        String result = digests.getOrDefault(masked, masked);
        changed |= !result.equals(text);
        return result;
    }

    private static String digest(JsonNode json) {
        return Sha256.hex(PayloadJson.MAPPER.convertValue(json, Json.class).canonical());
    }

    /** Replaces the recorded digests of the original conversation with digests of the masked one. */
    private static WorkflowExecutionHistory resealed(String runId, WorkflowExecutionHistory masked) {
        Projector projector = new Projector(runId, moment -> {});
        History.Builder result = History.newBuilder();
        for (HistoryEvent each : masked.getEvents()) {
            HistoryEvent event = withOwnSeal(each);
            projector.accept(event);
            HistoryEvent.Builder builder = event.toBuilder();
            if (event.hasActivityTaskScheduledEventAttributes()) {
                builder.getActivityTaskScheduledEventAttributesBuilder()
                        .setInput(withDigest(
                                event.getActivityTaskScheduledEventAttributes().getInput(), projector));
            } else if (event.hasWorkflowExecutionCompletedEventAttributes()) {
                builder.getWorkflowExecutionCompletedEventAttributesBuilder()
                        .setResult(withDecisions(
                                event.getWorkflowExecutionCompletedEventAttributes()
                                        .getResult(),
                                projector));
            }
            result.addEvents(builder);
        }
        return new WorkflowExecutionHistory(
                result.build(), masked.getWorkflowExecution().getWorkflowId());
    }

    private static HistoryEvent withOwnSeal(HistoryEvent event) {
        if (!event.hasActivityTaskCompletedEventAttributes()) {
            return event;
        }
        HistoryEvent.Builder builder = event.toBuilder();
        builder.getActivityTaskCompletedEventAttributesBuilder()
                .setResult(changed(
                        event.getActivityTaskCompletedEventAttributes().getResult(), reply -> {
                            if (reply.has(SEAL)) {
                                PayloadJson.MAPPER
                                        .convertValue(reply, Reply.class)
                                        .sealed()
                                        .seal()
                                        .ifPresent(seal -> reply.put(SEAL, seal));
                            }
                        }));
        return builder.build();
    }

    private static Payloads withDigest(Payloads input, Projector projector) {
        return changed(input, node -> {
            if (node.has("messageCount") && node.has("digest")) {
                ModelInput now = ModelInput.of(projector.atModelCall().orElseThrow());
                node.put("digest", now.digest());
                put(node, now.decisions());
            }
        });
    }

    private static Payloads withDecisions(Payloads result, Projector projector) {
        return changed(
                result,
                node -> put(node, RunOutcome.of(projector.state().orElseThrow()).decisions()));
    }

    private static void put(ObjectNode node, Optional<String> decisions) {
        if (node.has("decisions")) {
            decisions.ifPresent(digest -> node.put("decisions", digest));
        }
    }

    private interface Change {
        void apply(ObjectNode node);
    }

    private static Payloads changed(Payloads payloads, Change change) {
        if (payloads.getPayloadsCount() != 1) {
            return payloads;
        }
        JsonNode node = tree(payloads.getPayloads(0));
        if (!(node instanceof ObjectNode object)) {
            return payloads;
        }
        String before = object.toString();
        change.apply(object);
        return object.toString().equals(before)
                ? payloads
                : payloads.toBuilder()
                        .setPayloads(0, with(payloads.getPayloads(0), object.toString()))
                        .build();
    }

    private static @Nullable JsonNode tree(Payload payload) {
        try {
            return PayloadJson.MAPPER.readTree(payload.getData().toByteArray());
        } catch (java.io.IOException e) {
            return null;
        }
    }

    /** Checks that masking did not change the course of the thread. Otherwise a replay would test something else. */
    private static void compare(ThreadHistory.Run original, WorkflowExecutionHistory result) {
        List<Step> before = steps(original.runId(), original.history());
        List<Step> after = steps(original.runId(), result);
        for (int i = 0; i < Math.max(before.size(), after.size()); i++) {
            Step was = i < before.size() ? before.get(i) : null;
            Step is = i < after.size() ? after.get(i) : null;
            if (was == null || !was.equals(is)) {
                Step place = was == null ? is : was;
                throw new IllegalStateException("the thread depends on a secret at " + original.runId()
                        + "/e" + (place == null ? 0 : place.eventId())
                        + ", so the thread would not replay without it");
            }
        }
        Projector projector = new Projector(original.runId(), moment -> {});
        result.getEvents().forEach(projector::accept);
        if (!projector.mismatches().isEmpty() || !projector.contradictions().isEmpty()) {
            throw new IllegalStateException("without its secrets, the history is inconsistent: "
                    + projector.mismatches() + projector.contradictions());
        }
    }

    /** A moment without its texts: the event, the fact, the turn's status, and the number of messages. */
    private record Step(long eventId, String fact, String status, int calls) {}

    private static List<Step> steps(String runId, WorkflowExecutionHistory history) {
        List<Step> steps = new ArrayList<>();
        Projector projector = new Projector(
                runId,
                moment -> steps.add(new Step(
                        moment.eventId(),
                        moment.fact().map(fact -> fact.type()).orElse(""),
                        moment.state().turn().status().wireName(),
                        moment.state().transcript().count())));
        history.getEvents().forEach(projector::accept);
        return steps;
    }

    /**
     * The activity results that contain the previous run's state in chunks, with secrets masked. A secret may be split
     * between two chunks, so the state is assembled, masked, and cut into the same number of chunks.
     */
    private static final class MaskedChunks {
        private final Map<Long, Payloads> results = new LinkedHashMap<>();

        private MaskedChunks() {}

        /** The masked result for this event, if the event ends the fetch of a chunk and its result was masked. */
        Optional<Payloads> result(HistoryEvent event) {
            return Optional.ofNullable(results.get(event.getEventId()));
        }

        /** @param digests receives each digest that has changed, with the new digest */
        static MaskedChunks of(
                WorkflowExecutionHistory history, UnaryOperator<JsonNode> mask, BiConsumer<String, String> digests) {
            MaskedChunks masked = new MaskedChunks();
            CarriedArrival.Chunks.of(history).ifPresent(arrival -> {
                masked.empty(arrival);
                arrival.whole().ifPresent(state -> masked.mask(arrival, state, mask, digests));
            });
            return masked;
        }

        /**
         * Empties the chunks that are not part of an assembled state, for example because the previous run is gone.
         * They may contain parts of secrets, and a replay needs only their numbers.
         */
        private void empty(CarriedArrival.Chunks arrival) {
            arrival.chunks().forEach((eventId, chunk) -> {
                if (!arrival.isOfWhole(chunk)) {
                    put(eventId, new StateChunk(chunk.index(), chunk.count(), chunk.whole(), ""));
                }
            });
        }

        private void put(long eventId, StateChunk chunk) {
            results.put(eventId, PayloadJson.dataConverter().toPayloads(chunk).orElseThrow());
        }

        private void mask(
                CarriedArrival.Chunks arrival,
                CarriedState whole,
                UnaryOperator<JsonNode> mask,
                BiConsumer<String, String> digests) {
            JsonNode state = PayloadJson.MAPPER.valueToTree(whole);
            JsonNode without = mask.apply(state);
            if (!without.equals(state)) {
                replace(arrival, PayloadJson.MAPPER.convertValue(without, CarriedState.class), digests);
            }
        }

        private void replace(CarriedArrival.Chunks arrival, CarriedState masked, BiConsumer<String, String> digests) {
            CarriedReference reference = arrival.reference();
            ChunkedState whole = ChunkedState.of(masked);
            CarriedReference now = CarriedReference.of(reference.runId(), masked.state());
            digests.accept(reference.digest(), now.digest());
            reference
                    .decisions()
                    .ifPresent(before -> digests.accept(before, now.decisions().orElse("")));
            arrival.chunks().forEach((eventId, chunk) -> {
                if (arrival.isOfWhole(chunk)) {
                    digests.accept(chunk.whole(), whole.whole());
                    put(eventId, whole.chunk(chunk.index(), chunk.count()));
                }
            });
        }
    }
}
