package dev.waymark.checkpoint;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import com.fasterxml.jackson.databind.json.JsonMapper;
import dev.waymark.conversation.value.Json;
import java.io.IOException;
import java.math.BigInteger;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Compares canonical JSON, and hashes of arguments and outputs, with those of Python's json and hashlib. */
class PythonTest {
    private static final int VALUES = 2_000;

    /** Prints each value as JSON, its hash as the arguments of a call, and its hash as an output. */
    private static final String PROGRAM = """
            import hashlib, json, sys
            for line in open(sys.argv[1], encoding="utf-8"):
                value = json.loads(line)
                sha = lambda tree: hashlib.sha256(json.dumps(tree, sort_keys=True).encode()).hexdigest()
                print(json.dumps(value, sort_keys=True), sha({"tool_name": "add", "args": value}), sha({"output": value}))
            """;

    private static final JsonMapper MAPPER = new JsonMapper();

    private final Random random = new Random(5);

    @Test
    void spellingsAndHashes_ofGeneratedValues_equalThoseOfPython(@TempDir Path directory) throws Exception {
        assumeTrue(hasPython(), "no python3 here: only the recorded vectors are tested");
        List<Json> values =
                new ArrayList<>(List.of(Json.EMPTY_OBJECT, Json.of(List.of()), Json.of(Map.of("", Map.of()))));
        for (double number :
                new double[] {1.0, -0.0, 1e16, 1e15, 1e-7, 1e-4, 1e-5, 0.1, 5e-324, 1.7976931348623157e308}) {
            values.add(Json.of(number));
        }
        while (values.size() < VALUES) {
            values.add(Json.of(value(4)));
        }
        Path file = directory.resolve("values");
        StringBuilder lines = new StringBuilder();
        for (Json value : values) {
            lines.append(MAPPER.writeValueAsString(value)).append('\n');
        }
        Files.writeString(file, lines);

        List<String> ours = values.stream()
                .map(value -> value.canonical() + " " + PhasesSnapshot.inputHash("add", value) + " "
                        + PhasesSnapshot.outputHash(value))
                .toList();

        assertThat(ours)
                .isEqualTo(python("-c", PROGRAM, file.toString()).lines().toList());
    }

    private Object value(int depth) {
        return switch (random.nextInt(depth == 0 ? 5 : 7)) {
            case 0 -> text();
            case 1 -> random.nextLong() >> random.nextInt(64);
            case 2 -> new BigInteger(200, random).negate();
            case 3 -> number();
            case 4 -> random.nextBoolean();
            case 5 -> {
                List<Object> list = new ArrayList<>();
                for (int i = random.nextInt(4); i > 0; i--) {
                    list.add(value(depth - 1));
                }
                yield list;
            }
            default -> {
                Map<String, Object> map = new LinkedHashMap<>();
                for (int i = random.nextInt(4); i > 0; i--) {
                    map.put(text(), value(depth - 1));
                }
                yield map;
            }
        };
    }

    private double number() {
        double any = Double.longBitsToDouble(random.nextLong());
        return Double.isFinite(any) && random.nextBoolean() ? any : Math.rint(random.nextGaussian() * 1e6) / 100;
    }

    private String text() {
        StringBuilder text = new StringBuilder();
        for (int i = random.nextInt(6); i > 0; i--) {
            int c = random.nextInt(random.nextInt(3) == 0 ? 0x11_0000 : 0x180);
            text.appendCodePoint(c >= 0xd800 && c < 0xe000 ? '/' : c);
        }
        return text.toString();
    }

    private static boolean hasPython() throws InterruptedException {
        try {
            return !python("-c", "print(1)").isEmpty();
        } catch (IOException e) {
            return false;
        }
    }

    private static String python(String... arguments) throws IOException, InterruptedException {
        List<String> command = new ArrayList<>(List.of("python3"));
        command.addAll(List.of(arguments));
        Process python = new ProcessBuilder(command)
                .redirectError(ProcessBuilder.Redirect.INHERIT)
                .start();
        String said = new String(python.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
        assertThat(python.waitFor(60, TimeUnit.SECONDS)).isTrue();
        assertThat(python.exitValue()).isZero();
        return said;
    }
}
