package dev.waymark.conversation.value;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

import com.fasterxml.jackson.databind.json.JsonMapper;
import dev.waymark.conversation.message.Message;
import dev.waymark.conversation.message.Part;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.math.BigInteger;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class JsonTest {
    private static final JsonMapper MAPPER = JsonMapper.builder().build();

    @Test
    void canonical_documentedInputVector_hashesToDocumentedHash() {
        Json input = read("{\"tool_name\":\"add\",\"args\":{\"b\":2,\"a\":1}}");

        assertThat(input.canonical()).isEqualTo("{\"args\": {\"a\": 1, \"b\": 2}, \"tool_name\": \"add\"}");
        assertThat(Sha256.hex(input.canonical()))
                .isEqualTo("7f509013eadd9e0d8c1901017250fd78228dbb07182a916948799ad1f2c11080");
    }

    @Test
    void canonical_documentedOutputVector_hashesToDocumentedHash() {
        Json output = read("{\"output\":{\"result\":3}}");

        assertThat(Sha256.hex(output.canonical()))
                .isEqualTo("60e4b1a076f8d6e005b4627e5023bfa54ddee9ec4bca96cdd69cf873153f0bb8");
    }

    @Test
    void canonical_documentedKeyVector_hashesToDocumentedKey() {
        Json args = read("{\"path\":\"/tmp/plan.txt\",\"content\":\"v1\"}");

        assertThat(Sha256.hex("session-alpha:write_file:" + args.canonical()))
                .isEqualTo("ee472b0c548a3e3b56b01f82e124b819ceb69a0df64a440190587628a6a9f37c");
    }

    @Test
    void canonical_doublesOfTheGoldenFile_areSpelledAsPythonSpellsThem() {
        List<String> differences = new ArrayList<>();
        List<String> lines = golden("doubles.txt");
        for (String line : lines) {
            double number = Double.longBitsToDouble(Long.parseUnsignedLong(line.substring(0, 16), 16));
            String spelled = Json.of(number).canonical();
            if (!spelled.equals(line.substring(17))) {
                differences.add(line.substring(17) + " was " + spelled);
            }
        }

        assertThat(lines).hasSizeGreaterThan(6_000);
        assertThat(differences).isEmpty();
    }

    @Test
    void canonical_valuesOfTheGoldenFile_areSpelledAsPythonSpellsThem() {
        List<String> differences = new ArrayList<>();
        List<String> lines = golden("values.txt");
        for (String line : lines) {
            int tab = line.indexOf('\t');
            String spelled = read(line.substring(0, tab)).canonical();
            if (!spelled.equals(line.substring(tab + 1))) {
                differences.add(line.substring(tab + 1) + " was " + spelled);
            }
        }

        assertThat(lines).hasSizeGreaterThan(1_500);
        assertThat(differences).isEmpty();
    }

    @ParameterizedTest
    @CsvSource({
        "-0.0, -0.0",
        "1e16, 1e+16",
        "1e15, 1000000000000000.0",
        "0.00001, 1e-05",
        "0.0001, 0.0001",
        "4.9e-324, 5e-324",
        "5.684341886080802e-14, 5.684341886080802e-14",
        "1.7976931348623157e308, 1.7976931348623157e+308"
    })
    void canonical_doubleAtTheEdge_isSpelledAsPythonSpellsIt(double number, String spelling) {
        assertThat(Json.of(number).canonical()).isEqualTo(spelling);
    }

    @Test
    void canonical_keysBeyondTheBasicPlane_areSortedByCodePoint() {
        Map<String, Object> tree = new LinkedHashMap<>();
        tree.put("😀", 3);
        tree.put("\uffff", 2);
        tree.put("a", 1);

        assertThat(Json.of(tree).canonical()).isEqualTo("{\"a\": 1, \"\\uffff\": 2, \"\\ud83d\\ude00\": 3}");
    }

    @Test
    void canonical_keysWithLoneSurrogates_areSortedByCodePoint() {
        Map<String, Object> tree = new LinkedHashMap<>();
        tree.put("😀", 3);
        tree.put("\udc00", 1);
        tree.put("\ue000", 2);

        assertThat(Json.of(tree).canonical()).isEqualTo("{\"\\udc00\": 1, \"\\ue000\": 2, \"\\ud83d\\ude00\": 3}");
    }

    @Test
    void canonical_treeWithValues_isWrittenLikeAPlainTree() {
        Json inner = read("{\"b\":[1,2.5],\"a\":null}");

        assertThat(Json.canonical(Map.of("x", List.of(inner, true))))
                .isEqualTo("{\"x\": [{\"a\": null, \"b\": [1, 2.5]}, true]}");
    }

    /** A checkpoint embeds the arguments of calls, so a value of the greatest allowed depth must fit into another. */
    @Test
    void of_valueAtTheMaximumDepth_canBeEmbedded() {
        Json deepest = Json.of(nested(Json.MAX_DEPTH));
        assertThat(Json.of(List.of(deepest)).canonical()).isEqualTo("[" + deepest.canonical() + "]");
    }

    @Test
    void canonical_embeddedValueAtTheMaximumDepth_isWritten() {
        Json deepest = Json.of(nested(Json.MAX_DEPTH));
        Message message = Message.assistant(new Part.ToolUse("tu_1", "add", deepest));

        assertThat(message.canonical()).contains(deepest.canonical());
    }

    @Test
    void of_valueNestedTooDeep_isRefused() {
        assertThatIllegalArgumentException()
                .isThrownBy(() -> Json.of(nested(Json.MAX_DEPTH + 1)))
                .withMessage("JSON nested deeper than 400");
    }

    @ParameterizedTest
    @ValueSource(doubles = {Double.NaN, Double.POSITIVE_INFINITY, Double.NEGATIVE_INFINITY})
    void of_numberOutsideOfJson_isRefused(double number) {
        assertThatIllegalArgumentException()
                .isThrownBy(() -> Json.of(Map.of("x", number)))
                .withMessageStartingWith("not a JSON number");
    }

    @Test
    void of_otherJavaObject_isRefused() {
        assertThatIllegalArgumentException()
                .isThrownBy(() -> Json.of(List.of(new StringBuilder())))
                .withMessage("not JSON: StringBuilder");
    }

    @Test
    void of_integerTooLargeForReaders_isRefused() {
        assertThatIllegalArgumentException().isThrownBy(() -> Json.of(BigInteger.TEN.pow(1_000)));
    }

    @Test
    void of_largestInteger_isReadUnchanged() throws IOException {
        Json large = Json.of(BigInteger.TEN.pow(980).negate());

        assertThat(MAPPER.readValue(MAPPER.writeValueAsBytes(large), Json.class))
                .isEqualTo(large);
    }

    @Test
    void of_treeThatChangesLater_isUnaffected() {
        Map<String, Object> tree = new LinkedHashMap<>(Map.of("a", new ArrayList<>(List.of(1))));
        Json json = Json.of(tree);
        tree.clear();

        assertThat(json.canonical()).isEqualTo("{\"a\": [1]}");
    }

    @Test
    void of_numbersOfAllIntegerTypes_areEqual() {
        assertThat(List.of(Json.of(7), Json.of(7L), Json.of((short) 7), Json.of(BigInteger.valueOf(7))))
                .containsOnly(Json.of(7L));
    }

    @Test
    void equals_wholeNumberAndFloat_areDifferentValues() {
        assertThat(Json.of(1)).isNotEqualTo(Json.of(1.0));
    }

    @Test
    void field_ofANonObject_isNull() {
        assertThat(read("[1]").field("a")).isNull();
    }

    @Test
    void get_isTheField_andNullWithoutOne() {
        Json call = read("{\"cents\": 4200, \"to\": \"ann\"}");

        assertThat(call.get("cents").asInt()).isEqualTo(4200);
        assertThat(call.get("to").asText()).isEqualTo("ann");
        assertThat(call.get("from").isNull()).isTrue();
    }

    @Test
    void asInt_ofAnotherValue_isRefused() {
        for (String other : List.of("null", "\"7\"", "7.0", "2147483648", "[7]")) {
            assertThatIllegalArgumentException()
                    .isThrownBy(() -> read(other).asInt())
                    .withMessage("not an int: " + other);
        }
        assertThatIllegalArgumentException()
                .isThrownBy(() -> read("7").asText())
                .withMessage("not a text: 7");
    }

    @Test
    void json_goldenValues_areReadUnchanged() throws IOException {
        for (String line : golden("values.txt")) {
            Json value = read(line.substring(0, line.indexOf('\t')));
            if (value.value() != null) {
                assertThat(MAPPER.readValue(MAPPER.writeValueAsBytes(value), Json.class))
                        .isEqualTo(value);
            }
        }
    }

    private static Json read(String text) {
        try {
            return Json.of(MAPPER.readValue(text, Object.class));
        } catch (IOException e) {
            throw new AssertionError(text, e);
        }
    }

    private static Object nested(int levels) {
        @Nullable Object tree = "x";
        for (int i = 0; i < levels; i++) {
            tree = List.of(tree);
        }
        return tree;
    }

    private static List<String> golden(String name) {
        try (BufferedReader reader = new BufferedReader(new InputStreamReader(
                Objects.requireNonNull(JsonTest.class.getResourceAsStream("/json/" + name)), StandardCharsets.UTF_8))) {
            return reader.lines().toList();
        } catch (IOException e) {
            throw new AssertionError(name, e);
        }
    }
}
