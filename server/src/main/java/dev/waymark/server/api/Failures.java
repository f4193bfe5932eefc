package dev.waymark.server.api;

import dev.waymark.client.failure.WaymarkException;
import dev.waymark.conversation.value.ProblemType;
import dev.waymark.server.http.HttpProblem;

/**
 * Maps failures of {@code AgentClient} to HTTP errors, whose code is the failure's type, as in the command line. Any
 * other exception becomes an {@code Internal} error.
 */
public final class Failures {
    private Failures() {}

    public static HttpProblem of(RuntimeException failure) {
        if (failure instanceof WaymarkException known) {
            HttpProblem problem = HttpProblem.of(known.httpStatus(), known.type(), String.valueOf(known.getMessage()))
                    .withRemedy(known.remedy().toString());
            return problem.status() == 503 ? problem.withHeader("Retry-After", "2") : problem;
        }
        return HttpProblem.of(500, ProblemType.INTERNAL, "internal error");
    }
}
