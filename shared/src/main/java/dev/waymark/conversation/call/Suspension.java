package dev.waymark.conversation.call;

import com.fasterxml.jackson.annotation.JsonIgnore;
import com.fasterxml.jackson.annotation.JsonInclude;
import dev.waymark.conversation.value.Json;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.UnaryOperator;
import org.jspecify.annotations.Nullable;

/**
 * The state of a call that its server has not finished: the server works on it as a task, or needs input to continue.
 *
 * @param task the server's id of the task, with which any worker can ask for its status
 * @param requestState data of the server that is sent back unchanged with the input
 * @param requests what the server asks for, by its keys
 * @param answers the responses so far, by the same keys
 * @param pollMillis the pause that the server requests between queries of the task; 0 if it has not requested one
 * @param until when the server may forget the task, if known
 */
@JsonInclude(JsonInclude.Include.NON_EMPTY)
public record Suspension(
        Optional<String> task,
        Optional<String> requestState,
        Map<String, Json> requests,
        Map<String, Json> answers,

        @JsonInclude(JsonInclude.Include.NON_DEFAULT) long pollMillis,

        Optional<Instant> until) {
    /** The maximum size of a suspension as JSON, in bytes: it is part of the state and of activity inputs. */
    public static final int MAX_BYTES = 64 * 1024;

    public Suspension {
        requests =
                requests == null ? Collections.emptyMap() : Collections.unmodifiableMap(new LinkedHashMap<>(requests));
        answers = answers == null ? Collections.emptyMap() : Collections.unmodifiableMap(new LinkedHashMap<>(answers));
    }

    /** A call that the server works on as a task. */
    public static Suspension task(String id, Map<String, Json> requests, long pollMillis, Optional<Instant> until) {
        return new Suspension(Optional.of(id), Optional.empty(), requests, Collections.emptyMap(), pollMillis, until);
    }

    /** A call that is sent to the server again, with the server's state and the requested input. */
    public static Suspension repeated(Optional<String> requestState, Map<String, Json> requests) {
        return new Suspension(Optional.empty(), requestState, requests, Collections.emptyMap(), 0, Optional.empty());
    }

    /** The first request without a response. */
    private Optional<Map.Entry<String, Json>> open() {
        return requests.entrySet().stream()
                .filter(request -> !answers.containsKey(request.getKey()))
                .findFirst();
    }

    /** The request that waits for a response, if any. Requests are answered one after the other. */
    @JsonIgnore
    public Optional<InputForm> form() {
        return open().map(request -> new InputForm(request.getValue()));
    }

    /** A copy with the response to the request that waits for one. */
    public Suspension answered(Json response) {
        Map<String, Json> more = new LinkedHashMap<>(answers);
        open().ifPresent(request -> more.put(request.getKey(), response));
        return new Suspension(task, requestState, requests, more, pollMillis, until);
    }

    /** A copy in which the change is applied to all texts from the server. */
    public Suspension withTexts(UnaryOperator<String> change) {
        Map<String, Json> changed = new LinkedHashMap<>();
        requests.forEach((key, request) -> changed.put(key, Json.of(changed(request.value(), change))));
        return new Suspension(task, requestState.map(change), changed, answers, pollMillis, until);
    }

    private static @Nullable Object changed(@Nullable Object value, UnaryOperator<String> change) {
        if (value instanceof String text) {
            return change.apply(text);
        }
        if (value instanceof List<?> list) {
            List<Object> items = new ArrayList<>();
            list.forEach(item -> items.add(changed(item, change)));
            return items;
        }
        if (value instanceof Map<?, ?> map) {
            Map<String, Object> fields = new LinkedHashMap<>();
            map.forEach((name, field) -> fields.put((String) name, changed(field, change)));
            return fields;
        }
        return value;
    }

    /** A copy without the requests' texts, for an activity that delivers the responses. */
    public Suspension forDelivery() {
        return new Suspension(task, requestState, Collections.emptyMap(), answers, pollMillis, until);
    }
}
