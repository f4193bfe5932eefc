package dev.waymark.bench;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.ByteArrayOutputStream;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** The bounds of the benchmark hold: its figures do not depend on the machine. */
@Tag("full")
class FindToolsBenchmarkTest {
    @Test
    void rightTools_areFound_andLittleIsSent() throws Exception {
        ByteArrayOutputStream out = new ByteArrayOutputStream();
        BenchReport report = new BenchReport(new PrintStream(out, true, StandardCharsets.UTF_8), true);

        new FindToolsBenchmark(report).run();

        assertThat(report.missed()).as(out.toString(StandardCharsets.UTF_8)).isZero();
        System.out.println(out.toString(StandardCharsets.UTF_8));
    }
}
