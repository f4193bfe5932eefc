package dev.waymark.conversation.call;

import dev.waymark.conversation.value.FormAction;
import dev.waymark.conversation.value.Json;
import java.math.BigDecimal;
import java.time.DateTimeException;
import java.time.LocalDate;
import java.time.OffsetDateTime;
import java.util.ArrayList;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/**
 * A request of a tool's server for input from a person: to fill in the fields of a form, or to open a page. It has the
 * form of MCP's elicitation requests, whose schemas are flat.
 *
 * @param request {@code message}, and {@code requestedSchema} or {@code url}
 */
public record InputForm(Json request) {
    /** Excludes backslashes: browsers read them as slashes, so they could hide the host. */
    private static final Pattern ADDRESS = Pattern.compile(
            "https?://(?:[^/?#@\\\\\\s]*@)?([^/?#@\\\\\\s]+)(?:[/?#][^\\\\\\s]*)?", Pattern.CASE_INSENSITIVE);

    /** JSON's notation of numbers. Java also accepts others, such as {@code NaN} and {@code 1d}. */
    private static final Pattern NUMBER = Pattern.compile("-?\\d{1,300}(?:\\.\\d{1,300})?(?:[eE][+-]?\\d{1,3})?");

    private static final Pattern EMAIL = Pattern.compile("[^@\\s]+@[^@\\s]+");
    private static final Pattern URI = Pattern.compile("[A-Za-z][A-Za-z0-9+.-]*:\\S+");
    private static final List<String> TYPES = List.of("string", "number", "integer", "boolean", "array");

    /** Why a person cannot be asked for this; empty if a person can. */
    public Optional<String> problem() {
        if (!(request.field("message") instanceof String)) {
            return Optional.of("its request for input has no message");
        }
        if (isPage()) {
            return host().isPresent() ? Optional.empty() : Optional.of("its request for input has no http address");
        }
        for (Map.Entry<String, Map<?, ?>> property : properties().entrySet()) {
            if (!(property.getValue().get("type") instanceof String type) || !TYPES.contains(type)) {
                return Optional.of("the field " + property.getKey() + " that it asks for has no simple type");
            }
        }
        return required().stream()
                .filter(name -> !properties().containsKey(name))
                .findFirst()
                .map(name -> "it requires the field " + name + ", which its form does not have");
    }

    /** The question as text, with the expected form of the answer. */
    public String words(String tool) {
        String message = tool + " asks: " + request.field("message");
        if (isPage()) {
            return message + "\nOpen this page of " + host().orElse("an unknown host")
                    + " yourself, and answer when you have finished there: " + request.field("url");
        }
        Map<String, Map<?, ?>> properties = properties();
        if (properties.isEmpty()) {
            return message;
        }
        if (properties.size() == 1) {
            Map.Entry<String, Map<?, ?>> only = properties.entrySet().iterator().next();
            return message + "\n" + title(only) + ": " + expected(only.getValue());
        }
        return message + "\nAnswer with a JSON object: "
                + properties.entrySet().stream()
                        .map(property -> "\"" + property.getKey() + "\" ("
                                + (required().contains(property.getKey()) ? "" : "optional, ")
                                + expected(property.getValue()) + ")")
                        .collect(Collectors.joining(", "));
    }

    /**
     * Why the answer does not fit the form; empty if it does.
     *
     * @param fields the answer, if it is a JSON object
     */
    public Optional<String> misfit(String answer, Optional<Json> fields) {
        if (isPage()) {
            return Optional.empty();
        }
        Map<String, Object> given = given(answer, fields);
        Map<String, Map<?, ?>> properties = properties();
        if (fields.isEmpty() && properties.size() > 1) {
            return Optional.of(
                    "the answer must be a JSON object with the fields " + String.join(", ", properties.keySet()));
        }
        for (String name : given.keySet()) {
            if (!properties.containsKey(name)) {
                return Optional.of(
                        "the form has no field \"" + name + "\"; it has " + String.join(", ", properties.keySet()));
            }
        }
        for (String name : required()) {
            if (!given.containsKey(name)) {
                return Optional.of("the field \"" + name + "\" is missing");
            }
        }
        return properties.entrySet().stream()
                .filter(property -> given.containsKey(property.getKey()))
                .filter(property -> !fits(given.get(property.getKey()), property.getValue()))
                .map(property -> "\"" + property.getKey() + "\" must be " + expected(property.getValue()))
                .findFirst();
    }

    /** The response for the server. The answer must fit. */
    public Json response(FormAction action, String answer, Optional<Json> fields) {
        Map<String, Object> response = new LinkedHashMap<>();
        response.put("action", action.wireName());
        if (action == FormAction.ACCEPT && !isPage()) {
            response.put("content", given(answer, fields));
        }
        return Json.of(response);
    }

    /** The fields of the answer. A form with one field takes it as plain text; omitted fields have their defaults. */
    private Map<String, Object> given(String answer, Optional<Json> fields) {
        Map<String, Map<?, ?>> properties = properties();
        Map<String, Object> given = new LinkedHashMap<>();
        properties.forEach((name, property) -> {
            if (property.containsKey("default")) {
                given.put(name, property.get("default"));
            }
        });
        if (fields.isPresent() && fields.get().value() instanceof Map<?, ?> map) {
            map.forEach((name, value) -> given.put((String) name, value));
        } else if (properties.size() == 1) {
            Map.Entry<String, Map<?, ?>> only = properties.entrySet().iterator().next();
            given.put(only.getKey(), parsed(answer.strip(), only.getValue()));
        }
        return given;
    }

    private static Object parsed(String answer, Map<?, ?> property) {
        try {
            return switch (String.valueOf(property.get("type"))) {
                case "integer" -> Long.valueOf(answer);
                case "number" -> number(answer);
                case "boolean" ->
                    switch (answer) {
                        case "true", "yes" -> true;
                        case "false", "no" -> false;
                        default -> answer;
                    };
                case "array" -> List.of(answer);
                default -> answer;
            };
        } catch (NumberFormatException e) {
            return answer;
        }
    }

    /** The number that the text spells. Other text is returned unchanged, and does not fit the form. */
    private static Object number(String answer) {
        double number = NUMBER.matcher(answer).matches() ? Double.parseDouble(answer) : Double.NaN;
        return Double.isFinite(number) ? (Object) number : answer;
    }

    private boolean isPage() {
        return "url".equals(request.field("mode"));
    }

    private Optional<String> host() {
        Matcher matcher = ADDRESS.matcher(String.valueOf(request.field("url")));
        return matcher.matches() ? Optional.of(matcher.group(1)) : Optional.empty();
    }

    private Map<String, Map<?, ?>> properties() {
        Map<String, Map<?, ?>> properties = new LinkedHashMap<>();
        if (request.field("requestedSchema") instanceof Map<?, ?> schema
                && schema.get("properties") instanceof Map<?, ?> fields) {
            fields.forEach((name, field) -> properties.put(
                    (String) name, field instanceof Map<?, ?> property ? property : Collections.emptyMap()));
        }
        return properties;
    }

    private List<String> required() {
        return request.field("requestedSchema") instanceof Map<?, ?> schema ? texts(schema.get("required")) : List.of();
    }

    private static String title(Map.Entry<String, Map<?, ?>> property) {
        return property.getValue().get("title") instanceof String title ? title : property.getKey();
    }

    private static String expected(Map<?, ?> property) {
        String what = switch (String.valueOf(property.get("type"))) {
            case "integer" -> "an integer";
            case "number" -> "a number";
            case "boolean" -> "true or false";
            case "array" -> "a list of: " + String.join(", ", choices(itemsOf(property)));
            default ->
                choices(property).isEmpty()
                        ? property.get("format") instanceof String format ? "text, as " + format : "text"
                        : "one of: " + String.join(", ", choices(property));
        };
        String least = bound(property, "at least ", "minimum", "minLength", "minItems");
        String most = bound(property, "at most ", "maximum", "maxLength", "maxItems");
        String unit = String.valueOf(property.get("type")).equals("string") ? " characters" : "";
        String bounds = least.isEmpty() || most.isEmpty() ? least + most : least + " and " + most;
        return bounds.isEmpty() ? what : what + ", " + bounds + unit;
    }

    private static String bound(Map<?, ?> property, String words, String... names) {
        for (String name : names) {
            if (property.get(name) instanceof Number limit) {
                return words + limit;
            }
        }
        return "";
    }

    private static boolean fits(@Nullable Object value, Map<?, ?> property) {
        return switch (String.valueOf(property.get("type"))) {
            case "boolean" -> value instanceof Boolean;
            case "integer" ->
                value instanceof Number number && isWhole(number) && isWithin(number, property, "minimum", "maximum");
            case "number" -> value instanceof Number number && isWithin(number, property, "minimum", "maximum");
            case "array" ->
                value instanceof List<?> list
                        && isWithin(list.size(), property, "minItems", "maxItems")
                        && list.stream().allMatch(item -> isChoice(item, itemsOf(property)));
            default -> value instanceof String text && isText(text, property);
        };
    }

    private static boolean isText(String text, Map<?, ?> property) {
        return isWithin(text.codePointCount(0, text.length()), property, "minLength", "maxLength")
                && isChoice(text, property)
                && isFormatted(text, String.valueOf(property.get("format")));
    }

    private static boolean isFormatted(String text, String format) {
        try {
            return switch (format) {
                case "email" -> EMAIL.matcher(text).matches();
                case "uri" -> URI.matcher(text).matches();
                case "date" -> LocalDate.parse(text).getYear() >= 0;
                case "date-time" -> OffsetDateTime.parse(text).getYear() >= 0;
                default -> true;
            };
        } catch (DateTimeException e) {
            return false;
        }
    }

    private static boolean isWhole(Number number) {
        return !(number instanceof Double fraction) || fraction == Math.rint(fraction);
    }

    private static boolean isWithin(Number value, Map<?, ?> property, String least, String most) {
        return (!(property.get(least) instanceof Number min) || compare(value, min) >= 0)
                && (!(property.get(most) instanceof Number max) || compare(value, max) <= 0);
    }

    private static int compare(Number left, Number right) {
        return new BigDecimal(left.toString()).compareTo(new BigDecimal(right.toString()));
    }

    private static boolean isChoice(@Nullable Object value, Map<?, ?> property) {
        List<String> choices = choices(property);
        return choices.isEmpty() || (value instanceof String text && choices.contains(text));
    }

    private static Map<?, ?> itemsOf(Map<?, ?> property) {
        return property.get("items") instanceof Map<?, ?> items ? items : Collections.emptyMap();
    }

    /** The values to choose from; empty if any value is allowed. */
    private static List<String> choices(Map<?, ?> property) {
        if (property.get("enum") instanceof List<?> values) {
            return texts(values);
        }
        List<String> choices = new ArrayList<>();
        for (String key : List.of("oneOf", "anyOf")) {
            if (property.get(key) instanceof List<?> options) {
                options.forEach(option -> {
                    if (option instanceof Map<?, ?> choice && choice.get("const") instanceof String value) {
                        choices.add(value);
                    }
                });
            }
        }
        return choices;
    }

    private static List<String> texts(@Nullable Object list) {
        List<String> texts = new ArrayList<>();
        if (list instanceof List<?> values) {
            values.forEach(value -> texts.add(String.valueOf(value)));
        }
        return texts;
    }
}
