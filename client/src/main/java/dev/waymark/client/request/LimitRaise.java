package dev.waymark.client.request;

import java.math.BigDecimal;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Optional;

/** Higher limits for a thread: on its cost, on its tokens, and on the model calls per turn. */
public record LimitRaise(Optional<BigDecimal> usd, Optional<Long> tokens, Optional<Integer> iterations) {
    /** Raises the limit of model calls per turn. */
    public static LimitRaise toIterations(int most) {
        return new LimitRaise(Optional.empty(), Optional.empty(), Optional.of(most));
    }

    /** Whether no limit is raised. */
    public boolean isNothing() {
        return usd.isEmpty() && tokens.isEmpty() && iterations.isEmpty();
    }

    /** The payload of the signal or update that raises the limits. */
    public Map<String, Object> payload() {
        Map<String, Object> payload = new LinkedHashMap<>();
        usd.ifPresent(most -> payload.put("usd", most));
        tokens.ifPresent(most -> payload.put("tokens", most));
        iterations.ifPresent(most -> payload.put("iterations", most));
        return payload;
    }
}
