package dev.waymark.worker.tool.http;

import dev.waymark.conversation.value.Json;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.function.UnaryOperator;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import okhttp3.HttpUrl;
import org.jspecify.annotations.Nullable;

/**
 * An address with <code>{field}</code> where arguments go. They are percent-encoded, all but letters, digits and {@code
 * -._~}, so that none can add to the path or the query; and they stand behind the host, so that none can choose it.
 */
public final class UrlTemplate {
    private static final Pattern PIECE = Pattern.compile("\\$\\{[^{}]*}|\\{([^{}]+)}");

    /** Nothing but scheme, host and port: a user there could look like a host. */
    private static final String ORIGIN = "(?i)https?://[^/?#\\\\@\\s]+";

    private static final Pattern WITHOUT_FIELDS = Pattern.compile(ORIGIN + "([/?#]\\S*)?");
    private static final Pattern BEFORE_A_FIELD = Pattern.compile(ORIGIN + "[/?#]\\S*");
    private static final String UNRESERVED = "-._~";

    private final List<Piece> pieces;

    private record Piece(String text, boolean isField) {}

    private UrlTemplate(List<Piece> pieces) {
        this.pieces = List.copyOf(pieces);
    }

    public static UrlTemplate of(String url) {
        List<Piece> pieces = new ArrayList<>();
        Matcher matcher = PIECE.matcher(url);
        int literalFrom = 0;
        while (matcher.find()) {
            if (matcher.group(1) != null) {
                pieces.add(new Piece(url.substring(literalFrom, matcher.start()), false));
                pieces.add(new Piece(matcher.group(1), true));
                literalFrom = matcher.end();
            }
        }
        pieces.add(new Piece(url.substring(literalFrom), false));
        return new UrlTemplate(pieces);
    }

    /** The arguments that go into the address. */
    public Set<String> fields() {
        Set<String> fields = new LinkedHashSet<>();
        pieces.stream().filter(Piece::isField).forEach(piece -> fields.add(piece.text()));
        return fields;
    }

    /** What is wrong with it, as far as that can be told without the environment. */
    public Optional<String> problem() {
        boolean known = pieces.stream()
                .noneMatch(piece -> !piece.isField() && piece.text().contains("${"));
        if (pieces.stream()
                .anyMatch(piece -> !piece.isField()
                        && PIECE.matcher(piece.text()).replaceAll("").matches("(?s).*[{}].*"))) {
            return Optional.of("expected {field} or ${NAME}");
        }
        if (!known) {
            return Optional.empty();
        }
        Filled filled = fill(name -> "x", text -> text);
        return filled instanceof Filled.Address ? Optional.empty() : Optional.of(filled.why());
    }

    /** What arguments make of it. */
    sealed interface Filled {
        /** Why it is not an address; nothing where it is one. */
        String why();

        record Address(HttpUrl url) implements Filled {
            @Override
            public String why() {
                return "";
            }
        }

        /** The arguments can't be used. */
        record Misfit(String why) implements Filled {}

        /** The address can't be used, whatever the arguments. */
        record Unusable(String why) implements Filled {}
    }

    /** @param environment puts the values of variables into a text */
    Filled fill(Json args, UnaryOperator<String> environment) {
        for (String field : fields()) {
            Object value = args.field(field);
            if (text(value).isEmpty()) {
                return new Filled.Misfit(
                        field + " stands in the address: expected text, a number, true or false, found "
                                + (value == null ? "nothing" : "a list or an object"));
            }
        }
        return fill(field -> text(args.field(field)).orElseThrow(), environment);
    }

    private Filled fill(UnaryOperator<String> values, UnaryOperator<String> environment) {
        StringBuilder url = new StringBuilder();
        boolean inPath = true;
        boolean hostKnown = false;
        for (Piece piece : pieces) {
            if (!piece.isField()) {
                String literal = environment.apply(piece.text());
                url.append(literal);
                inPath &= !literal.contains("?") && !literal.contains("#");
                continue;
            }
            hostKnown |= BEFORE_A_FIELD.matcher(url).matches();
            if (!hostKnown) {
                return new Filled.Unusable("expected http:// or https:// and a host, without a user and without {"
                        + piece.text() + "} in them");
            }
            String value = values.apply(piece.text());
            if (inPath && value.isEmpty()) {
                return new Filled.Misfit(piece.text() + " stands in the path: it can't be empty");
            }
            url.append(encoded(value));
        }
        if (!hostKnown && !WITHOUT_FIELDS.matcher(url).matches()) {
            return new Filled.Unusable("expected http:// or https:// and a host, without a user");
        }
        if (climbs(url.toString())) {
            return new Filled.Misfit(". and .. are not names in a path");
        }
        return Optional.ofNullable(HttpUrl.parse(url.toString()))
                .<Filled>map(Filled.Address::new)
                .orElseGet(() -> new Filled.Unusable("no http address"));
    }

    /** Whether a part of the path would lead to another place, encoded or not. */
    private static boolean climbs(String url) {
        String path = url.split("[?#]", 2)[0].replaceAll("(?i)%2e", ".");
        for (String segment : path.split("[/\\\\]", -1)) {
            if (segment.equals(".") || segment.equals("..")) {
                return true;
            }
        }
        return false;
    }

    /** How a value is spelled in an address, where it has a spelling. */
    static Optional<String> text(@Nullable Object value) {
        if (value instanceof String text) {
            return Optional.of(text);
        }
        return value instanceof Number || value instanceof Boolean
                ? Optional.of(Json.canonical(value))
                : Optional.empty();
    }

    static String encoded(String value) {
        StringBuilder encoded = new StringBuilder();
        for (byte b : value.getBytes(StandardCharsets.UTF_8)) {
            char c = (char) (b & 0xff);
            if (c < 0x80 && (Character.isLetterOrDigit(c) || UNRESERVED.indexOf(c) >= 0)) {
                encoded.append(c);
            } else {
                encoded.append(String.format("%%%02X", (int) c));
            }
        }
        return encoded.toString();
    }
}
