package dev.waymark.starter.worker;

import static org.assertj.core.api.Assertions.assertThat;

import ch.qos.logback.classic.LoggerContext;
import ch.qos.logback.classic.joran.JoranConfigurator;
import ch.qos.logback.classic.util.LogbackMDCAdapter;
import ch.qos.logback.core.joran.spi.JoranException;
import dev.waymark.codec.KeyProblem;
import io.temporal.internal.logging.LoggerTag;
import java.io.ByteArrayOutputStream;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** The configuration of the workers' log. */
class LoggingTest {
    private static final LoggerContext LOG = new LoggerContext();

    @BeforeAll
    static void configure() throws JoranException {
        JoranConfigurator configurator = new JoranConfigurator();
        configurator.setContext(LOG);
        LOG.setMDCAdapter(new LogbackMDCAdapter());
        configurator.doConfigure(LoggingTest.class.getResource("logging.xml"));
    }

    @Test
    void failedActivity_isOneLine() {
        IllegalStateException failure =
                new IllegalStateException("no agent \"x\"\nthere is y", new IllegalArgumentException("the cause"));

        String printed = printed(() -> {
            LOG.getMDCAdapter().put(LoggerTag.WORKFLOW_ID, "trip");
            LOG.getLogger("io.temporal.internal.activity.ActivityTaskExecutors")
                    .warn("Activity failure. activityType={}", "agent", failure);
            LOG.getMDCAdapter().clear();
        });

        assertThat(printed)
                .matches("(?s)\\d{4}-\\d\\d-\\d\\d \\d\\d:\\d\\d:\\d\\d\\.\\d{3} WARN  trip: Activity failure.*");
        assertThat(printed.lines()).singleElement().asString().contains("activityType=agent", "no agent \"x\"");
        assertThat(printed).doesNotContain("\tat ", "ActivityTaskExecutors");
    }

    @Test
    void failedActivityOfACall_namesThreadAndCall() {
        String printed = printed(() -> {
            LOG.getMDCAdapter().put(LoggerTag.WORKFLOW_ID, "trip");
            LOG.getMDCAdapter().put("Call", "tu_1");
            LOG.getLogger("io.temporal.internal.activity.ActivityTaskExecutors").warn("Activity failure.");
            LOG.getMDCAdapter().clear();
        });

        assertThat(printed).endsWith(" WARN  trip, call tu_1: Activity failure.: \n");
    }

    @Test
    void anythingElse_keepsItsStackTrace() {
        String printed = printed(() ->
                LOG.getLogger("dev.waymark.worker.Some").warn("unexpected", new IllegalStateException("a defect")));

        assertThat(printed).contains("a defect", "\tat ");
    }

    /** Messages and exceptions may quote models, tools and servers. */
    @ParameterizedTest
    @ValueSource(strings = {"dev.waymark.worker.Some", "io.temporal.internal.activity.ActivityTaskExecutors"})
    void controlCharacters_areEscaped(String logger) {
        String hostile = "\u001b[2J\u009b31m\u007f\u202e\u200b";

        String printed =
                printed(() -> LOG.getLogger(logger).warn("it said {}", hostile, new IllegalStateException(hostile)));

        assertThat(printed).contains("\\u001b[2J\\u009b31m\\u007f\\u202e\\u200b");
        assertThat(printed.codePoints()).doesNotContain(0x1b, 0x9b, 0x7f, 0x202e, 0x200b);
    }

    @Test
    void workflowTaskWithoutKeys_isOneLine() {
        RuntimeException failure = new RuntimeException(
                "WorkflowTask: failure executing", new IllegalStateException(new KeyProblem("there is no key k1")));

        String task = printed(() -> LOG.getLogger("io.temporal.internal.replay.ReplayWorkflowTaskHandler")
                .warn("Workflow task processing failure. WorkflowId={}", "trip", failure));
        String again = printed(
                () -> LOG.getLogger("io.temporal.internal.worker.PollerOptions").error("uncaught", failure));

        assertThat(task.lines())
                .singleElement()
                .asString()
                .endsWith("Workflow task processing failure. WorkflowId=trip there is no key k1");
        assertThat(again).isEmpty();
    }

    private static String printed(Runnable logging) {
        PrintStream before = System.err;
        ByteArrayOutputStream bytes = new ByteArrayOutputStream();
        System.setErr(new PrintStream(bytes, true, StandardCharsets.UTF_8));
        try {
            logging.run();
        } finally {
            System.setErr(before);
        }
        return bytes.toString(StandardCharsets.UTF_8);
    }
}
