package dev.waymark.server.api;

import dev.waymark.client.failure.WaymarkException;
import dev.waymark.codec.KeyProblem;
import dev.waymark.conversation.value.Problem;
import dev.waymark.history.ForeignThreadException;
import dev.waymark.server.http.HttpProblem;

/**
 * Maps failures of {@code AgentClient} to HTTP errors, whose code is the failure's type, as in the command line. Any
 * other exception becomes an {@code Internal} error.
 */
public final class Failures {
    private Failures() {}

    public static HttpProblem of(RuntimeException failure) {
        if (failure instanceof WaymarkException known) {
            HttpProblem problem = HttpProblem.of(status(known), known.type(), String.valueOf(known.getMessage()))
                    .withRemedy(known.remedy().toString());
            return problem.status() == 503 ? problem.withHeader("Retry-After", "2") : problem;
        }
        return HttpProblem.of(500, "Internal", "internal error");
    }

    private static int status(WaymarkException failure) {
        if (failure instanceof WaymarkException.NotFound) {
            return 404;
        }
        if (failure instanceof WaymarkException.Forgotten) {
            return 410;
        }
        if (failure instanceof WaymarkException.TooLarge) {
            return 413;
        }
        if (failure instanceof WaymarkException.Closed) {
            return 409;
        }
        if (failure instanceof WaymarkException.ServerUnreachable || failure instanceof WaymarkException.NoWorker) {
            return 503;
        }
        if (failure instanceof WaymarkException.TimedOut) {
            return 504;
        }
        return switch (failure.type()) {
            case Problem.BAD_INPUT, Problem.CORRUPTION -> 400;
            case Problem.SIGNATURE_REQUIRED -> 403;
            case KeyProblem.TYPE, Problem.UNKNOWN_RULES, ForeignThreadException.TYPE -> 500;
            default -> 409;
        };
    }
}
