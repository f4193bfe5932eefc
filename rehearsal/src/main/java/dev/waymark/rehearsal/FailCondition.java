package dev.waymark.rehearsal;

import dev.waymark.conversation.value.Usd;
import java.math.BigDecimal;
import java.util.Arrays;
import java.util.Locale;
import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;

/**
 * A condition under which a rehearsal fails, such as {@code changed > 5%}, {@code changed > 3} or {@code asked-more}.
 *
 * @param text the condition as it was written
 * @param most the highest value with which the rehearsal passes
 * @param percent whether the value is a percentage of the replies, of the checks or, for costs, of the recorded costs
 */
public record FailCondition(String text, Measure measure, BigDecimal most, boolean percent) {
    private static final Pattern FORM = Pattern.compile("([a-z-]+)(?:\\s*>\\s*(\\d{1,9}(?:\\.\\d{1,9})?)\\s*(%)?)?");

    /** The measure that a condition limits. The names are those of the command line. */
    public enum Measure {
        CHANGED("replies that change"),
        NEAR("replies with nearly the same text"),
        ASKED_MORE("calls that newly wait for a person"),
        ALLOWED_MORE("calls that newly run without asking"),
        DENIED_MORE("calls that are newly denied"),
        REFUSED("calls that are newly refused because of their arguments or their tool"),
        CHECKS("checks that fail"),
        /** Dollars, or the increase over the recorded dollars if it is a percentage. */
        COST("USD"),
        /** Tokens, or the increase over the recorded tokens if it is a percentage. */
        TOKENS("tokens");

        private final String words;

        Measure(String words) {
            this.words = words;
        }

        String wireName() {
            return name().toLowerCase(Locale.ROOT).replace('_', '-');
        }
    }

    /**
     * Parses a condition. Without a limit, the rehearsal fails if the value is above zero.
     *
     * @throws IllegalArgumentException if it is not a condition; the message says why
     */
    public static FailCondition parse(String text) {
        Matcher parts = FORM.matcher(text.strip());
        Optional<Measure> measure = parts.matches() ? measure(parts.group(1)) : Optional.empty();
        if (measure.isEmpty()) {
            throw new IllegalArgumentException("expected one of "
                    + Arrays.stream(Measure.values()).map(Measure::wireName).collect(Collectors.joining(", "))
                    + ", with a limit such as > 3 or > 5%, found " + text);
        }
        BigDecimal most =
                Optional.ofNullable(parts.group(2)).map(BigDecimal::new).orElse(BigDecimal.ZERO);
        return new FailCondition(text.strip(), measure.get(), most, parts.group(3) != null);
    }

    private static Optional<Measure> measure(String name) {
        return Arrays.stream(Measure.values())
                .filter(each -> each.wireName().equals(name))
                .findFirst();
    }

    /** Why the rehearsal of a candidate fails; empty if it does not. */
    public Optional<String> failure(RehearsalReport.OfCandidate of) {
        BigDecimal value = value(of);
        BigDecimal base = base(of);
        boolean fails = percent
                ? value.multiply(BigDecimal.valueOf(100)).compareTo(most.multiply(base)) > 0
                : value.compareTo(most) > 0;
        return fails
                ? Optional.of(measure.words + ": " + plain(value) + (percent ? comparedTo(plain(base)) : "") + " (\""
                        + of.name() + "\", --fail-on '" + text + "')")
                : Optional.empty();
    }

    private String comparedTo(String base) {
        return switch (measure) {
            case COST, TOKENS -> " more than the recorded " + base;
            case CHECKS -> " of " + base;
            default -> ", in " + base + " replies";
        };
    }

    private static String plain(BigDecimal number) {
        return number.stripTrailingZeros().toPlainString();
    }

    private BigDecimal value(RehearsalReport.OfCandidate of) {
        return switch (measure) {
            case CHANGED -> BigDecimal.valueOf(of.changed());
            case NEAR -> BigDecimal.valueOf(of.near());
            case ASKED_MORE -> BigDecimal.valueOf(of.changing(ReplyChange.Kind.ASKED));
            case ALLOWED_MORE -> BigDecimal.valueOf(of.changing(ReplyChange.Kind.ALLOWED));
            case DENIED_MORE -> BigDecimal.valueOf(of.changing(ReplyChange.Kind.DENIED));
            case REFUSED -> BigDecimal.valueOf(of.changing(ReplyChange.Kind.REFUSED));
            case CHECKS -> BigDecimal.valueOf(of.failedChecks());
            case COST -> percent ? dollars(of.now()).subtract(dollars(of.recorded())) : dollars(of.now());
            case TOKENS -> percent ? tokens(of.now()).subtract(tokens(of.recorded())) : tokens(of.now());
        };
    }

    private BigDecimal base(RehearsalReport.OfCandidate of) {
        return switch (measure) {
            case CHANGED, NEAR, ASKED_MORE, ALLOWED_MORE, DENIED_MORE, REFUSED -> BigDecimal.valueOf(of.replies());
            case CHECKS -> BigDecimal.valueOf(of.checks());
            case COST -> dollars(of.recorded());
            case TOKENS -> tokens(of.recorded());
        };
    }

    private static BigDecimal dollars(RehearsalReport.Totals totals) {
        return totals.spent().cost().orElse(Usd.ZERO).dollars();
    }

    private static BigDecimal tokens(RehearsalReport.Totals totals) {
        return BigDecimal.valueOf(totals.spent().usage().total());
    }
}
