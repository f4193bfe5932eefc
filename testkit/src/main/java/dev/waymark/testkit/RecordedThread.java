package dev.waymark.testkit;

import java.lang.annotation.Documented;
import java.lang.annotation.ElementType;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;
import org.junit.jupiter.api.TestTemplate;
import org.junit.jupiter.api.extension.ExtendWith;

/**
 * A test that a thread of the past can still be continued: every run in the files, which {@code waymark export} writes,
 * is replayed with the workflow code on the class path, and projected, before the test method runs. It fails with the
 * name of the run and the event where this build would do, or understand, something else. {@code waymark-worker} must
 * be on the test's class path.
 *
 * <pre>{@code
 * @RecordedThread("trip.json")
 * void trip_stillReplays() {}
 * }</pre>
 *
 * <p>The method may take the recording as a {@link dev.waymark.history.ThreadHistory}, or the moments of its newest run
 * as a {@link dev.waymark.history.ProjectedHistory}, to check more.
 */
@Documented
@Target(ElementType.METHOD)
@Retention(RetentionPolicy.RUNTIME)
@TestTemplate
@ExtendWith(RecordedThreadExtension.class)
public @interface RecordedThread {
    /**
     * Files, each a test of its own: as resources beside the test class, from the root of the class path if the name
     * begins with a slash, or otherwise as paths of the file system.
     */
    String[] value();
}
