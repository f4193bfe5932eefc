package dev.waymark.tool;

import static org.assertj.core.api.Assertions.assertThat;

import dev.waymark.conversation.value.Json;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import org.assertj.core.api.InstanceOfAssertFactories;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class ToolArgumentsTest {

    private static final Json CHARGE = Json.of(Map.of(
            "type", "object",
            "required", List.of("cents"),
            "properties", Map.of("cents", Map.of("type", "integer"))));

    @Test
    void problem_fittingArguments_isNone() {
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
    void problem_noObject_isOne() {
        assertThat(ToolArguments.problem(CHARGE, Json.of(List.of()))).contains("array found, object expected");
    }

    @Test
    void problem_inAnotherLocale_isInTheSameWords() {
        Locale before = Locale.getDefault();
        Locale.setDefault(Locale.GERMANY);
        try {
            problem_wrongType_namesThePlace();
        } finally {
            Locale.setDefault(before);
        }
    }

    @Test
    void schemaProblem_notOfAnObject_isOne() {
        assertThat(ToolArguments.schemaProblem(Json.of(Map.of("type", "string"))))
                .contains("must have type: object");
        assertThat(ToolArguments.schemaProblem(Json.of(true))).contains("must have type: object");
    }

    @Test
    void schemaProblem_misspeltType_isOne() {
        Json schema = Json.of(Map.of("type", "object", "properties", Map.of("a", Map.of("type", "strng"))));
        assertThat(ToolArguments.schemaProblem(schema).orElseThrow()).startsWith("/properties/a/type: ");
    }

    @Test
    void schemaProblem_referenceToTheOutside_isOneAndFetchesNothing() {
        Json schema = Json.of(
                Map.of("type", "object", "properties", Map.of("a", Map.of("$ref", "http://127.0.0.1:1/schema.json"))));
        assertThat(ToolArguments.schemaProblem(schema)).isPresent();
    }

    @Test
    void schemaProblem_brokenPattern_isOne() {
        Json schema = Json.of(Map.of("type", "object", "properties", Map.of("a", Map.of("pattern", "("))));
        assertThat(ToolArguments.schemaProblem(schema)).isPresent();
    }

    @Test
    void malformation_ofAnyKind_isToldInPlainWords() {
        assertThat(ToolArguments.malformation(Json.of(Map.of("pattern", "["))))
                .contains("not a regular expression: [ (Unclosed character class)");
        assertThat(ToolArguments.malformation(Json.of(Map.of("$ref", "http://127.0.0.1:1/x.json"))))
                .contains("a $ref refers to another document: http://127.0.0.1:1/x.json");
        assertThat(ToolArguments.malformation(Json.of(Map.of("$ref", "#/$defs/a%zz"))))
                .get(InstanceOfAssertFactories.STRING)
                .startsWith("a $ref is not a reference: ");
    }

    @Test
    void schemaProblem_referenceToItself_isOne() {
        assertThat(ToolArguments.malformation(Json.of(Map.of("$ref", "#")))).contains("a $ref refers to itself");
    }

    @Test
    void problem_schemaThatNeverEnds_isOneAndNoErrorOfTheMachine() {
        Json round = Json.of(Map.of(
                "properties", Map.of("a", Map.of("$ref", "#/$defs/b")),
                "$defs", Map.of("b", Map.of("$ref", "#/$defs/b"))));
        assertThat(ToolArguments.problem(round, Json.of(Map.of("a", 1))))
                .contains("it is nested too deeply for its schema, or the schema refers to itself");
    }

    @ParameterizedTest
    @ValueSource(strings = {"^a*a*a*a*a*a*a*b$", "(a+)+\\d\\1"})
    @Timeout(60)
    void problem_patternThatBacktracks_isOne(String pattern) {
        Json schema = Json.of(Map.of("properties", Map.of("a", Map.of("pattern", pattern))));
        String text = "a".repeat(5_000) + "!";

        assertThat(ToolArguments.problem(schema, Json.of(Map.of("a", text))))
                .contains("checking it takes too long: a pattern backtracks, or the schema branches too much");
        assertThat(ToolArguments.outputProblem(schema, "{\"a\": \"" + text + "\"}"))
                .isPresent();
    }

    @Test
    @Timeout(60)
    void problem_namesThatAPatternBacktracksOn_isOne() {
        Json schema = Json.of(Map.of("patternProperties", Map.of("^a*a*a*a*a*a*a*b$", Map.of("type", "string"))));

        assertThat(ToolArguments.problem(schema, Json.of(Map.of("a".repeat(5_000), 1))))
                .contains("checking it takes too long: a pattern backtracks, or the schema branches too much");
    }

    /** Each level has two ways, and every way ends with a mistake. */
    @Test
    @Timeout(60)
    void problem_schemaThatBranchesWithoutEnd_isOne() {
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
