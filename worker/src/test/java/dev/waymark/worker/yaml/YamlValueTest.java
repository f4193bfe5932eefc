package dev.waymark.worker.yaml;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.waymark.conversation.value.Json;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class YamlValueTest {

    @Test
    void json_everyKindOfValue_isKept() throws Exception {
        Map<String, Object> expected = new LinkedHashMap<>();
        expected.put("text", "yes");
        expected.put("whole", 12);
        expected.put("real", 1.5);
        expected.put("flag", true);
        expected.put("nothing", null);
        expected.put("list", Arrays.asList(1, "2", List.of()));
        expected.put("fields", Map.of("a", "b: c"));
        String yaml = """
                text: yes
                whole: 12
                real: 1.5
                flag: true
                nothing:
                list: [1, "2", []]
                fields: { a: "b: c" }
                """;
        assertThat(parse(yaml).json()).isEqualTo(Json.of(expected));
    }

    @ParameterizedTest
    @CsvSource({"500ms, PT0.5S", "5s, PT5S", "2m, PT2M", "24h, PT24H", "0s, PT0S"})
    void duration_documentedSpelling_isRead(String spelling, Duration expected) throws Exception {
        assertThat(parse(spelling).duration()).isEqualTo(expected);
    }

    @ParameterizedTest
    @ValueSource(strings = {"5", "5 s", "-5s", "1.5s", "PT5S", "5d", "''", "[5s]", "99999999999h"})
    void duration_otherSpelling_isRefused(String spelling) throws Exception {
        assertThatThrownBy(() -> parse("a: " + spelling).fields().require("a").duration())
                .hasMessageStartingWith("f.yaml:1: a: expected a duration such as 500ms, 5s, 2m or 24h, found ");
    }

    @Test
    void duration_longerThanTenYears_isRefused() throws Exception {
        assertThat(parse("87600h").duration()).isEqualTo(Duration.ofDays(3_650));
        assertThatThrownBy(() -> parse("a: 999999999h").fields().require("a").duration())
                .hasMessage("f.yaml:1: a: must be at most 87600h, found 999999999h");
    }

    @Test
    void problem_ofANestedField_namesFileLineAndPath() throws Exception {
        YamlValue item = parse("a: 1\nb:\n  - c: x\n  - c: y\n")
                .fields()
                .require("b")
                .items()
                .get(1);
        assertThat(item.fields().require("c").problem("is wrong"))
                .isInstanceOfSatisfying(YamlProblem.class, problem -> {
                    assertThat(problem.file()).isEqualTo("f.yaml");
                    assertThat(problem.line()).isEqualTo(4);
                    assertThat(problem.field()).isEqualTo("b[1].c");
                    assertThat(problem).hasMessage("f.yaml:4: b[1].c: is wrong");
                });
    }

    @Test
    void fields_oneTwice_isRefused() {
        assertThatThrownBy(() -> parse("a: 1\na: 2\n").fields()).hasMessage("f.yaml:2: a: duplicate field");
        assertThatThrownBy(() -> parse("- a: 1\n  a: 2\n").json()).hasMessageStartingWith("f.yaml:2: ");
    }

    @Test
    void fields_oneLeftOver_isUnknown() throws Exception {
        YamlFields fields = parse("model: x\nmodle: y\n").fields();
        fields.require("model");
        assertThatThrownBy(fields::end).hasMessage("f.yaml:2: modle: unknown field");
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "a: 'yes'  | f.yaml:1: a: expected true or false, found yes",
                "a: yes    | f.yaml:1: a: expected true or false, found yes",
                "a: 1      | f.yaml:1: a: expected true or false, found 1",
                "a:        | f.yaml:1: a: expected true or false, found nothing",
                "a: [true] | f.yaml:1: a: expected true or false, found a list",
                "b: true   | f.yaml:1: a: is missing",
            })
    void flag_notTrueOrFalse_isRefused(String yaml, String message) {
        assertThatThrownBy(() -> parse(yaml).fields().require("a").flag()).hasMessage(message);
    }

    @Test
    void integer_outOfRange_isRefused() {
        assertThatThrownBy(() -> parse("0").integer(1)).hasMessage("f.yaml:1: must be at least 1, found 0");
        assertThatThrownBy(() -> parse("2147483648").integer(1)).hasMessage("f.yaml:1: too large: 2147483648");
        assertThatThrownBy(() -> parse("1.0").integer(1)).hasMessage("f.yaml:1: expected a whole number, found 1.0");
    }

    @Test
    void parse_brokenYaml_saysWhere() {
        assertThatThrownBy(() -> parse("a: 1\nb: [1\n")).hasMessageStartingWith("f.yaml:3: not YAML: ");
    }

    @Test
    void parse_emptyOrTwoDocuments_isRefused() {
        assertThatThrownBy(() -> parse("# nothing\n")).hasMessage("f.yaml:1: is empty");
        assertThatThrownBy(() -> parse("a: 1\n---\nb: 2\n"))
                .hasMessage("f.yaml:3: expected one document, found another");
    }

    @Test
    void parse_aliasesForGigabytes_isRefused() {
        StringBuilder yaml = new StringBuilder("a0: &a0 [x, x, x, x, x, x, x, x, x, x]\n");
        for (int i = 1; i < 6; i++) {
            String alias = "*a" + (i - 1) + " ";
            yaml.append("a" + i + ": &a" + i + " [" + (alias + ", ").repeat(9) + alias + "]\n");
        }
        assertThatThrownBy(() -> parse(yaml.toString())).hasMessageContaining("too large, or contains itself");
        assertThatThrownBy(() -> parse("&a [*a]")).hasMessageContaining("too large, or contains itself");
    }

    @Test
    void parse_nestedVeryDeep_isRefused() {
        assertThatThrownBy(() -> parse("[".repeat(5000) + "]".repeat(5000))).hasMessage("f.yaml:1: nested too deeply");
    }

    @Test
    void read_notUtf8_isRefused(@TempDir Path directory) throws Exception {
        Path file = Files.write(directory.resolve("a.yaml"), new byte[] {'a', ':', ' ', (byte) 0xff});
        assertThatThrownBy(() -> YamlValue.read(file)).hasMessage(file + ":1: not UTF-8");
    }

    private static YamlValue parse(String yaml) throws YamlProblem {
        return YamlValue.parse("f.yaml", yaml);
    }
}
