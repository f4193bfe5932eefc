package dev.waymark.e2e;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import dev.waymark.e2e.product.Agents;
import dev.waymark.e2e.product.Command;
import dev.waymark.e2e.product.Dev;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Traces that the command line exports. */
@Tag("full")
class TraceTest {
    @TempDir
    static Path directory;

    private static Dev dev;
    private static Command waymark;

    @BeforeAll
    static void startDev() {
        dev = Dev.inMemory(new Agents(directory).greeter().directory());
        waymark = Command.warmAt(dev.address());
    }

    @AfterAll
    static void stopDev() {
        if (dev != null) {
            dev.close();
        }
    }

    private static JsonNode spans(String thread, Path file, String... more) throws IOException {
        String[] args = new String[4 + more.length];
        args[0] = "trace";
        args[1] = thread;
        args[2] = "--out";
        args[3] = file.toString();
        System.arraycopy(more, 0, args, 4, more.length);
        assertThat(waymark.run(args)).returns(0, done -> done.exitCode());
        return new ObjectMapper().readTree(Files.readString(file)).at("/resourceSpans/0/scopeSpans/0/spans");
    }

    @Test
    void run_exportedTwice_isTheSameTraceWithoutText() throws IOException {
        String thread = waymark.run("run", "--agent", "greeter", "Good evening", "--json")
                .json()
                .get("thread")
                .textValue();

        JsonNode spans = spans(thread, directory.resolve("one.jsonl"));

        assertThat(spans).hasSize(3);
        assertThat(spans)
                .extracting(span -> span.get("traceId").textValue())
                .containsOnly(spans.at("/0/traceId").textValue());
        assertThat(spans.toString()).doesNotContain("Good evening").doesNotContain("Hello.");
        assertThat(spans(thread, directory.resolve("two.jsonl"))).isEqualTo(spans);
        assertThat(spans(thread, directory.resolve("three.jsonl"), "--content").toString())
                .contains("Good evening")
                .contains("Hello.");
    }

    @Test
    void trace_unreachableCollector_namesItsAddress() {
        String thread = waymark.run("run", "--agent", "greeter", "Hi", "--json")
                .json()
                .get("thread")
                .textValue();

        assertThat(waymark.run("trace", thread, "--to", "http://127.0.0.1:1/v1/traces"))
                .returns(2, done -> done.exitCode())
                .satisfies(done -> assertThat(done.err())
                        .startsWith("waymark: the spans could not be sent: http://127.0.0.1:1/v1/traces: "));
    }
}
