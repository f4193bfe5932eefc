package dev.waymark.starter.terminal;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.ByteArrayInputStream;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.nio.charset.StandardCharsets;
import org.junit.jupiter.api.Test;

class PipeTest {
    @Test
    void lines_areReadOneByOneToTheEnd() {
        Console pipe = pipe("Grüße\nsecond");

        assertThat(pipe.read("")).isEqualTo(new Typed.Text("Grüße"));
        assertThat(pipe.read("")).isEqualTo(new Typed.Text("second"));
        assertThat(pipe.read("")).isEqualTo(new Typed.End());
    }

    @Test
    void backslashAtTheEnd_continuesTheLine_andTwoDoNot() {
        Console pipe = pipe("one\\\ntwo\\\nthree\nC:\\\\\nlast\\");

        assertThat(pipe.read("")).isEqualTo(new Typed.Text("one\ntwo\nthree"));
        assertThat(pipe.read("")).isEqualTo(new Typed.Text("C:\\\\"));
        assertThat(pipe.read("")).isEqualTo(new Typed.Text("last\n"));
    }

    private static Console pipe(String text) {
        return new Pipe(
                new ByteArrayInputStream(text.getBytes(StandardCharsets.UTF_8)),
                new PrintWriter(new StringWriter()),
                new PrintWriter(new StringWriter()));
    }
}
