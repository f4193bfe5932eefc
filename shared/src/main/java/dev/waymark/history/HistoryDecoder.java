package dev.waymark.history;

import com.fasterxml.jackson.databind.JsonNode;
import com.google.protobuf.Descriptors.FieldDescriptor;
import com.google.protobuf.Message;
import dev.waymark.codec.EncryptionCodec;
import dev.waymark.codec.KeyProblem;
import dev.waymark.contract.PayloadJson;
import io.temporal.api.common.v1.Header;
import io.temporal.api.common.v1.Payload;
import io.temporal.api.common.v1.Payloads;
import io.temporal.api.common.v1.SearchAttributes;
import io.temporal.api.failure.v1.Failure;
import io.temporal.api.history.v1.HistoryEvent;
import io.temporal.payload.codec.PayloadCodec;
import io.temporal.payload.codec.PayloadCodecException;
import io.temporal.payload.context.WorkflowSerializationContext;
import java.io.IOException;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.stream.Stream;

/** Decodes the payloads and failure messages of a thread's events. */
final class HistoryDecoder {
    private final PayloadCodec codec;
    private final String namespace;
    private final String workflowId;

    HistoryDecoder(PayloadCodec codec, String namespace, String workflowId) {
        this.codec = codec.withContext(new WorkflowSerializationContext(namespace, workflowId));
        this.namespace = namespace;
        this.workflowId = workflowId;
    }

    /**
     * The event with decoded payloads and failure messages.
     *
     * @throws KeyProblem if a payload was altered, belongs elsewhere, or needs a missing key
     */
    HistoryEvent decoded(HistoryEvent event) {
        HistoryEvent.Builder plain = withoutOtherThreads(event);
        Optional<HistoryDecoder> ofOther = other(event)
                .filter(other -> !other.equals(workflowId))
                .map(other -> new HistoryDecoder(codec, namespace, other));
        try {
            decode(plain, ofOther);
        } catch (PayloadCodecException e) {
            throw new KeyProblem("event " + event.getEventId() + " cannot be read: " + e.getMessage());
        }
        return plain.build();
    }

    /**
     * A copy without the result and the failure of the schedule's previous thread, which Temporal copies into the start
     * of the next one. They are encrypted for that thread and are not needed here.
     */
    private static HistoryEvent.Builder withoutOtherThreads(HistoryEvent event) {
        HistoryEvent.Builder copy = event.toBuilder();
        if (event.hasWorkflowExecutionStartedEventAttributes()) {
            copy.getWorkflowExecutionStartedEventAttributesBuilder()
                    .clearLastCompletionResult()
                    .clearContinuedFailure();
        }
        return copy;
    }

    /** The thread that this event sends something to or receives something from. The payloads belong to that thread. */
    private static Optional<String> other(HistoryEvent event) {
        return switch (event.getAttributesCase()) {
            case START_CHILD_WORKFLOW_EXECUTION_INITIATED_EVENT_ATTRIBUTES ->
                Optional.of(event.getStartChildWorkflowExecutionInitiatedEventAttributes()
                        .getWorkflowId());
            case CHILD_WORKFLOW_EXECUTION_COMPLETED_EVENT_ATTRIBUTES ->
                Optional.of(event.getChildWorkflowExecutionCompletedEventAttributes()
                        .getWorkflowExecution()
                        .getWorkflowId());
            case CHILD_WORKFLOW_EXECUTION_FAILED_EVENT_ATTRIBUTES ->
                Optional.of(event.getChildWorkflowExecutionFailedEventAttributes()
                        .getWorkflowExecution()
                        .getWorkflowId());
            case CHILD_WORKFLOW_EXECUTION_CANCELED_EVENT_ATTRIBUTES ->
                Optional.of(event.getChildWorkflowExecutionCanceledEventAttributes()
                        .getWorkflowExecution()
                        .getWorkflowId());
            case SIGNAL_EXTERNAL_WORKFLOW_EXECUTION_INITIATED_EVENT_ATTRIBUTES ->
                Optional.of(event.getSignalExternalWorkflowExecutionInitiatedEventAttributes()
                        .getWorkflowExecution()
                        .getWorkflowId());
            default -> Optional.empty();
        };
    }

    /**
     * Returns the event unchanged, for a reader without keys.
     *
     * @throws KeyProblem if a worker or starter encrypted the event. Data from other senders may claim to be encrypted,
     *     but cannot make a thread unreadable.
     */
    static HistoryEvent refuseEncrypted(HistoryEvent event) {
        if (ofWorkers(event).anyMatch(EncryptionCodec::isEncrypted)) {
            throw KeyProblem.withoutKeys("the thread is encrypted");
        }
        return event;
    }

    /**
     * The payloads that workers and starters wrote. Avoids reflection, which would take as long as parsing the event.
     */
    private static Stream<Payload> ofWorkers(HistoryEvent event) {
        Payloads payloads = switch (event.getAttributesCase()) {
            case WORKFLOW_EXECUTION_STARTED_EVENT_ATTRIBUTES ->
                event.getWorkflowExecutionStartedEventAttributes().getInput();
            case ACTIVITY_TASK_SCHEDULED_EVENT_ATTRIBUTES ->
                event.getActivityTaskScheduledEventAttributes().getInput();
            case ACTIVITY_TASK_COMPLETED_EVENT_ATTRIBUTES ->
                event.getActivityTaskCompletedEventAttributes().getResult();
            case START_CHILD_WORKFLOW_EXECUTION_INITIATED_EVENT_ATTRIBUTES ->
                event.getStartChildWorkflowExecutionInitiatedEventAttributes().getInput();
            case CHILD_WORKFLOW_EXECUTION_COMPLETED_EVENT_ATTRIBUTES ->
                event.getChildWorkflowExecutionCompletedEventAttributes().getResult();
            case SIGNAL_EXTERNAL_WORKFLOW_EXECUTION_INITIATED_EVENT_ATTRIBUTES ->
                event.getSignalExternalWorkflowExecutionInitiatedEventAttributes()
                        .getInput();
            case MARKER_RECORDED_EVENT_ATTRIBUTES ->
                Payloads.newBuilder()
                        .addAllPayloads(event.getMarkerRecordedEventAttributes().getDetailsMap().values().stream()
                                .flatMap(details -> details.getPayloadsList().stream())
                                .toList())
                        .build();
            default -> Payloads.getDefaultInstance();
        };
        return payloads.getPayloadsList().stream();
    }

    /** Whether this message or a part of it contains an encrypted payload, from any sender. */
    static boolean isEncrypted(Message message) {
        if (message instanceof Payload payload) {
            return EncryptionCodec.isEncrypted(payload);
        }
        return !isNeverEncoded(message)
                && message.getAllFields().values().stream()
                        .flatMap(value -> value instanceof List<?> list ? list.stream() : Stream.of(value))
                        .anyMatch(value -> value instanceof Message part && isEncrypted(part));
    }

    private static boolean isNeverEncoded(Message message) {
        return message instanceof SearchAttributes || message instanceof Header;
    }

    private void decode(Message.Builder message, Optional<HistoryDecoder> ofOther) {
        for (Map.Entry<FieldDescriptor, Object> entry : message.getAllFields().entrySet()) {
            FieldDescriptor field = entry.getKey();
            if (field.getJavaType() != FieldDescriptor.JavaType.MESSAGE) {
                continue;
            }
            if (field.isRepeated()) {
                List<?> values = (List<?>) entry.getValue();
                for (int i = 0; i < values.size(); i++) {
                    message.setRepeatedField(field, i, decoded((Message) values.get(i), ofOther));
                }
            } else {
                message.setField(field, decoded((Message) entry.getValue(), ofOther));
            }
        }
    }

    private Message decoded(Message message, Optional<HistoryDecoder> ofOther) {
        if (message instanceof Payload payload) {
            PayloadCodec own = ofOther.filter(
                            other -> EncryptionCodec.thread(payload).equals(Optional.of(other.workflowId)))
                    .map(other -> other.codec)
                    .orElse(codec);
            return own.decode(List.of(payload)).get(0);
        }
        if (isNeverEncoded(message)) {
            return message;
        }
        Message.Builder plain = message.toBuilder();
        decode(plain, ofOther);
        return plain instanceof Failure.Builder failure ? worded(failure) : plain.build();
    }

    /** Restores an encoded message and stack trace to their usual fields. */
    private static Failure worded(Failure.Builder failure) {
        if (failure.hasEncodedAttributes()) {
            try {
                JsonNode attributes = PayloadJson.MAPPER.readTree(
                        failure.getEncodedAttributes().getData().toByteArray());
                failure.setMessage(attributes.path("message").asText());
                failure.setStackTrace(attributes.path("stack_trace").asText());
                failure.clearEncodedAttributes();
            } catch (IOException e) {
                throw new PayloadCodecException("the message of a failure cannot be read", e);
            }
        }
        return failure.build();
    }
}
