package dev.waymark.connect;

import dev.waymark.contract.thread.ThreadIndex;
import io.grpc.StatusRuntimeException;
import io.temporal.api.enums.v1.IndexedValueType;
import io.temporal.api.operatorservice.v1.AddSearchAttributesRequest;
import io.temporal.api.operatorservice.v1.ListSearchAttributesRequest;
import io.temporal.api.operatorservice.v1.OperatorServiceGrpc;
import io.temporal.api.operatorservice.v1.OperatorServiceGrpc.OperatorServiceBlockingStub;
import io.temporal.api.workflowservice.v1.CountWorkflowExecutionsRequest;
import io.temporal.api.workflowservice.v1.CountWorkflowExecutionsResponse;
import io.temporal.common.SearchAttributeKey;
import io.temporal.serviceclient.WorkflowServiceStubs;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.stream.Collectors;

/** The search attributes that a namespace has for threads. */
public final class SearchIndex {
    private static final int ANSWER_SECONDS = 5;
    private static final RequestRetry UNTIL_USABLE = RequestRetry.every(
            Duration.ofMillis(100), Duration.ofSeconds(30), answer -> answer == ServerAnswer.INVALID);

    private final WorkflowServiceStubs stubs;
    private final String namespace;

    /** Uses the channel of the stubs. The caller remains responsible for closing them. */
    public SearchIndex(WorkflowServiceStubs stubs, String namespace) {
        this.stubs = stubs;
        this.namespace = namespace;
    }

    /** The namespace has an attribute with the name of one of Waymark's, but with another type. */
    public static final class WrongType extends RuntimeException {
        private static final long serialVersionUID = 1;

        WrongType(String message) {
            super(message);
        }
    }

    /**
     * Whether the namespace has all attributes of threads, and the server accepts them.
     *
     * @throws StatusRuntimeException if the server does not answer, or refuses the request for another reason
     */
    boolean isComplete() {
        Map<String, IndexedValueType> known = known();
        return ThreadIndex.KEYS.stream().allMatch(key -> known.get(key.getName()) == key.getValueType()) && isUsable();
    }

    /**
     * Creates the attributes that are missing, waits until the server accepts them, and returns their names.
     *
     * @throws WrongType if an attribute with one of these names has another type; then nothing is created
     * @throws StatusRuntimeException if the server refuses
     */
    public List<String> create() {
        Map<String, IndexedValueType> missing = missing();
        if (!missing.isEmpty()) {
            operator()
                    .addSearchAttributes(AddSearchAttributesRequest.newBuilder()
                            .setNamespace(namespace)
                            .putAllSearchAttributes(missing)
                            .build());
        }
        awaitUsable();
        return List.copyOf(missing.keySet());
    }

    private Map<String, IndexedValueType> missing() {
        Map<String, IndexedValueType> known = known();
        Map<String, IndexedValueType> missing = new LinkedHashMap<>();
        for (SearchAttributeKey<?> key : ThreadIndex.KEYS) {
            IndexedValueType type = known.get(key.getName());
            if (type == null) {
                missing.put(key.getName(), key.getValueType());
            } else if (type != key.getValueType()) {
                throw new WrongType("the namespace " + namespace + " has a search attribute " + key.getName()
                        + " of another type: " + typeName(type) + " instead of " + typeName(key.getValueType()));
            }
        }
        return missing;
    }

    private void awaitUsable() {
        try {
            UNTIL_USABLE.send(left -> use());
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new IllegalStateException("interrupted while waiting for search attributes", e);
        }
    }

    private boolean isUsable() {
        try {
            use();
            return true;
        } catch (StatusRuntimeException e) {
            if (ServerAnswer.INVALID.is(e)) {
                return false;
            }
            throw e;
        }
    }

    /**
     * Uses the attributes in a request, which the server rejects as invalid until it accepts them. A server reloads its
     * attributes only every few seconds, and until then refuses to start threads with new ones.
     */
    private CountWorkflowExecutionsResponse use() {
        return stubs.blockingStub()
                .withDeadlineAfter(ANSWER_SECONDS, TimeUnit.SECONDS)
                .countWorkflowExecutions(CountWorkflowExecutionsRequest.newBuilder()
                        .setNamespace(namespace)
                        .setQuery(ThreadIndex.KEYS.stream()
                                .map(key -> key.getName() + " IS NOT NULL")
                                .collect(Collectors.joining(" AND ")))
                        .build());
    }

    private Map<String, IndexedValueType> known() {
        return operator()
                .listSearchAttributes(ListSearchAttributesRequest.newBuilder()
                        .setNamespace(namespace)
                        .build())
                .getCustomAttributesMap();
    }

    private OperatorServiceBlockingStub operator() {
        // The channel of the stubs adds the credentials.
        return OperatorServiceGrpc.newBlockingStub(stubs.blockingStub().getChannel())
                .withDeadlineAfter(ANSWER_SECONDS, TimeUnit.SECONDS);
    }

    /** The name of an attribute type in Temporal's CLI, such as {@code KeywordList}. */
    public static String typeName(IndexedValueType type) {
        StringBuilder name = new StringBuilder();
        for (String word : type.name().substring("INDEXED_VALUE_TYPE_".length()).split("_")) {
            name.append(word.charAt(0)).append(word.substring(1).toLowerCase(Locale.ROOT));
        }
        return name.toString();
    }
}
