package dev.waymark.agent;

import com.fasterxml.jackson.annotation.JsonCreator;
import com.fasterxml.jackson.annotation.JsonValue;
import dev.waymark.conversation.value.Budget;
import dev.waymark.conversation.value.CallVerdict;
import dev.waymark.conversation.value.Json;
import dev.waymark.conversation.value.Usd;
import java.math.BigDecimal;
import java.time.DateTimeException;
import java.time.ZoneId;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * A rule that says whether a call of a tool runs. The rules of a tool are a list, and the first one whose conditions
 * all hold decides. A rule without conditions always holds.
 *
 * <pre>{@code
 * ApprovalRule.allow("small").when(schema);
 * ApprovalRule.deny("at most three refunds").requestedOver(3);
 * }</pre>
 *
 * <p>Agent files, Java programs and histories use one form, {@code {"when":…,"then":"allow","reason":"small"}}, which
 * is stored unchanged. A version that does not know one of the conditions asks a person.
 *
 * @param stored the rule in this form
 */
public record ApprovalRule(@JsonValue Json stored) {
    private static final String WHEN = "when";
    private static final String OWNER = "owner";
    private static final String REQUESTED = "requested_over";
    private static final String SPENT = "spent_over";
    private static final String USD = "usd";
    private static final String TOKENS = "tokens";
    /** The field for {@link #whenUntrusted()}, which may have a value that only another version knows. */
    public static final String UNTRUSTED = "when_untrusted";

    private static final String HOURS = "hours";
    private static final String ZONE = "zone";
    private static final String THEN = "then";
    private static final String REASON = "reason";

    private static final List<String> FIELDS =
            List.of(WHEN, OWNER, REQUESTED, SPENT, UNTRUSTED, HOURS, ZONE, THEN, REASON);

    private static final Pattern SPAN = Pattern.compile("([01]?\\d|2[0-4])-([01]?\\d|2[0-4])");

    private static final int LONGEST_REASON = 500;

    @JsonCreator(mode = JsonCreator.Mode.DELEGATING)
    public ApprovalRule {
        Objects.requireNonNull(stored, "stored");
    }

    /** A rule that lets a person decide. */
    public static ApprovalRule ask(String reason) {
        return new ApprovalRule(Json.EMPTY_OBJECT).with(THEN, "ask").with(REASON, reason);
    }

    /** A rule that lets a call run. */
    public static ApprovalRule allow(String reason) {
        return new ApprovalRule(Json.EMPTY_OBJECT).with(THEN, "allow").with(REASON, reason);
    }

    /** A rule that denies a call. The model is told the reason. */
    public static ApprovalRule deny(String reason) {
        return new ApprovalRule(Json.EMPTY_OBJECT).with(THEN, "deny").with(REASON, reason);
    }

    /** A copy for arguments that match this JSON Schema. */
    public ApprovalRule when(Json schema) {
        return with(WHEN, schema.value());
    }

    /** A copy for threads of these owners. It does not hold for a thread without an owner. */
    public ApprovalRule ownedBy(String... subjects) {
        return with(OWNER, List.of(subjects));
    }

    /** A copy for calls of the tool after the first {@code calls} ones in the thread, whether those ran or not. */
    public ApprovalRule requestedOver(int calls) {
        return with(REQUESTED, calls);
    }

    /** A copy for threads that have exceeded at least one of these amounts. */
    public ApprovalRule spentOver(Budget amounts) {
        Map<String, Object> most = new LinkedHashMap<>();
        amounts.usd().ifPresent(usd -> most.put(USD, usd.dollars()));
        amounts.tokens().ifPresent(tokens -> most.put(TOKENS, tokens));
        return with(SPENT, most);
    }

    /** A copy for calls that the model makes after it has read untrusted words. */
    public ApprovalRule whenUntrusted(Untrusted since) {
        return with(UNTRUSTED, since.wireName());
    }

    /** A copy for calls between two hours of the day; the span may include midnight. */
    public ApprovalRule between(int fromHour, int toHour, ZoneId zone) {
        return with(HOURS, fromHour + "-" + toHour).with(ZONE, zone.getId());
    }

    private ApprovalRule with(String field, @Nullable Object value) {
        Map<String, @Nullable Object> fields = new LinkedHashMap<>(fields(stored));
        fields.put(field, value);
        return new ApprovalRule(Json.of(fields));
    }

    @SuppressWarnings("unchecked") // The keys of a JSON object are texts.
    private static Map<String, @Nullable Object> fields(Json object) {
        return object.value() instanceof Map<?, ?> map ? (Map<String, @Nullable Object>) map : Map.of();
    }

    /** Which untrusted words a rule is about. The names are stored. */
    public enum Untrusted {
        /** All that were read since the conversation began. */
        EVER("ever"),
        /** Those that were read since the newest message of a person. */
        SINCE_MESSAGE("since_message");

        private final String wireName;

        Untrusted(String wireName) {
            this.wireName = wireName;
        }

        /** The name in agent files and in JSON. */
        public String wireName() {
            return wireName;
        }
    }

    /** A span of hours in a time zone. The hour {@code to} is not included; the span may include midnight. */
    public record Hours(int from, int to, ZoneId zone) {
        /** Whether the span includes the hour. */
        public boolean include(int hour) {
            return from <= to ? from <= hour && hour < to : hour >= from || hour < to;
        }
    }

    /** Why this version cannot evaluate the rule; empty if it can. Does not check the schema. */
    public Optional<String> problem() {
        if (!(stored.value() instanceof Map)) {
            return Optional.of("a rule must have fields, such as then: ask");
        }
        for (String field : fields(stored).keySet()) {
            if (!FIELDS.contains(field)) {
                return Optional.of("a rule has no field " + field + ". Known fields: " + String.join(", ", FIELDS));
            }
        }
        Object reason = stored.field(REASON);
        if (reason != null && !(reason instanceof String words && words.length() <= LONGEST_REASON)) {
            return Optional.of("reason must be a text of at most " + LONGEST_REASON + " characters");
        }
        try {
            then();
            when();
            owners();
            requestedOver();
            spentOver();
            whenUntrusted();
            hours();
            return Optional.empty();
        } catch (IllegalArgumentException e) {
            return Optional.of(String.valueOf(e.getMessage()));
        }
    }

    /** @throws IllegalArgumentException if the rule has no valid {@code then} */
    public CallVerdict.Then then() {
        for (CallVerdict.Then each : CallVerdict.Then.values()) {
            if (each.wireName().equals(stored.field(THEN))) {
                return each;
            }
        }
        throw new IllegalArgumentException("then must be ask, allow or deny");
    }

    /** What people, and the model after a denial, are told. */
    public Optional<String> reason() {
        return stored.field(REASON) instanceof String words ? Optional.of(words) : Optional.empty();
    }

    /** The JSON Schema of the arguments. */
    public Optional<Json> when() {
        Object schema = stored.field(WHEN);
        require(schema == null || schema instanceof Map, "when must be a JSON Schema");
        return Optional.ofNullable(schema).map(Json::of);
    }

    /** The subjects that the rule is for: one of them must own the thread. */
    public Optional<List<String>> owners() {
        Object given = stored.field(OWNER);
        List<?> list = given instanceof List<?> several ? several : given == null ? List.of() : List.of(given);
        require(list.stream().allMatch(String.class::isInstance), "owner must be a name or a list of names");
        return given == null
                ? Optional.empty()
                : Optional.of(list.stream().map(String.class::cast).toList());
    }

    /** The number of requests of the tool after which the rule holds. */
    public Optional<Long> requestedOver() {
        return whole(REQUESTED, stored.field(REQUESTED));
    }

    /** The amounts after which the rule holds: the thread must have exceeded at least one of them. */
    public Optional<Budget> spentOver() {
        Object given = stored.field(SPENT);
        if (given == null) {
            return Optional.empty();
        }
        require(
                given instanceof Map<?, ?> map
                        && !map.isEmpty()
                        && Set.of(USD, TOKENS).containsAll(map.keySet()),
                "spent_over must have usd or tokens");
        Json amounts = Json.of(given);
        Object usd = amounts.field(USD);
        require(usd == null || usd instanceof Number, "spent_over.usd must be a number");
        return Optional.of(
                new Budget(Optional.ofNullable(usd).map(ApprovalRule::dollars), whole(TOKENS, amounts.field(TOKENS))));
    }

    /** The untrusted words after which the rule holds. */
    public Optional<Untrusted> whenUntrusted() {
        Object given = stored.field(UNTRUSTED);
        Optional<Untrusted> since = Arrays.stream(Untrusted.values())
                .filter(each -> each.wireName().equals(given))
                .findFirst();
        require(given == null || since.isPresent(), "when_untrusted must be ever or since_message");
        return since;
    }

    private static Usd dollars(Object amount) {
        return Usd.of(new BigDecimal(amount.toString()));
    }

    /** The time of day at which the rule holds. */
    public Optional<Hours> hours() {
        Object span = stored.field(HOURS);
        Object zone = stored.field(ZONE);
        if (span == null && zone == null) {
            return Optional.empty();
        }
        Matcher parts = SPAN.matcher(span instanceof String text ? text : "");
        require(parts.matches(), "hours must be a span such as 8-18");
        require(zone instanceof String, "hours need a zone, such as zone: Europe/Vienna");
        try {
            return Optional.of(new Hours(
                    Integer.parseInt(parts.group(1)), Integer.parseInt(parts.group(2)), ZoneId.of((String) zone)));
        } catch (DateTimeException e) {
            throw new IllegalArgumentException("no such zone: " + zone, e);
        }
    }

    private static Optional<Long> whole(String field, @Nullable Object value) {
        if (value == null) {
            return Optional.empty();
        }
        try {
            long number = new BigDecimal(value.toString()).longValueExact();
            require(value instanceof Number && number >= 0, field + " must be a whole number");
            return Optional.of(number);
        } catch (ArithmeticException | NumberFormatException e) {
            throw new IllegalArgumentException(field + " must be a whole number", e);
        }
    }

    private static void require(boolean holds, String otherwise) {
        if (!holds) {
            throw new IllegalArgumentException(otherwise);
        }
    }
}
