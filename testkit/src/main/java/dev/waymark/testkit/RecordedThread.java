package dev.waymark.testkit;

import java.lang.annotation.Documented;
import java.lang.annotation.ElementType;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;
import org.junit.jupiter.api.TestTemplate;
import org.junit.jupiter.api.extension.ExtendWith;

/**
 * Tests that recorded threads can still be continued. {@code waymark export} writes the files with the recordings, and
 * each file is a separate test. Before the test method runs, every run in the file is replayed with the workflow code
 * on the class path, and projected. The test fails with the run and the event at which this build would act differently
 * or read the history differently. {@code waymark-worker} must be on the test's class path.
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
     * The names of the files. A name refers to a resource next to the test class or, if the name begins with a slash,
     * to a resource below the root of the class path. If there is no such resource, the name is a path in the file
     * system.
     */
    String[] value();
}
