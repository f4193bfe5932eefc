package dev.waymark.conversation.value;

import com.fasterxml.jackson.annotation.JsonCreator;
import com.fasterxml.jackson.annotation.JsonValue;
import java.math.BigDecimal;
import java.math.BigInteger;
import java.math.MathContext;
import java.math.RoundingMode;
import java.util.ArrayList;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.TreeMap;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * An immutable JSON value with one canonical form.
 *
 * <p>The canonical form is what Python's {@code json.dumps(value, sort_keys=True)} prints, byte for byte: keys sorted
 * by code point, separators {@code ", "} and {@code ": "}, everything outside of printable ASCII escaped. Digests and
 * idempotency keys are computed over it, so it must be the same on every JDK. {@code Double.toString} prints the
 * shortest form only since JDK 19, so numbers are formatted here.
 */
public final class Json {
    /** Deeper values are rejected: recursion over them would overflow the stack of a workflow thread. */
    public static final int MAX_DEPTH = 400;

    /** Larger integers are rejected: Jackson can write them, but then fails to read them and the state around them. */
    private static final int MAX_INTEGER_BITS = 3_288;

    /** An object without fields. */
    public static final Json EMPTY_OBJECT = new Json(Collections.emptyMap());

    private final @Nullable Object value;

    private Json(@Nullable Object value) {
        this.value = value;
    }

    /** Copies a tree of maps, lists, strings, numbers, booleans and nulls. Throws on anything that is not JSON. */
    @JsonCreator(mode = JsonCreator.Mode.DELEGATING)
    public static Json of(@Nullable Object tree) {
        return tree instanceof Json json ? json : new Json(freeze(tree, 0));
    }

    /**
     * The plain tree: unmodifiable maps and lists, {@code String}, {@code Long} or {@code BigInteger}, {@code Double},
     * {@code Boolean} and null.
     */
    @JsonValue
    public @Nullable Object value() {
        return value;
    }

    /** Whether the value is an object. */
    public boolean isObject() {
        return value instanceof Map;
    }

    /** Whether the value is JSON null. */
    public boolean isNull() {
        return value == null;
    }

    /** A field of an object; null if this is not an object or has no such field. */
    public @Nullable Object field(String name) {
        return value instanceof Map<?, ?> map ? map.get(name) : null;
    }

    /** A field of an object; JSON null if this is not an object or has no such field. */
    public Json get(String name) {
        return Json.of(field(name));
    }

    /**
     * This whole number.
     *
     * @throws IllegalArgumentException if this is another value, or does not fit
     */
    public int asInt() {
        if (value instanceof Long number && number == number.intValue()) {
            return number.intValue();
        }
        throw new IllegalArgumentException("not an int: " + shortened(100));
    }

    /**
     * This text.
     *
     * @throws IllegalArgumentException if this is another value
     */
    public String asText() {
        if (value instanceof String text) {
            return text;
        }
        throw new IllegalArgumentException("not a text: " + shortened(100));
    }

    /** This object's fields, overridden by the other's. Both must be objects. */
    public Json overlaidBy(Optional<Json> other) {
        Map<String, Object> fields = new LinkedHashMap<>();
        Stream.concat(Stream.of(this), other.stream())
                .forEach(object -> ((Map<?, ?>) Objects.requireNonNull(object.value))
                        .forEach((name, field) -> fields.put((String) name, field)));
        return Json.of(fields);
    }

    /** This value, or only its length if its canonical form has more characters than this. */
    public Json shortened(int most) {
        int length = canonical().length();
        return length <= most ? this : Json.of(Collections.singletonMap("truncated", length));
    }

    /** The canonical form of this value. Equal values have equal texts. */
    public String canonical() {
        return canonical(value);
    }

    /**
     * The canonical form of a tree of maps, lists and scalars that may contain values of this type.
     *
     * <p>Copies nothing and does not limit the depth. An accepted value must be writable wherever it is embedded, since
     * a digest that throws would block its thread forever.
     */
    public static String canonical(@Nullable Object tree) {
        StringBuilder out = new StringBuilder();
        write(tree, out);
        return out.toString();
    }

    private static @Nullable Object freeze(@Nullable Object tree, int depth) {
        if (depth > MAX_DEPTH) {
            throw new IllegalArgumentException("JSON nested deeper than " + MAX_DEPTH);
        }
        if (tree == null || tree instanceof String || tree instanceof Boolean) {
            return tree;
        }
        if (tree instanceof Map<?, ?> map) {
            Map<String, Object> copy = new LinkedHashMap<>();
            map.forEach((key, item) -> copy.put((String) key, freeze(item, depth + 1)));
            return Collections.unmodifiableMap(copy);
        }
        if (tree instanceof List<?> list) {
            List<Object> copy = new ArrayList<>(list.size());
            list.forEach(item -> copy.add(freeze(item, depth + 1)));
            return Collections.unmodifiableList(copy);
        }
        if (tree instanceof Json json) {
            // Checked when it was created. If its depth counted here, a checkpoint could make its own thread
            // unreadable.
            return json.value;
        }
        return freezeNumber(tree);
    }

    private static Object freezeNumber(Object number) {
        if (number instanceof Integer || number instanceof Long || number instanceof Short || number instanceof Byte) {
            return ((Number) number).longValue();
        }
        if (number instanceof BigInteger big) {
            if (big.bitLength() > MAX_INTEGER_BITS) {
                throw new IllegalArgumentException("a whole number of more than 990 digits");
            }
            return big.bitLength() < Long.SIZE ? (Object) big.longValue() : big;
        }
        if (number instanceof Double || number instanceof Float || number instanceof BigDecimal) {
            double plain = ((Number) number).doubleValue();
            if (Double.isNaN(plain) || Double.isInfinite(plain)) {
                throw new IllegalArgumentException("not a JSON number: " + number);
            }
            return plain;
        }
        throw new IllegalArgumentException("not JSON: " + number.getClass().getSimpleName());
    }

    private static void write(@Nullable Object tree, StringBuilder out) {
        if (tree instanceof Json json) {
            write(json.value, out);
        } else if (tree instanceof String text) {
            writeString(text, out);
        } else if (tree instanceof Map<?, ?> map) {
            Map<String, Object> sorted = new TreeMap<>(Json::byCodePoint);
            map.forEach((key, item) -> sorted.put((String) key, item));
            String separator = "{";
            for (Map.Entry<String, Object> entry : sorted.entrySet()) {
                out.append(separator);
                writeString(entry.getKey(), out);
                out.append(": ");
                write(entry.getValue(), out);
                separator = ", ";
            }
            out.append(sorted.isEmpty() ? "{}" : "}");
        } else if (tree instanceof List<?> list) {
            String separator = "[";
            for (Object item : list) {
                out.append(separator);
                write(item, out);
                separator = ", ";
            }
            out.append(list.isEmpty() ? "[]" : "]");
        } else if (tree instanceof Double number) {
            writeDouble(number, out);
        } else {
            out.append(tree);
        }
    }

    /** Copies runs of plain characters at once, since texts are long and rarely need escapes. */
    private static void writeString(String text, StringBuilder out) {
        out.append('"');
        int plainFrom = 0;
        for (int i = 0; i < text.length(); i++) {
            char c = text.charAt(i);
            if (c < ' ' || c > '~' || c == '"' || c == '\\') {
                out.append(text, plainFrom, i);
                writeEscaped(c, out);
                plainFrom = i + 1;
            }
        }
        out.append(text, plainFrom, text.length()).append('"');
    }

    private static void writeEscaped(char c, StringBuilder out) {
        switch (c) {
            case '"' -> out.append("\\\"");
            case '\\' -> out.append("\\\\");
            case '\n' -> out.append("\\n");
            case '\r' -> out.append("\\r");
            case '\t' -> out.append("\\t");
            case '\b' -> out.append("\\b");
            case '\f' -> out.append("\\f");
            default -> writeEscape(c, out);
        }
    }

    private static void writeEscape(char c, StringBuilder out) {
        out.append("\\u");
        for (int shift = 12; shift >= 0; shift -= 4) {
            out.append(Character.forDigit((c >> shift) & 0xf, 16));
        }
    }

    /** The shortest decimal that reads back as the same double, formatted like Python's {@code repr}. */
    private static void writeDouble(double number, StringBuilder out) {
        if (number == 0) {
            out.append(1 / number < 0 ? "-0.0" : "0.0");
            return;
        }
        BigDecimal shortest = shortest(Math.abs(number));
        String digits = shortest.unscaledValue().toString();
        int exponent = digits.length() - 1 - shortest.scale();
        digits = digits.replaceAll("0+$", "");
        out.append(number < 0 ? "-" : "");
        if (exponent >= -4 && exponent < 16) {
            writeFixed(digits, exponent, out);
        } else {
            out.append(digits.charAt(0));
            out.append(digits.length() > 1 ? "." + digits.substring(1) : "");
            out.append('e').append(exponent < 0 ? '-' : '+');
            out.append(Math.abs(exponent) < 10 ? "0" : "").append(Math.abs(exponent));
        }
    }

    /**
     * Tries, for each number of digits, the nearest decimal and then the nearest one on the other side. Below a power
     * of two, doubles are twice as dense as above it, so the nearest decimal may belong to a neighbor while the farther
     * one still belongs to this double.
     */
    private static BigDecimal shortest(double number) {
        BigDecimal exact = new BigDecimal(number);
        for (int precision = 1; precision < 17; precision++) {
            BigDecimal nearest = exact.round(new MathContext(precision, RoundingMode.HALF_EVEN));
            if (nearest.doubleValue() == number) {
                return nearest;
            }
            RoundingMode otherSide = nearest.compareTo(exact) > 0 ? RoundingMode.DOWN : RoundingMode.UP;
            BigDecimal farther = exact.round(new MathContext(precision, otherSide));
            if (farther.doubleValue() == number) {
                return farther;
            }
        }
        return exact.round(new MathContext(17, RoundingMode.HALF_EVEN));
    }

    private static void writeFixed(String digits, int exponent, StringBuilder out) {
        if (exponent < 0) {
            out.append("0.").append("0".repeat(-exponent - 1)).append(digits);
        } else if (digits.length() <= exponent + 1) {
            out.append(digits)
                    .append("0".repeat(exponent + 1 - digits.length()))
                    .append(".0");
        } else {
            out.append(digits, 0, exponent + 1).append('.').append(digits.substring(exponent + 1));
        }
    }

    /**
     * Compares by code point. Java compares UTF-16 units, which puts characters beyond the basic plane before U+E000.
     */
    private static int byCodePoint(String left, String right) {
        int shorter = Math.min(left.length(), right.length());
        for (int i = 0; i < shorter; i += Character.charCount(left.codePointAt(i))) {
            int order = Integer.compare(left.codePointAt(i), right.codePointAt(i));
            if (order != 0) {
                return order;
            }
        }
        return Integer.compare(left.length(), right.length());
    }

    @Override
    public boolean equals(@Nullable Object other) {
        return other instanceof Json json && Objects.equals(value, json.value);
    }

    @Override
    public int hashCode() {
        return Objects.hashCode(value);
    }

    @Override
    public String toString() {
        return canonical();
    }
}
