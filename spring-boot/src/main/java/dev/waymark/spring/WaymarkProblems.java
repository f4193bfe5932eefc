package dev.waymark.spring;

import dev.waymark.client.failure.WaymarkException;
import org.springframework.http.ProblemDetail;
import org.springframework.web.bind.annotation.ExceptionHandler;
import org.springframework.web.bind.annotation.RestControllerAdvice;

/**
 * Answers requests of controllers that failed with a {@link WaymarkException}, in MVC and in WebFlux. A handler of the
 * application for these exceptions takes precedence if its advice has an order.
 */
@RestControllerAdvice
final class WaymarkProblems {
    @ExceptionHandler
    ProblemDetail problem(WaymarkException failure) {
        ProblemDetail problem = ProblemDetail.forStatus(failure.httpStatus());
        problem.setDetail(failure.getMessage());
        problem.setProperty("code", failure.type());
        failure.thread().ifPresent(thread -> problem.setProperty("thread", thread));
        String remedy = failure.remedy().toString();
        if (!remedy.isEmpty()) {
            problem.setProperty("remedy", remedy);
        }
        if (failure instanceof WaymarkException.NoWorker absent) {
            problem.setProperty("accepted", absent.isAccepted());
        }
        return problem;
    }
}
