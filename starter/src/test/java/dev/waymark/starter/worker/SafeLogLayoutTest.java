package dev.waymark.starter.worker;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowable;

import ch.qos.logback.classic.Level;
import ch.qos.logback.classic.LoggerContext;
import ch.qos.logback.classic.spi.LoggingEvent;
import dev.waymark.codec.FileKeyStore;
import dev.waymark.codec.KeyStoreException;
import io.temporal.failure.ApplicationFailure;
import java.nio.file.Path;
import java.time.Instant;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

class SafeLogLayoutTest {
    private final LoggerContext context = new LoggerContext();
    private final SafeLogLayout layout = new SafeLogLayout();

    @BeforeEach
    void startLayout() {
        layout.setContext(context);
        layout.setPattern("%msg%n");
        layout.start();
    }

    private String logged(String message, Throwable failure, long second) {
        LoggingEvent event = new LoggingEvent(
                "any",
                context.getLogger("io.temporal.internal.replay.ReplayWorkflowTaskHandler"),
                Level.WARN,
                message,
                failure,
                null);
        event.setInstant(Instant.ofEpochSecond(second));
        return layout.doLayout(event);
    }

    @Test
    void keyStorageThatIsAway_isLoggedOnceInTenSeconds() {
        Throwable away =
                new IllegalStateException(catchThrowable(() -> new FileKeyStore(Path.of("no-such-place")).find("x")));
        String line = "Task of a failed. there is no directory for the keys of threads: ";

        assertThat(logged("Task of a failed.", away, 100)).startsWith(line).hasLineCount(1);
        assertThat(logged("Task of b failed.", away, 100)).isEmpty();
        assertThat(logged("Task of a failed.", away, 109)).isEmpty();
        assertThat(logged("Task of a failed.", away, 110)).startsWith(line);
    }

    @Test
    void activitiesThatWaitForTheirKeys_areLoggedOnceInTenSeconds() {
        Throwable away = ApplicationFailure.newFailure("the keys of threads can't be read", KeyStoreException.TYPE);

        assertThat(logged("Activity failure.", away, 100)).contains("Activity failure.");
        assertThat(logged("Activity failure.", away, 101)).isEmpty();
    }

    @Test
    void otherFailures_areLoggedEachTime() {
        Throwable other = new IllegalStateException("a bug");

        assertThat(logged("Task of a failed.", other, 100)).contains("Task of a failed.");
        assertThat(logged("Task of a failed.", other, 100)).contains("Task of a failed.", "a bug");
    }
}
