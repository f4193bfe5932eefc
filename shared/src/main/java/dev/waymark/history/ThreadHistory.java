package dev.waymark.history;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import com.google.protobuf.Message;
import dev.waymark.codec.EncryptionCodec;
import dev.waymark.contract.CarriedState;
import dev.waymark.contract.PayloadJson;
import dev.waymark.thread.ThreadOwner;
import dev.waymark.timeline.Moment;
import dev.waymark.timeline.Timeline;
import io.temporal.api.common.v1.Payload;
import io.temporal.api.history.v1.History;
import io.temporal.api.history.v1.HistoryEvent;
import io.temporal.common.WorkflowExecutionHistory;
import io.temporal.payload.codec.PayloadCodec;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.stream.Stream;

/**
 * The events of a thread: all runs that the server still has, oldest first, and optionally their projections. The
 * payloads are not encrypted.
 *
 * <p>As a document: {@code {"waymarkHistory": 1, "thread": …, "runs": [{"runId": …, "events": […], "projection":
 * {…}}]}}, with events in Temporal's JSON. The output of {@code temporal workflow show --output json}, which is a
 * single run without a projection, can be read as well.
 *
 * @param encrypted whether any part of the thread is encrypted on the server
 */
public record ThreadHistory(String thread, List<Run> runs, boolean encrypted) {
    private static final int FORMAT = 1;
    private static final String UNKNOWN_RUN = "recorded";
    /** The events that a workflow task has caused have this field. */
    private static final String OF_TASK = "workflow_task_completed_event_id";

    public ThreadHistory {
        runs = List.copyOf(runs);
    }

    /** @param projection the projection of the run by the build that recorded it, if it is known */
    public record Run(String runId, WorkflowExecutionHistory history, Optional<RunProjection> projection) {
        /** The id of the run before it; empty for the first one. */
        private String continuedFrom() {
            return history.getEvents()
                    .get(0)
                    .getWorkflowExecutionStartedEventAttributes()
                    .getContinuedExecutionRunId();
        }
    }

    /**
     * The thread that has the runs of all these parts, which may be in any order.
     *
     * @throws IllegalArgumentException if they are of different threads, or do not follow each other
     */
    public static ThreadHistory joined(List<ThreadHistory> parts) {
        Map<String, Run> runs = new LinkedHashMap<>();
        for (ThreadHistory part : parts) {
            String thread = parts.get(0).thread;
            if (!part.thread.equals(thread)) {
                throw new IllegalArgumentException("the runs are of two threads: " + thread + " and " + part.thread);
            }
            for (Run run : part.runs) {
                if (runs.put(run.runId, run) != null) {
                    throw new IllegalArgumentException("the run " + run.runId + " is given twice");
                }
            }
        }
        List<Run> chain = chain(runs);
        return new ThreadHistory(parts.get(0).thread, chain, parts.stream().anyMatch(ThreadHistory::encrypted));
    }

    private static List<Run> chain(Map<String, Run> runs) {
        Map<String, Run> next = new LinkedHashMap<>();
        for (Run run : runs.values()) {
            // The runs that begin the thread as far as it is given have the same place: only one can have it.
            Run other = next.put(runs.containsKey(run.continuedFrom()) ? run.continuedFrom() : "", run);
            if (other != null) {
                throw new IllegalArgumentException("the runs " + other.runId + " and " + run.runId
                        + " do not follow each other: a run between them is missing, or one was reset");
            }
        }
        List<Run> chain = new ArrayList<>();
        for (Run run = next.get(""); run != null; run = next.get(run.runId)) {
            chain.add(run);
        }
        return chain;
    }

    /** This thread, decrypted with these keys; the same object if nothing is encrypted, or there are no keys. */
    public ThreadHistory decoded(Optional<PayloadCodec> codec, String namespace) {
        if (codec.isEmpty()
                || runs.stream()
                        .flatMap(run -> run.history().getEvents().stream())
                        .noneMatch(HistoryDecoder::isEncrypted)) {
            return this;
        }
        // Not every server writes the thread's id into its events.
        String id = runs
                .get(0)
                .history()
                .getEvents()
                .get(0)
                .getWorkflowExecutionStartedEventAttributes()
                .getInput()
                .getPayloadsList()
                .stream()
                .flatMap(payload -> EncryptionCodec.thread(payload).stream())
                .findFirst()
                .orElse(thread);
        HistoryDecoder decoder = new HistoryDecoder(codec.get(), namespace, id);
        List<Run> plain = runs.stream()
                .map(run -> new Run(run.runId(), decoded(run.history(), decoder, id), run.projection()))
                .toList();
        return new ThreadHistory(id, plain, true);
    }

    private static WorkflowExecutionHistory decoded(
            WorkflowExecutionHistory history, HistoryDecoder decoder, String id) {
        History.Builder events = History.newBuilder();
        history.getEvents().forEach(event -> events.addEvents(decoder.decoded(event)));
        return new WorkflowExecutionHistory(events.build(), id);
    }

    /** The states of the thread in these runs. */
    public Timeline timeline() {
        List<Moment> moments = new ArrayList<>();
        Optional<Projector> newest = Optional.empty();
        boolean cut = false;
        for (Run run : runs) {
            Projector projector = new Projector(run.runId(), moments::add);
            run.history().getEvents().forEach(projector::accept);
            projector.pause();
            newest.ifPresent(projector::expect);
            cut |= newest.isEmpty() && projector.continuedFrom().isPresent();
            newest = Optional.of(projector);
        }
        return newest.orElseThrow().timeline(thread, moments, cut);
    }

    /** The thread up to this reply, without later events. */
    public ThreadHistory upTo(RecordedReply past) {
        Moment last = past.replied();
        List<Run> kept = new ArrayList<>();
        for (Run run : runs) {
            if (run.runId().equals(last.runId())) {
                kept.add(cut(run, last.eventId()));
                return new ThreadHistory(thread, kept, encrypted);
            }
            kept.add(run);
        }
        throw new IllegalArgumentException("the thread has no such reply: " + last.address());
    }

    /** The run up to the first workflow task that saw this event, with the commands of that task. */
    private static Run cut(Run run, long eventId) {
        List<HistoryEvent> events = run.history().getEvents();
        long taskStarted = 0;
        int end = 0;
        boolean isSeen = false;
        while (end < events.size() && !isSeen) {
            HistoryEvent event = events.get(end);
            taskStarted = event.hasWorkflowTaskStartedEventAttributes() ? event.getEventId() : taskStarted;
            isSeen = event.hasWorkflowTaskCompletedEventAttributes() && taskStarted > eventId;
            end++;
        }
        while (end < events.size() && isOfTask(events.get(end))) {
            end++;
        }
        WorkflowExecutionHistory history = new WorkflowExecutionHistory(
                History.newBuilder().addAllEvents(events.subList(0, end)).build(),
                run.history().getWorkflowExecution().getWorkflowId());
        return new Run(run.runId(), history, RunProjection.of(run.runId(), history));
    }

    /** Whether a server writes the event together with the end of a task: a command, or an update that it handled. */
    private static boolean isOfTask(HistoryEvent event) {
        return event.hasWorkflowExecutionUpdateAcceptedEventAttributes()
                || event.hasWorkflowExecutionUpdateCompletedEventAttributes()
                || event.getAllFields().values().stream()
                        .filter(Message.class::isInstance)
                        .anyMatch(attributes ->
                                ((Message) attributes).getDescriptorForType().findFieldByName(OF_TASK) != null);
    }

    /** The owner of the thread, if it has one. */
    public Optional<ThreadOwner> owner() {
        return HistoryPages.startInput(runs.get(0).history().getEvents().get(0)).owner();
    }

    /** The document that {@link #parse} reads. */
    public ObjectNode document() {
        ObjectNode document = PayloadJson.MAPPER.createObjectNode();
        document.put("waymarkHistory", FORMAT);
        document.put("thread", thread);
        ArrayNode all = document.putArray("runs");
        for (Run run : runs) {
            ObjectNode one = all.addObject();
            one.put("runId", run.runId());
            one.set("events", events(run.history()));
            run.projection().ifPresent(known -> one.set("projection", PayloadJson.MAPPER.valueToTree(known)));
        }
        return document;
    }

    /** The texts of all payloads, and of the states and tools that are packed in them, for a search. */
    public Stream<String> payloadTexts() {
        return runs.stream()
                .flatMap(run -> Stream.concat(
                        run.history().getEvents().stream().flatMap(event -> payloads(event)),
                        CarriedArrival.Chunks.of(run.history()).flatMap(CarriedArrival.Chunks::whole).stream()
                                .map(ThreadHistory::text)))
                .flatMap(text -> Stream.concat(Stream.of(text), packedTools(text)));
    }

    private static Stream<String> payloads(Message message) {
        if (message instanceof Payload payload) {
            String text = payload.getData().toStringUtf8();
            return Stream.concat(Stream.of(text), packedState(text).map(ThreadHistory::text).stream());
        }
        return message.getAllFields().values().stream()
                .flatMap(value -> value instanceof List<?> list ? list.stream() : Stream.of(value))
                .filter(Message.class::isInstance)
                .flatMap(each -> payloads((Message) each));
    }

    private static Stream<String> packedTools(String text) {
        if (!text.contains(PackedTools.FIELD)) {
            return Stream.empty(); // Most payloads need not be read as JSON.
        }
        try {
            return PayloadJson.MAPPER.readTree(text).findValues(PackedTools.FIELD).stream()
                    .flatMap(value -> PackedTools.in(value).stream())
                    .map(tools -> PayloadJson.MAPPER.valueToTree(tools).toString());
        } catch (JsonProcessingException e) {
            return Stream.empty();
        }
    }

    /** The packed state in the input of a run, if the text is such an input. */
    private static Optional<CarriedState> packedState(String text) {
        try {
            JsonNode json = PayloadJson.MAPPER.readTree(text);
            return Optional.of(json.path("carried"))
                    .filter(carried -> carried.isTextual() && json.has("rules"))
                    .map(carried -> CarriedState.unpack(carried.textValue()));
        } catch (JsonProcessingException e) {
            return Optional.empty();
        }
    }

    private static String text(CarriedState state) {
        return new String(state.bytes(), StandardCharsets.UTF_8);
    }

    private static JsonNode events(WorkflowExecutionHistory history) {
        try {
            return PayloadJson.MAPPER.readTree(history.toJson(false)).path("events");
        } catch (JsonProcessingException e) {
            throw new IllegalStateException("the SDK wrote a history that is not JSON", e);
        }
    }

    /**
     * Reads a document in either of the two forms.
     *
     * @throws IllegalArgumentException if it is not the history of a thread; the message says why
     */
    public static ThreadHistory parse(String json) {
        JsonNode document;
        try {
            document = PayloadJson.MAPPER.readTree(json);
        } catch (JsonProcessingException e) {
            throw new IllegalArgumentException("it is not JSON: " + e.getOriginalMessage(), e);
        }
        if (document.path("events").isArray()) {
            return single(document);
        }
        if (document.path("waymarkHistory").asInt() != FORMAT
                || !document.path("runs").isArray()) {
            throw new IllegalArgumentException("it has neither \"events\" nor \"waymarkHistory\": " + FORMAT);
        }
        String thread = document.path("thread").asText();
        List<Run> runs = new ArrayList<>();
        for (JsonNode run : document.path("runs")) {
            Optional<RunProjection> projection = Optional.of(run.path("projection"))
                    .filter(JsonNode::isObject)
                    .map(node -> PayloadJson.MAPPER.convertValue(node, RunProjection.class));
            runs.add(new Run(run.path("runId").asText(UNKNOWN_RUN), history(run, thread), projection));
        }
        if (runs.isEmpty()) {
            throw new IllegalArgumentException("it has no runs");
        }
        return new ThreadHistory(thread, runs, false);
    }

    private static ThreadHistory single(JsonNode document) {
        String thread = document.path("events")
                .path(0)
                .path("workflowExecutionStartedEventAttributes")
                .path("workflowId")
                .asText(UNKNOWN_RUN);
        WorkflowExecutionHistory history = history(document, thread);
        return new ThreadHistory(thread, List.of(new Run(runId(history), history, Optional.empty())), false);
    }

    /** The id of the run, to which claims refer: the first event has it, unless a later reset has created the run. */
    private static String runId(WorkflowExecutionHistory history) {
        return history.getEvents().stream()
                .map(event -> event.hasWorkflowTaskFailedEventAttributes()
                        ? event.getWorkflowTaskFailedEventAttributes().getNewRunId()
                        : event.getWorkflowExecutionStartedEventAttributes().getOriginalExecutionRunId())
                .filter(id -> !id.isEmpty())
                .reduce((earlier, later) -> later)
                .orElse(UNKNOWN_RUN);
    }

    private static WorkflowExecutionHistory history(JsonNode run, String thread) {
        ObjectNode events = PayloadJson.MAPPER.createObjectNode();
        if (run.path("events").isEmpty()) {
            throw new IllegalArgumentException("it has no events");
        }
        events.set("events", run.path("events"));
        try {
            return WorkflowExecutionHistory.fromJson(events.toString(), thread);
        } catch (RuntimeException e) {
            throw new IllegalArgumentException("its events cannot be read: " + e.getMessage(), e);
        }
    }
}
