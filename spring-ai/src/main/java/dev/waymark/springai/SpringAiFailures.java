package dev.waymark.springai;

import com.fasterxml.jackson.core.JsonProcessingException;
import dev.waymark.conversation.value.ProblemType;
import dev.waymark.model.ModelFailure;
import dev.waymark.model.adapter.Causes;
import dev.waymark.model.adapter.StatusFailures;
import java.io.IOException;
import java.lang.reflect.Method;
import java.net.SocketTimeoutException;
import java.net.http.HttpConnectTimeoutException;
import java.net.http.HttpTimeoutException;
import java.time.Duration;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.TimeoutException;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.springframework.ai.retry.NonTransientAiException;
import org.springframework.http.HttpHeaders;
import org.springframework.util.ClassUtils;
import org.springframework.util.ReflectionUtils;
import org.springframework.web.client.RestClientResponseException;
import org.springframework.web.reactive.function.client.WebClientResponseException;

/**
 * Converts exceptions of Spring AI to failures, and decides which of them a retry may solve. The failure types are
 * stored in histories, and are the same as those of the HTTP providers.
 */
final class SpringAiFailures {
    private static final Duration LONGEST_WAIT = Duration.ofDays(1);
    private static final int UNAUTHORIZED = 401;

    private static final int FIRST_ERROR = 300;

    /** The packages of the services' own clients, which Spring AI 2 uses. */
    private static final List<String> CLIENTS = List.of("com.openai.", "com.anthropic.");

    /**
     * Finds the HTTP status in the message of an exception, in the forms that Spring AI, its Anthropic model, and the
     * clients of Azure and AWS use.
     */
    private static final Pattern STATUS =
            Pattern.compile("^([345]\\d\\d) - |Status: \\[([345]\\d\\d)[ \\]]|[Ss]tatus [Cc]ode:? ([345]\\d\\d)");

    private static final boolean WEB_CLIENT = ClassUtils.isPresent(
            "org.springframework.web.reactive.function.client.WebClientResponseException",
            SpringAiFailures.class.getClassLoader());

    private SpringAiFailures() {}

    /** @param begun whether the service had begun to answer */
    static ModelFailure of(Throwable thrown, boolean begun) {
        return Causes.of(thrown)
                .flatMap(each -> answer(each).stream())
                .findFirst()
                .map(Answer::failure)
                .orElseGet(() -> withoutAnswer(thrown, begun));
    }

    private static ModelFailure withoutAnswer(Throwable thrown, boolean begun) {
        String message = Causes.message(thrown);
        if (Causes.has(thrown, JsonProcessingException.class::isInstance)) {
            return ModelFailure.passing(ProblemType.MALFORMED_REPLY, message);
        }
        if (Causes.has(thrown, HttpConnectTimeoutException.class::isInstance)) {
            return ModelFailure.passing(ProblemType.UNREACHABLE, message);
        }
        if (Causes.has(thrown, SpringAiFailures::isTimeout)) {
            return ModelFailure.passing(ProblemType.REQUEST_TIMED_OUT, message);
        }
        if (Causes.has(thrown, IOException.class::isInstance)) {
            return ModelFailure.passing(begun ? ProblemType.STREAM_CUT : ProblemType.UNREACHABLE, message);
        }
        if (Causes.has(thrown, SpringAiFailures::isWrongCall)) {
            return ModelFailure.permanent(ProblemType.BAD_REQUEST, message);
        }
        return ModelFailure.passing(ProblemType.SERVER_ERROR, message);
    }

    private static boolean isTimeout(Throwable thrown) {
        return thrown instanceof HttpTimeoutException
                || thrown instanceof SocketTimeoutException
                || thrown instanceof TimeoutException;
    }

    private static boolean isWrongCall(Throwable thrown) {
        return thrown instanceof NonTransientAiException
                || thrown instanceof IllegalArgumentException
                || thrown instanceof UnsupportedOperationException;
    }

    private static Optional<Answer> answer(Throwable thrown) {
        if (WEB_CLIENT) {
            Optional<Answer> answer = WebClientAnswers.of(thrown);
            if (answer.isPresent()) {
                return answer;
            }
        }
        if (thrown instanceof RestClientResponseException response) {
            return Optional.of(new Answer(
                    response.getStatusCode().value(),
                    response.getResponseBodyAsString(),
                    Optional.ofNullable(response.getResponseHeaders()).flatMap(SpringAiFailures::retryAfter)));
        }
        Optional<Answer> told = clientAnswer(thrown);
        if (told.isPresent()) {
            return told;
        }
        Matcher status = STATUS.matcher(String.valueOf(thrown.getMessage()));
        if (status.find()) {
            int number = Stream.of(1, 2, 3)
                    .map(status::group)
                    .filter(each -> each != null)
                    .findFirst()
                    .map(Integer::valueOf)
                    .orElseThrow();
            return Optional.of(new Answer(number, Causes.message(thrown), Optional.empty()));
        }
        return Optional.empty();
    }

    /** The services' own clients are made by one generator, and their exceptions have the same methods. */
    private static Optional<Answer> clientAnswer(Throwable thrown) {
        Class<?> type = thrown.getClass();
        if (CLIENTS.stream().noneMatch(type.getName()::startsWith)
                || !(call(thrown, "statusCode") instanceof Integer status)
                || status < FIRST_ERROR) {
            return Optional.empty();
        }
        String message = Causes.message(thrown);
        String prefix = status + ": ";
        return Optional.of(new Answer(
                status,
                message.startsWith(prefix) ? message.substring(prefix.length()) : message,
                call(call(thrown, "headers"), "values", HttpHeaders.RETRY_AFTER) instanceof List<?> values
                                && !values.isEmpty()
                        ? seconds(String.valueOf(values.get(0)))
                        : Optional.empty()));
    }

    private static @Nullable Object call(@Nullable Object target, String name, String... arguments) {
        if (target == null) {
            return null;
        }
        Class<?>[] types = new Class<?>[arguments.length];
        Arrays.fill(types, String.class);
        Method method = ReflectionUtils.findMethod(target.getClass(), name, types);
        return method == null ? null : ReflectionUtils.invokeMethod(method, target, (Object[]) arguments);
    }

    private static Optional<Duration> retryAfter(HttpHeaders headers) {
        return seconds(headers.getFirst(HttpHeaders.RETRY_AFTER));
    }

    private static Optional<Duration> seconds(@Nullable String header) {
        return Optional.ofNullable(header)
                .filter(value -> value.matches("[0-9]{1,6}"))
                .map(value -> Duration.ofSeconds(Long.parseLong(value)))
                .filter(wait -> !wait.isZero() && wait.compareTo(LONGEST_WAIT) <= 0);
    }

    /** The error response that the service sent instead of a reply. */
    private record Answer(int status, String body, Optional<Duration> retryAfter) {
        ModelFailure failure() {
            // A service may repeat the rejected key in its answer, and histories must not contain keys.
            String words = status == UNAUTHORIZED ? "the service does not accept the key" : Causes.cut(body);
            ModelFailure failure = StatusFailures.of(status, status + ": " + words);
            return failure.retryable() && retryAfter.isPresent()
                    ? ModelFailure.passing(failure.type(), String.valueOf(failure.getMessage()), retryAfter.get())
                    : failure;
        }
    }

    /** A separate class, because it can be loaded only if WebClient is on the class path. */
    private static final class WebClientAnswers {
        private WebClientAnswers() {}

        static Optional<Answer> of(Throwable thrown) {
            return thrown instanceof WebClientResponseException response
                    ? Optional.of(new Answer(
                            response.getStatusCode().value(),
                            response.getResponseBodyAsString(),
                            retryAfter(response.getHeaders())))
                    : Optional.empty();
        }
    }
}
