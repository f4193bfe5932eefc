import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.Locale;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import org.junit.platform.engine.TestExecutionResult;
import org.junit.platform.engine.support.descriptor.ClassSource;
import org.junit.platform.launcher.TestExecutionListener;
import org.junit.platform.launcher.TestIdentifier;

/**
 * Writes, for each test class, the seconds that it took and the seconds of processor time of its JVM and of the programs
 * that ended meanwhile, to the file that {@code TEST_TIMES} names.
 */
public final class TestTimes implements TestExecutionListener {
    private static final int TICKS_PER_SECOND = 100;

    private final Map<String, long[]> begun = new ConcurrentHashMap<>();

    @Override
    public void executionStarted(TestIdentifier test) {
        if (isClass(test)) {
            begun.put(test.getUniqueId(), new long[] {System.nanoTime(), ticks()});
        }
    }

    @Override
    public void executionFinished(TestIdentifier test, TestExecutionResult result) {
        long[] since = begun.remove(test.getUniqueId());
        if (since == null) {
            return;
        }
        String name = ((ClassSource) test.getSource().orElseThrow()).getClassName();
        String line = String.format(
                Locale.ROOT,
                "%.1f\t%.1f\t%s%n",
                (System.nanoTime() - since[0]) / 1e9,
                (double) (ticks() - since[1]) / TICKS_PER_SECOND,
                name);
        try {
            Files.writeString(
                    Path.of(System.getenv("TEST_TIMES")), line, StandardOpenOption.CREATE, StandardOpenOption.APPEND);
        } catch (IOException e) {
            throw new IllegalStateException(e);
        }
    }

    private static boolean isClass(TestIdentifier test) {
        return test.getSource().filter(ClassSource.class::isInstance).isPresent()
                && test.getParentIdObject().filter(parent -> parent.getSegments().size() == 1).isPresent();
    }

    /** The processor time of this process and of its children that have ended. */
    private static long ticks() {
        try {
            String stat = Files.readString(Path.of("/proc/self/stat"));
            String[] fields = stat.substring(stat.lastIndexOf(')') + 2).split(" ");
            long sum = 0;
            for (int i = 11; i <= 14; i++) {
                sum += Long.parseLong(fields[i]);
            }
            return sum;
        } catch (IOException e) {
            return 0;
        }
    }
}
