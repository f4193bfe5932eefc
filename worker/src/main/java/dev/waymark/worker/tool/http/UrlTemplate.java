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
 * A URL with <code>{field}</code> placeholders for arguments. All characters of an argument except letters, digits and
 * {@code -._~} are percent-encoded, so that an argument cannot extend the path or the query. Placeholders must follow
 * the host, so that an argument cannot choose the host.
 */
public final class UrlTemplate {
    private static final Pattern PIECE = Pattern.compile("\\$\\{[^{}]*}|\\{([^{}]+)}");

    /** Scheme, host and port only: a user name could look like a host. */
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

    /** The arguments that go into the URL. */
    public Set<String> fields() {
        Set<String> fields = new LinkedHashSet<>();
        pieces.stream().filter(Piece::isField).forEach(piece -> fields.add(piece.text()));
        return fields;
    }

    /** Why the template is invalid, if that is known without the environment. */
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

    /** The result of filling in arguments. */
    sealed interface Filled {
        /** Why the result is not a URL; empty if it is one. */
        String why();

        record Address(HttpUrl url) implements Filled {
            @Override
            public String why() {
                return "";
            }
        }

        /** The arguments are invalid. */
        record Misfit(String why) implements Filled {}

        /** The URL is invalid with any arguments. */
        record Unusable(String why) implements Filled {}
    }

    /** @param environment replaces variables in a text with their values */
    Filled fill(Json args, UnaryOperator<String> environment) {
        for (String field : fields()) {
            Object value = args.field(field);
            if (text(value).isEmpty()) {
                return new Filled.Misfit(field + " is part of the URL: expected text, a number, true or false, found "
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
                return new Filled.Misfit(piece.text() + " is part of the path and can't be empty");
            }
            url.append(encoded(value));
        }
        if (!hostKnown && !WITHOUT_FIELDS.matcher(url).matches()) {
            return new Filled.Unusable("expected http:// or https:// and a host, without a user");
        }
        if (climbs(url.toString())) {
            return new Filled.Misfit(". and .. are not allowed as path segments");
        }
        return Optional.ofNullable(HttpUrl.parse(url.toString()))
                .<Filled>map(Filled.Address::new)
                .orElseGet(() -> new Filled.Unusable("not an HTTP URL"));
    }

    /** Whether a path segment, encoded or not, refers to the same or the parent directory. */
    private static boolean climbs(String url) {
        String path = url.split("[?#]", 2)[0].replaceAll("(?i)%2e", ".");
        for (String segment : path.split("[/\\\\]", -1)) {
            if (segment.equals(".") || segment.equals("..")) {
                return true;
            }
        }
        return false;
    }

    /** The text of a value in a URL, if it has one. */
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
