package dev.waymark.testkit.process;

import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.OptionalInt;

/** Installs the published packages that a test uses. */
public final class Installation {
    private static final Duration LONGEST = Duration.ofMinutes(5);

    private Installation() {}

    /**
     * Runs a script that installs packages into a directory. Skips the tests if it fails.
     *
     * @param what a sentence for the message if it fails: what cannot be installed, and which tools are needed
     */
    public static void into(Path home, String script, String what) throws IOException, InterruptedException {
        Path log = home.resolveSibling(home.getFileName() + ".log");
        try (ChildProcess running =
                ChildProcess.of(script, home.toString()).outputTo(log).start()) {
            assumeTrue(
                    running.exitCodeWithin(LONGEST).equals(OptionalInt.of(0)),
                    what + ", see " + log + ": tests with them are skipped");
        }
    }
}
