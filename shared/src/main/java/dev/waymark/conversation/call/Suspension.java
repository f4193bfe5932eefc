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
 * What a thread knows of a call that its server has not finished: the server works on it as a task, or needs input to
 * go on.
 *
 * @param task the server's id of the task, by which any worker can ask how it stands
 * @param requestState what the server wants to get back with the input, as it is
 * @param requests what the server asks for, by its keys
 * @param answers the responses so far, by the same keys
 * @param pollMillis how long the server wants to be left alone; 0 if it has not said so
 * @param until when the server may forget the task, if it has said so
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

    /** A task of the server. */
    public static Suspension task(String id, Map<String, Json> requests, long pollMillis, Optional<Instant> until) {
        return new Suspension(Optional.of(id), Optional.empty(), requests, Collections.emptyMap(), pollMillis, until);
    }

    /** A call that is repeated with its state and the input that it requires. */
    public static Suspension repeated(Optional<String> requestState, Map<String, Json> requests) {
        return new Suspension(Optional.empty(), requestState, requests, Collections.emptyMap(), 0, Optional.empty());
    }

    /** The first request without a response. */
    private Optional<Map.Entry<String, Json>> open() {
        return requests.entrySet().stream()
                .filter(request -> !answers.containsKey(request.getKey()))
                .findFirst();
    }

    /** The request that waits for a response, if one does. The others wait for their turn. */
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

    /** A copy in which the change is applied to all texts that the server has chosen. */
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
