package dev.waymark.worker.secret;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.ObjectMapper;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class SecretsTest {
    private static final Map<String, String> ENVIRONMENT = Map.of(
            "TOKEN", "can/ary \"7\"*~",
            "SHORT", "eu-1",
            "LINE", "canary-1\n",
            "LONGER", "canary-123",
            "PEM", "-----BEGIN-----\r\nMIIEvQ4711\n-----END-----\n");

    private static Secrets secrets(String... texts) {
        return Secrets.of(List.of(texts), ENVIRONMENT);
    }

    @Test
    void resolve_fillsInValuesAndStripsThemInALine() {
        assertThat(secrets("${LINE}").resolve("a ${LINE}b")).isEqualTo("a canary-1\nb");
        assertThat(secrets("${LINE}").resolveInLine("a ${LINE}b")).isEqualTo("a canary-1b");
    }

    @Test
    void missing_namesAReferencedVariableThatIsUnset() {
        assertThat(secrets("${LINE} ${NONE}").missing()).contains("NONE");
        assertThat(secrets("${LINE}").missing()).isEmpty();
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            quoteCharacter = '\'',
            value = {
                "can/ary \"7\"*~",
                "can/ary \\\"7\\\"*~",
                "can\\/ary \\\"7\\\"*~",
                "can%2Fary+%227%22*%7E",
                "can%2Fary%20%227%22%2A~",
                "can%2fary%20%227%22%2a%7e",
                "%63%61%6e%2F%61%72%79%20%22%37%22%2A%7E",
                "can\\u002fary\\u0020\\u00227\\u0022*~",
                "can\\u002Fary \\u00227\\\"*\\u007E",
                "\\u0063\\u0061\\u006e\\u002f\\u0061\\u0072\\u0079\\u0020\\u0022\\u0037\\u0022\\u002a\\u007e",
                "can\\\\/ary \\\\\\\"7\\\\\\\"*~",
                "can%252Fary%2520%25227%2522%252a~"
            })
    void mask_anySpelling_isFound(String spelling) {
        assertThat(secrets("Bearer ${TOKEN}").mask("<" + spelling + ">")).isEqualTo("<${TOKEN}>");
    }

    @ParameterizedTest
    @CsvSource({"kär+ä\uD83D\uDE00nary", "k\\u00e4r+\\u00E4\\ud83d\\uDE00nary", "k%c3%a4r%2B%C3%a4%f0%9f%98%80nary"})
    void mask_charactersBeyondAscii_areFoundInAnySpelling(String spelling) {
        Secrets secrets = Secrets.of(List.of("${ODD}"), Map.of("ODD", "kär+ä\uD83D\uDE00nary"));

        assertThat(secrets.mask("<" + spelling + ">")).isEqualTo("<${ODD}>");
        for (int cut = 0; cut <= spelling.length(); cut++) {
            StreamMask mask = secrets.mask();
            assertThat(mask.next(spelling.substring(0, cut)) + mask.next(spelling.substring(cut)) + mask.end())
                    .isEqualTo("${ODD}");
        }
    }

    @Test
    void mask_backslashes_areFoundDoubledAndNot() {
        Secrets secrets = Secrets.of(List.of("${PATH_SHARE}"), Map.of("PATH_SHARE", "\\\\host\\share"));

        assertThat(secrets.mask("\\\\host\\share \\\\\\\\host\\\\share \\host"))
                .isEqualTo("${PATH_SHARE} ${PATH_SHARE} \\host");
    }

    @Test
    void mask_textOfEscapesOnly_takesNoLongerThanItsLength() {
        String text = "\\".repeat(200_000) + "%25".repeat(100_000);

        assertThat(secrets("${TOKEN} ${PEM}").mask(text)).isEqualTo(text);
    }

    @Test
    void mask_secretsOfOtherTexts_areMaskedToo() {
        Secrets secrets = Secrets.of(
                List.of("${LINE}"),
                Map.of(
                        "LINE",
                        "canary-1",
                        "ANTHROPIC_API_KEY",
                        "sk-canary-7",
                        "db_password",
                        "hunter-2-2",
                        "OTHER",
                        "public-1"));

        assertThat(secrets.mask("canary-1 sk-canary-7 hunter-2-2 public-1"))
                .isEqualTo("${LINE} ${ANTHROPIC_API_KEY} ${db_password} public-1");
    }

    @Test
    void mask_ordinaryWord_isLeftUnchanged() {
        assertThat(secrets("${SHORT}").mask("in eu-1")).isEqualTo("in eu-1");
    }

    @Test
    void mask_unreferencedVariable_isLeftUnchanged() {
        assertThat(secrets("${LINE}").mask("MIIEvQ4711")).isEqualTo("MIIEvQ4711");
    }

    @Test
    void mask_exceptedVariable_isLeftUnchanged() {
        assertThat(secrets("${LINE} ${PEM}").except(List.of("LINE")).mask("canary-1 MIIEvQ4711"))
                .isEqualTo("canary-1 ${PEM}");
    }

    @Test
    void mask_severalLines_areFoundOneByOneAndTogether() {
        assertThat(secrets("${PEM}").mask("key MIIEvQ4711.")).isEqualTo("key ${PEM}.");
        assertThat(secrets("${PEM}").mask("key " + ENVIRONMENT.get("PEM"))).isEqualTo("key ${PEM}\n");
    }

    @Test
    void mask_json_isMaskedInNamesAndValues() throws Exception {
        ObjectMapper mapper = new ObjectMapper();

        assertThat(secrets("${LINE}")
                        .mask(mapper.readTree("{\"canary-1\":[\"canary\\u002d1!\", 1, null, {\"a\":\"b\"}]}")))
                .isEqualTo(mapper.readTree("{\"${LINE}\":[\"${LINE}!\", 1, null, {\"a\":\"b\"}]}"));
    }

    /** One value is a prefix of the other. */
    @Test
    void mask_textInPieces_doesNotDependOnTheCuts() {
        Secrets secrets = secrets("${LINE} ${LONGER}");
        String text = "canary-1, canary-123, canary-12 and can";
        String masked = "${LINE}, ${LONGER}, ${LINE}2 and can";

        assertThat(secrets.mask(text)).isEqualTo(masked);
        for (int first = 0; first <= text.length(); first++) {
            for (int second = first; second <= text.length(); second++) {
                StreamMask mask = secrets.mask();
                String told = mask.next(text.substring(0, first))
                        + mask.next(text.substring(first, second))
                        + mask.next(text.substring(second))
                        + mask.end();
                assertThat(told).isEqualTo(masked);
            }
        }
    }

    @Test
    void mask_possibleBeginningOfASecret_isHeldBack() {
        StreamMask mask = secrets("${LINE}").mask();

        assertThat(List.of(mask.next("it is can"), mask.next("dy, "), mask.next("or ca"), mask.end()))
                .containsExactly("it is ", "candy, ", "or ", "ca");
    }
}
