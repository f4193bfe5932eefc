package dev.waymark.starter.terminal;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.ByteArrayInputStream;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.nio.charset.StandardCharsets;
import org.junit.jupiter.api.Test;

class PipeConsoleTest {
    @Test
    void lines_areReadOneByOneUntilTheEnd() {
        Console pipe = pipe("Grüße\nsecond");

        assertThat(pipe.read("")).isEqualTo(new ConsoleInput.Text("Grüße"));
        assertThat(pipe.read("")).isEqualTo(new ConsoleInput.Text("second"));
        assertThat(pipe.read("")).isEqualTo(new ConsoleInput.End());
    }

    @Test
    void oneBackslashAtTheEnd_continuesTheLine_twoDoNot() {
        Console pipe = pipe("one\\\ntwo\\\nthree\nC:\\\\\nlast\\");

        assertThat(pipe.read("")).isEqualTo(new ConsoleInput.Text("one\ntwo\nthree"));
        assertThat(pipe.read("")).isEqualTo(new ConsoleInput.Text("C:\\\\"));
        assertThat(pipe.read("")).isEqualTo(new ConsoleInput.Text("last\n"));
    }

    private static Console pipe(String text) {
        return new PipeConsole(
                new ByteArrayInputStream(text.getBytes(StandardCharsets.UTF_8)),
                new PrintWriter(new StringWriter()),
                new PrintWriter(new StringWriter()));
    }
}
