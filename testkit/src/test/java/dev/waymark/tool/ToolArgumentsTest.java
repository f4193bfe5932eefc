package dev.waymark.tool;

import static org.assertj.core.api.Assertions.assertThat;

import dev.waymark.conversation.value.Json;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.stream.Stream;
import org.assertj.core.api.InstanceOfAssertFactories;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;

class ToolArgumentsTest {

    private static final Json CHARGE = Json.of(Map.of(
            "type", "object",
            "required", List.of("cents"),
            "properties", Map.of("cents", Map.of("type", "integer"))));

    @Test
    void problem_matchingArguments_isEmpty() {
        assertThat(ToolArguments.problem(CHARGE, Json.of(Map.of("cents", 5, "more", "x"))))
                .isEmpty();
    }

    @Test
    void problem_wrongType_namesThePlace() {
        assertThat(ToolArguments.problem(CHARGE, Json.of(Map.of("cents", "5"))))
                .contains("/cents: string found, integer expected");
    }

    @Test
    void problem_missingField_namesIt() {
        assertThat(ToolArguments.problem(CHARGE, Json.EMPTY_OBJECT)).contains("required property 'cents' not found");
    }

    @Test
    void problem_notAnObject_isReported() {
        assertThat(ToolArguments.problem(CHARGE, Json.of("{\"cents\": 5")))
                .contains("not valid JSON: expected one object");
        assertThat(ToolArguments.problem(CHARGE, Json.of(List.of()))).contains("array found, object expected");
    }

    @Test
    void problem_inAnotherLocale_hasTheSameText() {
        Locale before = Locale.getDefault();
        Locale.setDefault(Locale.GERMANY);
        try {
            problem_wrongType_namesThePlace();
        } finally {
            Locale.setDefault(before);
        }
    }

    @Test
    void schemaProblem_notOfAnObject_isReported() {
        assertThat(ToolArguments.schemaProblem(Json.of(Map.of("type", "string"))))
                .contains("must have type: object");
        assertThat(ToolArguments.schemaProblem(Json.of(true))).contains("must have type: object");
    }

    @Test
    void schemaProblem_misspelledType_isReported() {
        Json schema = Json.of(Map.of("type", "object", "properties", Map.of("a", Map.of("type", "strng"))));
        assertThat(ToolArguments.schemaProblem(schema).orElseThrow()).startsWith("/properties/a/type: ");
    }

    @Test
    void schemaProblem_referenceToTheOutside_isReportedAndFetchesNothing() {
        Json schema = Json.of(
                Map.of("type", "object", "properties", Map.of("a", Map.of("$ref", "http://127.0.0.1:1/schema.json"))));
        assertThat(ToolArguments.schemaProblem(schema)).isPresent();
    }

    @Test
    void schemaProblem_brokenPattern_isReported() {
        Json schema = Json.of(Map.of("type", "object", "properties", Map.of("a", Map.of("pattern", "("))));
        assertThat(ToolArguments.schemaProblem(schema)).isPresent();
    }

    @Test
    void malformation_ofAnyKind_isExplainedInPlainWords() {
        assertThat(ToolArguments.malformation(Json.of(Map.of("pattern", "["))))
                .contains("not a regular expression: [ (Unclosed character class)");
        assertThat(ToolArguments.malformation(Json.of(Map.of("$ref", "http://127.0.0.1:1/x.json"))))
                .contains("a $ref refers to another document: http://127.0.0.1:1/x.json");
        assertThat(ToolArguments.malformation(Json.of(Map.of("$ref", "#/$defs/a%zz"))))
                .get(InstanceOfAssertFactories.STRING)
                .startsWith("a $ref is not a reference: ");
    }

    @Test
    void schemaProblem_referenceToItself_isReported() {
        assertThat(ToolArguments.malformation(Json.of(Map.of("$ref", "#")))).contains("a $ref refers to itself");
    }

    @Test
    void problem_endlessSchema_isReportedWithoutAnError() {
        Json round = Json.of(Map.of(
                "properties", Map.of("a", Map.of("$ref", "#/$defs/b")),
                "$defs", Map.of("b", Map.of("$ref", "#/$defs/b"))));
        assertThat(ToolArguments.problem(round, Json.of(Map.of("a", 1))))
                .contains("it is nested too deeply for its schema, or the schema refers to itself");
    }

    @ParameterizedTest
    @ValueSource(strings = {"^a*a*a*a*a*a*a*b$", "(a+)+\\d\\1"})
    @Timeout(180)
    void problem_patternThatBacktracks_isReported(String pattern) {
        Json schema = Json.of(Map.of("properties", Map.of("a", Map.of("pattern", pattern))));
        String text = "a".repeat(5_000) + "!";

        assertThat(ToolArguments.problem(schema, Json.of(Map.of("a", text))))
                .contains("checking it takes too long: a pattern backtracks, or the schema branches too much");
        assertThat(ToolArguments.outputProblem(schema, "{\"a\": \"" + text + "\"}"))
                .isPresent();
    }

    static Stream<String> patternsThatBranch() {
        return Stream.of(
                "(|)".repeat(60) + "(?!)",
                "(?:|)".repeat(60) + "b",
                "^" + "(a?|b?)".repeat(60) + "c$",
                "a" + "(|[x|)]|)".repeat(60) + "(?!)",
                "(?=" + "(|)".repeat(60) + "(?!))",
                "((|)(|)){30}(?!)",
                "(?<n>|){60}\\k<n>b",
                "(" + "(|)".repeat(60) + "b)?c",
                "(?>" + "(|)".repeat(60) + "b)",
                "(?i:" + "(|(?<=a))".repeat(60) + "[^]b])");
    }

    @ParameterizedTest
    @MethodSource("patternsThatBranch")
    @Timeout(180)
    void problem_patternThatBranchesWithoutReadingACharacter_isReported(String pattern) {
        Json schema = Json.of(Map.of("properties", Map.of("a", Map.of("pattern", pattern))));

        assertThat(ToolArguments.problem(schema, Json.of(Map.of("a", "a"))))
                .contains("checking it takes too long: a pattern backtracks, or the schema branches too much");
    }

    @Test
    @Timeout(180)
    void problem_namesOnWhichAPatternBacktracks_isReported() {
        Json schema = Json.of(Map.of("patternProperties", Map.of("^a*a*a*a*a*a*a*b$", Map.of("type", "string"))));

        assertThat(ToolArguments.problem(schema, Json.of(Map.of("a".repeat(5_000), 1))))
                .contains("checking it takes too long: a pattern backtracks, or the schema branches too much");
    }

    /** Each level has two branches, and every branch ends with a mismatch. */
    @Test
    @Timeout(180)
    void problem_endlesslyBranchingSchema_isReported() {
        Map<String, Object> levels = new LinkedHashMap<>();
        for (int level = 0; level < 40; level++) {
            Map<String, String> next = Map.of("$ref", "#/$defs/l" + (level + 1));
            levels.put("l" + level, Map.of("anyOf", List.of(next, next)));
        }
        levels.put("l40", Map.of("type", "string"));
        Json schema = Json.of(Map.of("properties", Map.of("a", Map.of("$ref", "#/$defs/l0")), "$defs", levels));

        assertThat(ToolArguments.problem(schema, Json.of(Map.of("a", 1))))
                .contains("checking it takes too long: a pattern backtracks, or the schema branches too much");
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "^[0-9a-f]{8}-[0-9a-f]{4}-[1-5][0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$",
                "^\\d{4}-(0[1-9]|1[0-2])-(0[1-9]|[12]\\d|3[01])(T([01]\\d|2[0-3]):[0-5]\\d(:[0-5]\\d(\\.\\d+)?)?(Z|[+-]\\d\\d:\\d\\d)?)?$",
                "^(([^<>()\\[\\]\\\\.,;:\\s@\"]+(\\.[^<>()\\[\\]\\\\.,;:\\s@\"]+)*)|(\".+\"))@(([a-zA-Z\\-0-9]+\\.)+[a-zA-Z]{2,})$",
                "^(?=.*[a-z])(?=.*[A-Z])(?=.*\\d)[\\w\\W]{8,}$",
                "^https?://(www\\.)?[-\\w@:%.+~#=]{1,256}\\.[a-z]{1,6}\\b([-\\w()@:%+.~#?&/=]*)$",
                "^(v?(0|[1-9]\\d*)\\.(0|[1-9]\\d*)\\.(0|[1-9]\\d*)(?:-((?:0|[1-9]\\d*|\\d*[a-zA-Z-][0-9a-zA-Z-]*)(?:\\.(?:0|[1-9]\\d*))*))?)?$",
                "^\\s*([+-]?\\d*\\.?\\d*)?\\s*(e[+-]?\\d+)?\\s*$",
                "^\\p{L}[\\p{L}\\p{N} .'-]{0,80}$"
            })
    void usualPatterns_takeFewStepsPerCharacter(String pattern) {
        PatternBranching.Attempts attempts = PatternBranching.of(pattern);

        assertThat(attempts.beforeFirst()).isLessThan(50);
        assertThat(attempts.afterAny()).isLessThan(50);
    }

    @Test
    void problem_largeArgumentsAndManyPatterns_areChecked() {
        Json schema = Json.of(Map.of(
                "properties",
                Map.of("a", Map.of("type", "array", "items", Map.of("type", "string", "pattern", "^[0-9a-f-]{36}$")))));
        String id = "0189f7ea-ae2f-7c4b-8d2a-5b1e6a3c9d10";

        assertThat(ToolArguments.problem(schema, Json.of(Map.of("a", Collections.nCopies(20_000, id)))))
                .isEmpty();
    }
}
