package dev.waymark.history;

import com.google.protobuf.ByteString;
import dev.waymark.contract.PayloadJson;
import dev.waymark.contract.thread.StartInput;
import io.temporal.api.common.v1.Payloads;
import io.temporal.api.common.v1.WorkflowExecution;
import io.temporal.api.enums.v1.HistoryEventFilterType;
import io.temporal.api.history.v1.HistoryEvent;
import io.temporal.api.workflowservice.v1.GetWorkflowExecutionHistoryRequest;
import io.temporal.api.workflowservice.v1.GetWorkflowExecutionHistoryResponse;
import io.temporal.api.workflowservice.v1.GetWorkflowExecutionHistoryReverseRequest;
import io.temporal.api.workflowservice.v1.GetWorkflowExecutionHistoryReverseResponse;
import io.temporal.client.WorkflowClient;
import io.temporal.common.converter.DataConverterException;
import io.temporal.payload.codec.PayloadCodec;
import io.temporal.serviceclient.WorkflowServiceStubs;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.function.Consumer;
import java.util.function.UnaryOperator;

/** Reads the events of a run from a server, page by page. */
final class HistoryPages {
    /**
     * The size of the first page when reading backwards, in batches of events. It usually reaches from one model call
     * to the previous one.
     */
    private static final int FIRST_REVERSE_PAGE = 16;

    private static final int MOST_REVERSE_PAGE = 256;

    private final WorkflowServiceStubs stubs;
    private final String namespace;
    private final Optional<PayloadCodec> codec;

    HistoryPages(WorkflowClient client) {
        this.stubs = client.getWorkflowServiceStubs();
        this.namespace = client.getOptions().getNamespace();
        this.codec = client.getOptions().getDataConverter() instanceof PayloadCodec encoding
                ? Optional.of(encoding)
                : Optional.empty();
    }

    HistoryEvent firstEvent(String workflowId, String runId) {
        return decoder(workflowId)
                .apply(stubs.blockingStub()
                        .getWorkflowExecutionHistory(GetWorkflowExecutionHistoryRequest.newBuilder()
                                .setNamespace(namespace)
                                .setExecution(execution(workflowId, runId))
                                .setMaximumPageSize(1)
                                .build())
                        .getHistory()
                        .getEvents(0));
    }

    UnaryOperator<HistoryEvent> decoder(String workflowId) {
        return codec.map(encoding -> new HistoryDecoder(encoding, namespace, workflowId))
                .<UnaryOperator<HistoryEvent>>map(decoder -> decoder::decoded)
                .orElse(HistoryDecoder::refuseEncrypted);
    }

    /** The request of a long poll for the events that follow this token. */
    GetWorkflowExecutionHistoryRequest poll(String workflowId, String runId, ByteString token) {
        return GetWorkflowExecutionHistoryRequest.newBuilder()
                .setNamespace(namespace)
                .setExecution(execution(workflowId, runId))
                .setWaitNewEvent(true)
                .setNextPageToken(token)
                .build();
    }

    GetWorkflowExecutionHistoryRequest pollForTheEnd(String workflowId, String runId) {
        return poll(workflowId, runId, ByteString.EMPTY).toBuilder()
                .setHistoryEventFilterType(HistoryEventFilterType.HISTORY_EVENT_FILTER_TYPE_CLOSE_EVENT)
                .build();
    }

    /** Reads all events of a run, decoded. */
    void forEach(WorkflowExecution run, Consumer<HistoryEvent> reader) {
        UnaryOperator<HistoryEvent> decoder = decoder(run.getWorkflowId());
        forEachStored(run, event -> reader.accept(decoder.apply(event)));
    }

    /** Reads all events of a run as the server stores them; they may be encrypted. */
    void forEachStored(WorkflowExecution run, Consumer<HistoryEvent> reader) {
        ByteString token = ByteString.EMPTY;
        do {
            GetWorkflowExecutionHistoryResponse page = stubs.blockingStub()
                    .getWorkflowExecutionHistory(GetWorkflowExecutionHistoryRequest.newBuilder()
                            .setNamespace(namespace)
                            .setExecution(run)
                            .setNextPageToken(token)
                            .build());
            page.getHistory().getEventsList().forEach(reader);
            token = page.getNextPageToken();
        } while (!token.isEmpty());
    }

    /**
     * The events after this one, oldest first. Reads backwards from the end, so that the cost depends on the new events
     * only.
     */
    List<HistoryEvent> since(WorkflowExecution run, long eventId) {
        UnaryOperator<HistoryEvent> decoder = decoder(run.getWorkflowId());
        List<HistoryEvent> events = new ArrayList<>();
        ByteString token = ByteString.EMPTY;
        int pageSize = FIRST_REVERSE_PAGE;
        do {
            GetWorkflowExecutionHistoryReverseResponse page = stubs.blockingStub()
                    .getWorkflowExecutionHistoryReverse(GetWorkflowExecutionHistoryReverseRequest.newBuilder()
                            .setNamespace(namespace)
                            .setExecution(run)
                            .setMaximumPageSize(pageSize)
                            .setNextPageToken(token)
                            .build());
            for (HistoryEvent event : page.getHistory().getEventsList()) {
                if (event.getEventId() <= eventId) {
                    Collections.reverse(events);
                    return events;
                }
                events.add(decoder.apply(event));
            }
            token = page.getNextPageToken();
            pageSize = Math.min(4 * pageSize, MOST_REVERSE_PAGE);
        } while (!token.isEmpty());
        Collections.reverse(events);
        return events;
    }

    static WorkflowExecution execution(String workflowId, String runId) {
        return WorkflowExecution.newBuilder()
                .setWorkflowId(workflowId)
                .setRunId(runId)
                .build();
    }

    /** The start input in the first event of a run. */
    static StartInput startInput(HistoryEvent started) {
        try {
            return Objects.requireNonNull(input(started, StartInput.class), "no start input");
        } catch (DataConverterException | NullPointerException e) {
            throw new ForeignThreadException(e);
        }
    }

    /** The start input in the first event of a run, for any workflow type. */
    static <T> T input(HistoryEvent started, Class<T> type) {
        Payloads input = started.getWorkflowExecutionStartedEventAttributes().getInput();
        return PayloadJson.dataConverter().fromPayloads(0, Optional.of(input), type, type);
    }

    static Optional<String> firstRunId(HistoryEvent started) {
        return Optional.of(started.getWorkflowExecutionStartedEventAttributes().getFirstExecutionRunId())
                .filter(id -> !id.isEmpty());
    }
}
