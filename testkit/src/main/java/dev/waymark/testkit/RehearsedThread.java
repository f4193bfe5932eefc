package dev.waymark.testkit;

import java.lang.annotation.Documented;
import java.lang.annotation.ElementType;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;
import org.junit.jupiter.api.TestTemplate;
import org.junit.jupiter.api.extension.ExtendWith;

/**
 * Tests what agents decide in recorded threads. Before the test method runs, the agents of a directory are asked at each
 * reply of a thread, as by {@code waymark rehearse}. Each thread is a separate test. It fails with the replies that
 * differ and the checks that fail. {@code waymark-worker} must be on the test's class path.
 *
 * <pre>{@code
 * @RehearsedThread({"src/test/resources/trip.json", "src/test/resources/refunds"})
 * void agents_decideAsExpected() {}
 * }</pre>
 *
 * <p>Models are asked with the keys of the environment. Their answers are kept in {@code .waymark/rehearsals}. Agents can
 * use the tools and providers of {@link dev.waymark.extension.WorkerExtension extensions} on the class path. No tool
 * runs.
 */
@Documented
@Target(ElementType.METHOD)
@Retention(RetentionPolicy.RUNTIME)
@TestTemplate
@ExtendWith(RehearsedThreadExtension.class)
public @interface RehearsedThread {
    /**
     * Paths of files that {@code waymark export} wrote, or of directories of such files. If a file of checks stands beside
     * a thread ({@code trip.checks.yaml} beside {@code trip.json}), only the thread's last reply counts, with these
     * checks.
     */
    String[] value();

    /** The directory of the agent files. With {@link #javaAgents}, it may be missing. */
    String agents() default "agents";

    /** Classes that supply agents which are defined in Java, and their models. */
    Class<? extends RehearsedAgents>[] javaAgents() default {};

    /**
     * The conditions under which a test fails, as {@code waymark rehearse --fail-on} has them. By default, a changed
     * reply or a failed check and, if checks stand beside the thread, only a failed check.
     */
    String[] failOn() default {};

    /** The providers that may see the conversations although their threads did not use them. */
    String[] allowedProviders() default {};

    /** The most that may be spent on each thread, in dollars. */
    String mostUsd() default "1";
}
