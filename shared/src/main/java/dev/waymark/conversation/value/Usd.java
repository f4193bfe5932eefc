package dev.waymark.conversation.value;

import com.fasterxml.jackson.annotation.JsonCreator;
import com.fasterxml.jackson.annotation.JsonValue;
import java.math.BigDecimal;
import java.math.RoundingMode;

/**
 * An amount of US dollars in trillionths: a token may cost 0.0000000375 dollars, and sums must be exact. Its JSON is
 * the number of dollars. The largest amount is about 9.2 million dollars.
 */
public record Usd(long picos) implements Comparable<Usd> {
    /** Zero dollars. */
    public static final Usd ZERO = new Usd(0);

    private static final int SCALE = 12;
    private static final BigDecimal MOST = BigDecimal.valueOf(Long.MAX_VALUE, SCALE);

    public Usd {
        if (picos < 0) {
            throw new IllegalArgumentException("negative amount: " + picos);
        }
    }

    /** The amount nearest to this number of dollars, or the largest amount if that is less. */
    @JsonCreator(mode = JsonCreator.Mode.DELEGATING)
    public static Usd of(BigDecimal dollars) {
        return new Usd(dollars.min(MOST)
                .setScale(SCALE, RoundingMode.HALF_UP)
                .unscaledValue()
                .longValueExact());
    }

    /** The sum of both, or the largest amount if that is less. */
    public Usd plus(Usd other) {
        return new Usd(picos > Long.MAX_VALUE - other.picos ? Long.MAX_VALUE : picos + other.picos);
    }

    /** The difference, at least zero. */
    public Usd minus(Usd other) {
        return new Usd(Math.max(0, picos - other.picos));
    }

    /** The amount in dollars, without trailing zeros after the decimal point. */
    @JsonValue
    public BigDecimal dollars() {
        BigDecimal plain = BigDecimal.valueOf(picos, SCALE).stripTrailingZeros();
        return plain.scale() < 0 ? plain.setScale(0) : plain;
    }

    @Override
    public int compareTo(Usd other) {
        return Long.compare(picos, other.picos);
    }

    /** The number of dollars in plain notation, such as {@code 0.0000000375}. */
    @Override
    public String toString() {
        return dollars().toPlainString();
    }
}
