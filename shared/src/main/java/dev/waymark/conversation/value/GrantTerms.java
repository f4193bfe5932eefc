package dev.waymark.conversation.value;

import com.fasterxml.jackson.annotation.JsonInclude;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;

/**
 * Which later calls a person approves together with a call: by default, calls of the same tool in the same thread, with
 * the same arguments, until the thread ends. All limits apply together.
 *
 * @param times the number of later calls
 * @param seconds how long it lasts, from the decision on
 * @param like a JSON Schema; the grant is for all arguments that match it
 * @param anyArgs whether the grant is for any arguments
 */
public record GrantTerms(
        Optional<Integer> times,
        Optional<Long> seconds,
        Optional<Json> like,

        @JsonInclude(JsonInclude.Include.NON_DEFAULT) boolean anyArgs) {
    /** For all later calls with the same arguments. */
    public static final GrantTerms THREAD = new GrantTerms(Optional.empty(), Optional.empty(), Optional.empty(), false);

    private static final int MAX_TIMES = 1_000;
    private static final long MAX_SECONDS = Duration.ofDays(366).toSeconds();

    /** The maximum length of a schema, which is stored in the state, in characters of canonical JSON. */
    private static final int MAX_LIKE_LENGTH = 4_000;

    private static final String TIMES = "times";
    private static final String SECONDS = "seconds";
    private static final String LIKE = "like";
    private static final String ANY_ARGS = "anyArgs";
    private static final List<String> FIELDS = List.of(TIMES, SECONDS, LIKE, ANY_ARGS);

    public GrantTerms {
        times.ifPresent(
                number -> require(number >= 1 && number <= MAX_TIMES, TIMES + " must be from 1 to " + MAX_TIMES));
        seconds.ifPresent(
                length -> require(length >= 1 && length <= MAX_SECONDS, SECONDS + " must be from 1 to " + MAX_SECONDS));
        like.ifPresent(schema -> {
            require(schema.isObject(), LIKE + " must be a JSON Schema, as an object");
            require(
                    schema.canonical().length() <= MAX_LIKE_LENGTH,
                    LIKE + " may have at most " + MAX_LIKE_LENGTH + " characters");
            require(!anyArgs, LIKE + " and " + ANY_ARGS + " exclude each other");
        });
    }

    private static void require(boolean holds, String otherwise) {
        if (!holds) {
            throw new IllegalArgumentException(otherwise);
        }
    }

    /** A copy that ends after this many later calls, at most 1,000. */
    public GrantTerms withTimes(int most) {
        return new GrantTerms(Optional.of(most), seconds, like, anyArgs);
    }

    /** A copy that ends after this time, at most 366 days. Fractions of a second are dropped. */
    public GrantTerms lasting(Duration length) {
        return new GrantTerms(times, Optional.of(length.toSeconds()), like, anyArgs);
    }

    /** A copy for all arguments that match this JSON Schema, of at most 4,000 characters. */
    public GrantTerms like(Json schema) {
        return new GrantTerms(times, seconds, Optional.of(schema), anyArgs);
    }

    /** A copy for any arguments. */
    public GrantTerms withAnyArgs() {
        return new GrantTerms(times, seconds, like, true);
    }

    /** Reads what {@link #tree} returns. */
    public static GrantTerms of(Json tree) {
        require(tree.isObject(), "the grant must be an object");
        for (Object name : ((Map<?, ?>) Objects.requireNonNull(tree.value())).keySet()) {
            require(FIELDS.contains(name), "there is no field " + name + ", only " + String.join(", ", FIELDS));
        }
        Object any = tree.field(ANY_ARGS);
        require(any == null || any instanceof Boolean, ANY_ARGS + " must be true or false");
        return new GrantTerms(
                whole(tree, TIMES).map(number -> (int) Math.max(0, Math.min(number, MAX_TIMES + 1L))),
                whole(tree, SECONDS),
                Optional.ofNullable(tree.field(LIKE)).map(Json::of),
                Boolean.TRUE.equals(any));
    }

    private static Optional<Long> whole(Json tree, String field) {
        Object value = tree.field(field);
        require(value == null || value instanceof Long, field + " must be a whole number");
        return Optional.ofNullable(value).map(Long.class::cast);
    }

    /** The form on the wire, which a signature covers. */
    public Map<String, Object> tree() {
        Map<String, Object> tree = new LinkedHashMap<>();
        times.ifPresent(number -> tree.put(TIMES, number));
        seconds.ifPresent(length -> tree.put(SECONDS, length));
        like.ifPresent(schema -> tree.put(LIKE, schema.value()));
        if (anyArgs) {
            tree.put(ANY_ARGS, true);
        }
        return tree;
    }

    /** When a grant with these terms ends by itself, if it was given at this time. */
    public Optional<Instant> until(Instant from) {
        return seconds.map(from::plusSeconds);
    }

    /** The terms for people, such as {@code for 3 more calls, with the same arguments}. */
    public String words() {
        List<String> words = new ArrayList<>();
        times.ifPresent(number -> words.add(number == 1 ? "for one more call" : "for " + number + " more calls"));
        seconds.ifPresent(length -> words.add("for " + length + " s"));
        if (words.isEmpty()) {
            words.add("until the thread ends");
        }
        words.add(like.map(schema -> "with arguments like " + schema.canonical())
                .orElse(anyArgs ? "with any arguments" : "with the same arguments"));
        return String.join(", ", words);
    }
}
