package dev.waymark.tool;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.fasterxml.jackson.core.JsonProcessingException;
import dev.waymark.contract.PayloadJson;
import dev.waymark.conversation.value.Json;
import java.time.LocalDate;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Arguments are read completely, or refused. */
class ArgumentReaderTest {
    enum Speed {
        SLOW,
        FAST
    }

    record Account(String iban) {}

    record Transfer(
            Account to,
            int euros,
            double fee,
            boolean instant,
            Speed speed,
            LocalDate due,
            List<String> tags,
            Map<String, Integer> shares,
            Optional<String> note,
            Json extra) {
        Transfer {
            if (euros < 1) {
                throw new IllegalArgumentException("expected at least 1 euro, found " + euros);
            }
        }
    }

    private static final String VALID = """
            {"to": {"iban": "NO93"}, "euros": 5, "fee": 1, "instant": true, "speed": "FAST", "due": "2026-12-24",
             "tags": ["a"], "shares": {"ann": 5}, "note": "Tea", "extra": null}""";

    private static Json json(String text) throws JsonProcessingException {
        return PayloadJson.MAPPER.readValue(text, Json.class);
    }

    @Test
    void read_validArguments_areTheRecord() throws Exception {
        assertThat(ArgumentReader.read(json(VALID), Transfer.class))
                .isEqualTo(new Transfer(
                        new Account("NO93"),
                        5,
                        1.0,
                        true,
                        Speed.FAST,
                        LocalDate.of(2026, 12, 24),
                        List.of("a"),
                        Map.of("ann", 5),
                        Optional.of("Tea"),
                        Json.of(null)));
    }

    @ParameterizedTest
    @CsvSource(delimiter = '|', quoteCharacter = '`', textBlock = """
                    "note": "Tea"      | "note": null
                    "note": "Tea",     |
                    "fee": 1           | "fee": 1.5
                    "extra": null      | "extra": [1, null]
                    """)
    void read_otherFormsOfTheSchema_areRead(String from, String to) throws Exception {
        assertFits(VALID.replace(from, to == null ? "" : to), true);
    }

    @ParameterizedTest
    @CsvSource(delimiter = '|', quoteCharacter = '`', textBlock = """
                    "euros": 5,            |                          | euros
                    "euros": 5             | "euros": null            | euros
                    "euros": 5             | "euros": "5"             | euros
                    "euros": 5             | "cents": 5, "euros": 5   | cents
                    "euros": 5             | "euros": 99999999999     | euros
                    "fee": 1               | "fee": ""                | fee
                    "fee": 1,              |                          | fee
                    "instant": true        | "instant": "yes"         | instant
                    "instant": true,       |                          | instant
                    "speed": "FAST"        | "speed": 1               | speed
                    "speed": "FAST"        | "speed": "fast"          | speed
                    "iban": "NO93"         | "bban": "NO93"           | to
                    "to": {"iban": "NO93"} | "to": null               | to
                    "tags": ["a"],         |                          | tags
                    ", "extra": null       | "                        | extra
                    """)
    void read_invalidArguments_areRefused_withoutClassNames(String from, String to, String name) throws Exception {
        String changed = VALID.replace(from, to == null ? "" : to);

        assertFits(changed, false);
        assertThatThrownBy(() -> ArgumentReader.read(json(changed), Transfer.class))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining(name)
                .hasMessageNotContaining("waymark")
                .hasMessageNotContaining("java");
    }

    /** The schema and the reader agree, so that arguments are refused before the call is approved or claimed. */
    private static void assertFits(String args, boolean fits) throws JsonProcessingException {
        assertThat(args).isNotEqualTo(VALID);
        assertThat(ToolArguments.problem(RecordSchema.of(Transfer.class), json(args))
                        .isEmpty())
                .isEqualTo(fits);
        assertThat(ArgumentReader.problem(json(args), Transfer.class).isEmpty()).isEqualTo(fits);
    }

    @Test
    void problem_beyondTheSchema_hasTheMessageOfTheRecord() throws Exception {
        assertThat(ArgumentReader.problem(json(VALID.replace("\"euros\": 5", "\"euros\": 0")), Transfer.class))
                .contains("expected at least 1 euro, found 0");
        assertThat(ArgumentReader.problem(json(VALID.replace("12-24", "02-30")), Transfer.class))
                .contains("/due: not a valid value: 2026-02-30");
    }
}
