package dev.waymark.testkit;

import java.lang.annotation.Documented;
import java.lang.annotation.ElementType;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;
import org.junit.jupiter.api.TestTemplate;
import org.junit.jupiter.api.extension.ExtendWith;

/**
 * Tests what agents decide in recorded threads. Before the test method runs, the agents of a directory are asked at
 * each reply of a thread, as {@code waymark rehearse} does. Each thread is a separate test. It fails with the replies
 * that differ and the checks that fail. {@code waymark-rehearsal} must be on the test's class path.
 *
 * <pre>{@code
 * @RehearsedThread({"src/test/resources/trip.json", "src/test/resources/refunds"})
 * void agents_decideAsExpected() {}
 * }</pre>
 *
 * <p>Models are asked with the keys of the environment. Their answers are kept in {@code .waymark/rehearsals}. Agents
 * can use the tools and providers of {@link dev.waymark.extension.WorkerExtension extensions} on the class path. No
 * tool runs.
 */
@Documented
@Target(ElementType.METHOD)
@Retention(RetentionPolicy.RUNTIME)
@TestTemplate
@ExtendWith(RehearsedThreadExtension.class)
public @interface RehearsedThread {
    /**
     * Paths of files that {@code waymark export} wrote, or of directories of such files. If a file of checks is next to
     * a thread ({@code trip.checks.yaml} next to {@code trip.json}), these checks are applied to the thread's last
     * reply, and other replies are ignored.
     */
    String[] value();

    /** The directory of the agent files. With {@link #javaAgents}, it may be missing. */
    String agents() default "agents";

    /** Classes that supply agents which are defined in Java, and their models. */
    Class<? extends RehearsedAgents>[] javaAgents() default {};

    /**
     * The conditions under which a test fails, in the syntax of {@code waymark rehearse --fail-on}. By default, a
     * changed reply or a failed check; if a file of checks is next to the thread, only a failed check.
     */
    String[] failOn() default {};

    /** The providers that may see the conversations although their threads did not use them. */
    String[] allowedProviders() default {};

    /** The maximum cost of each thread, in dollars. */
    String mostUsd() default "1";
}
