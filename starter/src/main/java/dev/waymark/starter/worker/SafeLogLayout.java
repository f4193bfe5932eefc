package dev.waymark.starter.worker;

import ch.qos.logback.classic.PatternLayout;
import ch.qos.logback.classic.spi.ILoggingEvent;
import ch.qos.logback.classic.spi.IThrowableProxy;
import ch.qos.logback.classic.spi.LoggingEvent;
import ch.qos.logback.classic.spi.ThrowableProxy;
import dev.waymark.codec.KeyProblem;
import dev.waymark.codec.KeyStoreException;
import dev.waymark.codec.ThreadForgottenException;
import dev.waymark.connect.ServerAnswer;
import dev.waymark.conversation.state.UnknownRulesException;
import dev.waymark.conversation.value.ProblemType;
import dev.waymark.display.SafeText;
import dev.waymark.worker.secret.LogSecrets;
import io.grpc.StatusRuntimeException;
import io.temporal.failure.ApplicationFailure;
import io.temporal.internal.logging.LoggerTag;
import io.temporal.payload.codec.PayloadCodecException;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CancellationException;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Predicate;

/**
 * Escapes control characters and masks secrets in the log, because messages and exceptions may quote models, tools and
 * servers.
 */
public final class SafeLogLayout extends PatternLayout {
    /**
     * Failures that need no stack trace, because the message says everything: keys that are unavailable, missing or
     * destroyed.
     */
    private static final Set<String> KEY_FAILURES = Set.of(
            KeyStoreException.class.getName(),
            KeyProblem.class.getName(),
            ThreadForgottenException.class.getName(),
            PayloadCodecException.class.getName());

    private static final String WORKFLOW_TASKS = "io.temporal.internal.replay.";
    /** The logger that logs failures of workflow tasks a second time. */
    private static final String POLLERS = "io.temporal.internal.worker.PollerOptions";

    /**
     * How long further failures of the key storage are not logged, because tasks and activities of all threads fail
     * during an outage.
     */
    private static final long SILENT_MILLIS = 10_000;

    private final Set<String> loggedThreads = ConcurrentHashMap.newKeySet();
    private final AtomicLong silentUntil = new AtomicLong();

    @Override
    public String doLayout(ILoggingEvent event) {
        boolean isOfTask = event.getLoggerName().startsWith(WORKFLOW_TASKS);
        Optional<String> rules = cause(event, SafeLogLayout::isOfRules).map(IThrowableProxy::getMessage);
        if (rules.isPresent()) {
            return unknownRulesLine(event, rules.get());
        }
        Optional<ServerOutage> outage = ServerOutage.watched();
        Optional<String> lost = outage.flatMap(of -> lost(event, of));
        if (lost.isPresent()) {
            return outage.flatMap(of -> of.failed(lost.get()))
                    .map(line -> safe(withMessage(event, line)))
                    .orElse("");
        }
        if (cause(event, cause -> cause.getClassName().equals(CancellationException.class.getName()))
                .isPresent()) {
            // A worker that is stopped cancels its requests.
            return safe(withMessage(event, event.getFormattedMessage()));
        }
        Optional<String> keys = isOfTask || event.getLoggerName().equals(POLLERS) ? ofKeys(event) : Optional.empty();
        if ((keys.isPresent() && !isOfTask) || isRepeated(event)) {
            return "";
        }
        return safe(keys.<ILoggingEvent>map(reason -> withMessage(event, event.getFormattedMessage() + " " + reason))
                .orElse(event));
    }

    /** The status of a request that failed because the server was lost, if one caused the event. */
    private static Optional<String> lost(ILoggingEvent event, ServerOutage outage) {
        for (IThrowableProxy cause = event.getThrowableProxy(); cause != null; cause = cause.getCause()) {
            if (cause instanceof ThrowableProxy proxy
                    && proxy.getThrowable() instanceof StatusRuntimeException failure) {
                ServerAnswer answer = ServerAnswer.of(failure);
                // A late request alone does not mean an outage, because the server may be busy.
                return answer == ServerAnswer.UNREACHABLE || (answer == ServerAnswer.LATE && outage.isOn())
                        ? Optional.of(failure.getStatus().getCode().name())
                        : Optional.empty();
            }
        }
        return Optional.empty();
    }

    private String safe(ILoggingEvent event) {
        String line = super.doLayout(event);
        return SafeText.lines(LogSecrets.ofThisProcess().mask(line));
    }

    /** Logs a thread with unknown rules only once, because the server offers its tasks again and again. */
    private String unknownRulesLine(ILoggingEvent event, String reason) {
        String thread = event.getMDCPropertyMap().get(LoggerTag.WORKFLOW_ID);
        return thread != null && loggedThreads.add(thread)
                ? safe(withMessage(event, "Thread " + thread + " is left to other workers: " + reason))
                : "";
    }

    private static boolean isOfRules(IThrowableProxy cause) {
        return cause.getClassName().equals(UnknownRulesException.class.getName())
                || isFailure(cause, ProblemType.UNKNOWN_RULES);
    }

    /** Whether the event reports that the key storage is unavailable, and this was logged in the last 10 seconds. */
    private boolean isRepeated(ILoggingEvent event) {
        long now = event.getTimeStamp();
        return cause(event, SafeLogLayout::isOfStorage).isPresent()
                && silentUntil.getAndUpdate(until -> now < until ? until : now + SILENT_MILLIS) > now;
    }

    /** Returns the message of the key failure, if one caused the event. */
    private static Optional<String> ofKeys(ILoggingEvent event) {
        return cause(event, cause -> KEY_FAILURES.contains(cause.getClassName()))
                .map(IThrowableProxy::getMessage);
    }

    private static boolean isOfStorage(IThrowableProxy cause) {
        return cause.getClassName().equals(KeyStoreException.class.getName())
                || isFailure(cause, ProblemType.KEY_STORE_UNAVAILABLE);
    }

    private static boolean isFailure(IThrowableProxy cause, String type) {
        return cause instanceof ThrowableProxy proxy
                && proxy.getThrowable() instanceof ApplicationFailure failure
                && failure.getType().equals(type);
    }

    private static Optional<IThrowableProxy> cause(ILoggingEvent event, Predicate<IThrowableProxy> condition) {
        for (IThrowableProxy cause = event.getThrowableProxy(); cause != null; cause = cause.getCause()) {
            if (condition.test(cause)) {
                return Optional.of(cause);
            }
        }
        return Optional.empty();
    }

    /** Returns the event with this message, and without its stack trace. */
    private static ILoggingEvent withMessage(ILoggingEvent event, String message) {
        LoggingEvent line = new LoggingEvent();
        line.setLoggerName(event.getLoggerName());
        line.setLevel(event.getLevel());
        line.setThreadName(event.getThreadName());
        line.setInstant(event.getInstant());
        line.setMessage(message);
        return line;
    }
}
