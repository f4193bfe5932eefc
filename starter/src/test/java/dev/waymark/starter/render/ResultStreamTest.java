package dev.waymark.starter.render;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.io.PrintWriter;
import java.io.StringWriter;
import org.junit.jupiter.api.Test;

class ResultStreamTest {
    private final StringWriter said = new StringWriter();

    private int exitCode(ResultStream results, int own) {
        PrintWriter out = new PrintWriter(results);
        out.println("{}");
        out.flush();
        return results.exitCode(own, new PrintWriter(said));
    }

    private static ResultStream failing(String why) {
        return new ResultStream(new OutputStream() {
            @Override
            public void write(int one) throws IOException {
                throw new IOException(why);
            }
        });
    }

    @Test
    void completeOutput_keepsTheExitCode() {
        ByteArrayOutputStream bytes = new ByteArrayOutputStream();

        assertThat(exitCode(new ResultStream(bytes), 0)).isZero();
        assertThat(bytes).hasToString("{}\n");
    }

    @Test
    void diskFull_printsAnErrorAndFails() {
        assertThat(exitCode(failing("No space left on device"), 0)).isEqualTo(2);
        assertThat(said)
                .hasToString("waymark: the result can't be written: stdout (No space left on device)."
                        + " The output is incomplete\n");
        assertThat(exitCode(failing("No space left on device"), 5)).isEqualTo(5);
    }

    @Test
    void closedPipe_isNotAFailure() {
        assertThat(exitCode(failing("Broken pipe"), 0)).isZero();
        assertThat(said.toString()).isEmpty();
    }
}
