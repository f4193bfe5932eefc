package dev.waymark.checkpoint;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.junit.jupiter.api.Assertions.assertTimeoutPreemptively;

import dev.waymark.conversation.value.Json;
import dev.waymark.history.Timeline;
import dev.waymark.testkit.GeneratedThread;
import java.lang.management.ManagementFactory;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;
import java.util.Optional;
import java.util.Random;
import java.util.regex.Matcher;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Any input is either refused as a whole, without delay, or read as the checkpoint that it describes. */
class CorruptionTest {
    private static final int MUTANTS = 4_000;
    private static final int SAMPLES = 8;
    private static final List<String> ODDITIES = List.of(
            "null",
            "true",
            "-1",
            "1.5",
            "1e999999",
            "9".repeat(2_000),
            "\"\"",
            "\"\\ud800\"",
            "\"\\u0000\"",
            "[]",
            "{}",
            "[[]]",
            "{\"a\":1,\"a\":2}",
            "\"v9\"",
            "");

    private static final Instant NOW = Instant.parse("2026-06-01T09:00:00Z");

    private static final String RUNNER = """
            {"messages":[{"role":"user","content":"Hi"},
              {"role":"assistant","content":[{"type":"tool_use","id":"tu_7","name":"ask_user","input":{"question":"Day?"}},
                {"type":"tool_use","id":"tu_8","name":"add","input":{}}]},
              {"role":"user","content":[{"type":"tool_result","toolUseId":"tu_8","content":"3"}]}],
             "iterations":1,"usage":{"inputTokens":41,"outputTokens":12},"pendingToolUseId":"tu_7"}""";

    private static byte[] bytes(String text) {
        return text.getBytes(StandardCharsets.UTF_8);
    }

    /** A time limit that only a hang exceeds, even on a busy machine. */
    private static final Duration NEVER = Duration.ofSeconds(60);

    /** The CPU time that one document may take. Unlike elapsed time, it does not depend on other tests. */
    private static final long ONE_SECOND = 1_000_000_000L;

    private static long processorNanos() {
        return ManagementFactory.getThreadMXBean().getCurrentThreadCpuTime();
    }

    private static String sample(CheckpointFormat format) {
        return sample(format, 0);
    }

    private static String sample(CheckpointFormat format, long from) {
        long seed = from;
        while (GeneratedThread.of(seed).now().transcript().count() < 4
                || !GeneratedThread.of(seed).now().isInterrupted()) {
            seed++;
        }
        Timeline timeline = GeneratedThread.of(seed);
        return (format == CheckpointFormat.PHASES ? PhasesCheckpoint.latest(timeline) : format.view(timeline))
                .canonical();
    }

    /** Returns the checkpoint that was read; empty if the text was refused. */
    private static Optional<RestoredCheckpoint> read(byte[] text) {
        try {
            return Optional.of(CheckpointReader.read(text, NOW));
        } catch (CheckpointCorruption refused) {
            return Optional.empty();
        }
    }

    private static void assertCorrupt(String text) {
        assertThatThrownBy(() -> CheckpointReader.read(bytes(text), NOW))
                .as(text.substring(0, Math.min(200, text.length())))
                .isInstanceOf(CheckpointCorruption.class);
    }

    private static String askingForDays(int calls) {
        String uses = IntStream.range(0, calls)
                .mapToObj(i -> "{\"type\":\"tool_use\",\"id\":\"tu_" + i
                        + "\",\"name\":\"ask_user\",\"input\":{\"question\":\"Day?\"}}")
                .collect(Collectors.joining(","));
        return "{\"messages\":[{\"role\":\"user\",\"content\":\"Hi\"},{\"role\":\"assistant\",\"content\":[" + uses
                + "]}],\"iterations\":1,\"usage\":{\"inputTokens\":1,\"outputTokens\":1},\"pendingToolUseId\":\"tu_0\"}";
    }

    /** Listing the open requests of a thread takes time that grows with the square of their number. */
    @Test
    void openCalls_moreThanAReplyMayHave_areRefused() {
        assertThat(CheckpointReader.read(bytes(askingForDays(500)), NOW).state().openCalls())
                .hasSize(500);
        assertThatThrownBy(() -> CheckpointReader.read(bytes(askingForDays(501)), NOW))
                .isInstanceOf(CheckpointCorruption.class)
                .hasMessage("501 calls are open, but a reply may have at most 500");
        assertTimeoutPreemptively(NEVER, () -> assertCorrupt(askingForDays(30_000)));
    }

    @ParameterizedTest
    @EnumSource(CheckpointFormat.class)
    void document_truncatedAtAnyByte_isCorrupt(CheckpointFormat format) {
        byte[] whole = bytes(sample(format));

        assertThat(read(whole)).isPresent();
        for (int length = 0; length < whole.length; length++) {
            assertThat(read(Arrays.copyOf(whole, length)))
                    .as("%d bytes", length)
                    .isEmpty();
        }
    }

    @ParameterizedTest
    @EnumSource(CheckpointFormat.class)
    @Tag("full")
    void mutatedDocument_isRefusedOrReadAsWritten(CheckpointFormat format) {
        Random random = new Random(format.ordinal());
        assertTimeoutPreemptively(NEVER, () -> {
            byte[] whole = {};
            for (int i = 0; i < MUTANTS; i++) {
                if (i % (MUTANTS / SAMPLES) == 0) {
                    whole = bytes(sample(format, 100L * i));
                }
                byte[] mutant = random.nextBoolean() ? bytesChanged(whole, random) : tokenMoved(whole, random);
                long start = processorNanos();
                Optional<RestoredCheckpoint> recovered = read(mutant);
                assertThat(processorNanos() - start).isLessThan(ONE_SECOND);
                recovered.ifPresent(loaded -> assertThat(loaded.document())
                        .isEqualTo(CheckpointJson.read(mutant).get(0)));
            }
        });
    }

    private static byte[] bytesChanged(byte[] whole, Random random) {
        byte[] mutant = whole.clone();
        int changes = 1 + random.nextInt(3);
        for (int n = 0; n < changes; n++) {
            mutant[random.nextInt(mutant.length)] = (byte) random.nextInt(256);
        }
        return mutant;
    }

    /** Replaces a token with another token of the document, or with an odd value. The result is often still JSON. */
    private static byte[] tokenMoved(byte[] whole, Random random) {
        List<String> tokens = new ArrayList<>(
                List.of(new String(whole, StandardCharsets.UTF_8).split("(?<=[,:\\[\\]{}])|(?=[,:\\[\\]{}])")));
        int at = random.nextInt(tokens.size());
        tokens.set(at, random.nextBoolean() ? tokens.get(random.nextInt(tokens.size())) : random(ODDITIES, random));
        return bytes(String.join("", tokens));
    }

    private static String random(List<String> of, Random random) {
        return of.get(random.nextInt(of.size()));
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "",
                " ",
                "null",
                "{}",
                "[]",
                "3",
                "\"text\"",
                "[null]",
                "[[]]",
                "[{}]",
                "{\"messages\":[]}",
                "{\"messages\":[],\"iterations\":0}",
                "{\"messages\":[],\"iterations\":-1,\"usage\":{\"inputTokens\":0,\"outputTokens\":0}}",
                "{\"messages\":[],\"iterations\":1.0,\"usage\":{\"inputTokens\":0,\"outputTokens\":0}}",
                "{\"messages\":[],\"iterations\":1e999999,\"usage\":{\"inputTokens\":0,\"outputTokens\":0}}",
                "{\"messages\":[],\"iterations\":1,\"usage\":{\"inputTokens\":-1,\"outputTokens\":0}}",
                "{\"messages\":[],\"messages\":[],\"iterations\":1,\"usage\":{\"inputTokens\":1,\"outputTokens\":0}}",
                "{\"messages\":[{\"role\":\"user\",\"content\":\"\\ud800\"}],\"iterations\":0,\"usage\":{\"inputTokens\":0,\"outputTokens\":0}}",
                "{\"messages\":[{\"role\":\"robot\",\"content\":\"x\"}],\"iterations\":0,\"usage\":{\"inputTokens\":0,\"outputTokens\":0}}",
                "[{\"role\":\"tool\",\"content\":\"x\",\"toolCallId\":\"a\",\"toolName\":\"t\"}]",
                "[{\"role\":\"assistant\",\"content\":\"\",\"toolCalls\":[{\"id\":\"\",\"name\":\"t\",\"arguments\":{}}]}]",
                "{\"phase\":\"lunch\",\"run_id\":\"r\",\"thread_id\":\"t\",\"step\":1,\"timestamp_ms\":1,\"payload\":{}}",
                "{\"phase\":\"pre_llm\",\"run_id\":\"r\",\"thread_id\":\"t\",\"step\":1,\"timestamp_ms\":1,\"payload\":{}}",
                "{\"phase\":\"pre_llm\",\"schema_version\":\"v9\",\"run_id\":\"r\",\"thread_id\":\"t\",\"step\":1,\"timestamp_ms\":1,\"payload\":{}}",
                "{\"phase\":\"pre_llm\",\"run_id\":\"r\",\"thread_id\":\"t\",\"step\":1,\"timestamp_ms\":1,\"payload\":[]}"
            })
    void documentThatIsNotACheckpoint_isCorrupt(String text) {
        assertCorrupt(text);
    }

    @Test
    void calls_danglingOrAnsweredTwice_areCorrupt() {
        assertThat(read(bytes(RUNNER))).isPresent();
        assertCorrupt(RUNNER.replace("\"pendingToolUseId\":\"tu_7\"", "\"pendingToolUseId\":\"tu_8\""));
        assertCorrupt(RUNNER.replace("\"pendingToolUseId\":\"tu_7\"", "\"pendingToolUseId\":\"tu_9\""));
        assertCorrupt(RUNNER.replace("\"pendingToolUseId\":\"tu_7\"", "\"pendingToolUseId\":\"\""));
        assertCorrupt(RUNNER.replace("\"toolUseId\":\"tu_8\"", "\"toolUseId\":\"tu_9\""));
        assertCorrupt(RUNNER.replace("\"id\":\"tu_8\"", "\"id\":\"tu_7\""));
        String result = "{\"type\":\"tool_result\",\"toolUseId\":\"tu_8\",\"content\":\"3\"}";
        assertCorrupt(RUNNER.replace(result, result + "," + result));
    }

    @Test
    void deepDocument_isRefusedAtOnce() {
        for (String open : List.of("[", "{\"a\":")) {
            assertQuick(bytes(open.repeat(100_000)));
            assertQuick(bytes("{\"messages\":" + open.repeat(100_000)));
        }
    }

    @Test
    void hugeDocument_isRefusedAtOnce() {
        byte[] huge = new byte[50 * 1024 * 1024];
        Arrays.fill(huge, (byte) '[');

        assertQuick(huge);
        assertThatThrownBy(() -> CheckpointReader.read(huge, NOW))
                .isInstanceOfSatisfying(
                        CheckpointCorruption.class, e -> assertThat(e.type()).isEqualTo("TooLarge"));
    }

    private static void assertQuick(byte[] text) {
        long start = processorNanos();
        assertThat(read(text)).isEmpty();
        assertThat(processorNanos() - start).isLessThan(ONE_SECOND);
    }

    /** The reader must not need time that is quadratic in the number of items, or in the length of a text. */
    @Test
    void tooManyItemsOfOneKind_areRefusedQuickly() {
        int many = 20_000;
        String calls = each(many, "{\"name\":\"t\",\"arguments\":{}}");
        String results = each(many + 1, "{\"role\":\"tool\",\"toolName\":\"t\",\"content\":\"\"}");
        assertQuick(bytes("[{\"role\":\"assistant\",\"content\":\"\",\"toolCalls\":[" + calls + "]}," + results + "]"));
        assertQuick(bytes("{"
                + String.join(
                        ",",
                        IntStream.range(0, many)
                                .mapToObj(i -> "\"k" + i + "\":1")
                                .toList()) + "}"));
        assertQuick(bytes("{\"threadId\":\"t\",\"step\":1,\"messages\":[],\"state\":{\"todos\":[],\"files\":{}},"
                + "\"createdAt\":\"" + "+".repeat(4_000_000) + "\",\"updatedAt\":\"2026-01-01T00:00:00Z\"}"));
    }

    /** The reader compares a row's key with many computed ones, and arguments may be as large as the document. */
    @Test
    void largeArgumentsUnderAnotherKey_areRefusedAtOnce() {
        String session = sample(CheckpointFormat.SESSION);
        String row = "\"args_json\": \"{\\\"a\\\": \\\"" + "x".repeat(4_000_000) + "\\\"}\"";

        assertQuick(
                bytes(session.replaceFirst("\"args_json\": \"(\\\\.|[^\"\\\\])*\"", Matcher.quoteReplacement(row))));
    }

    private static String each(int count, String item) {
        return String.join(",", Collections.nCopies(count, item));
    }

    /**
     * A valid document of nearly the largest size. Tests the time that size alone takes, without depth or odd names.
     */
    @Test
    void largestDocument_isReadQuickly() {
        String row = "{\"role\":\"user\",\"content\":\"" + "x".repeat(100) + "\"}";
        String rows = (row + ",").repeat(CheckpointReader.MAX_BYTES / (row.length() + 1) - 1) + row;

        assertThat(assertTimeoutPreemptively(NEVER, () -> read(bytes("[" + rows + "]"))))
                .isPresent();
    }

    @Test
    void invalidUtf8_isCorrupt() {
        byte[] text = bytes(RUNNER);
        text[RUNNER.indexOf("Hi")] = (byte) 0xff;

        assertThat(read(text)).isEmpty();
    }

    @Test
    void effectRow_withAnotherHash_isCorrupt() {
        List<String> rows = new ArrayList<>();
        for (long seed = 0; rows.isEmpty(); seed++) {
            Json latest = PhasesCheckpoint.latest(GeneratedThread.of(seed));
            if (latest.field("effects") != null) {
                rows.add(latest.canonical());
            }
        }
        String checkpoint = rows.get(0);
        String input = checkpoint
                .substring(checkpoint.indexOf("\"input_hash\": \"") + 15)
                .substring(0, 64);
        String output = checkpoint
                .substring(checkpoint.indexOf("\"output_hash\": \"") + 16)
                .substring(0, 64);

        assertThat(read(bytes(checkpoint))).isPresent();
        assertCorrupt(checkpoint.replace(input, "0".repeat(64)));
        assertCorrupt(checkpoint.replace(output, "0".repeat(64)));
    }
}
