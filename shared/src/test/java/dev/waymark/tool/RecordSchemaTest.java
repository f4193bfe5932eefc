package dev.waymark.tool;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.fasterxml.jackson.annotation.JsonProperty;
import com.fasterxml.jackson.annotation.JsonPropertyDescription;
import com.fasterxml.jackson.core.JsonProcessingException;
import dev.waymark.contract.PayloadJson;
import dev.waymark.conversation.value.Json;
import jakarta.validation.constraints.Max;
import jakarta.validation.constraints.Min;
import jakarta.validation.constraints.NotBlank;
import jakarta.validation.constraints.NotEmpty;
import jakarta.validation.constraints.Pattern;
import jakarta.validation.constraints.Positive;
import jakarta.validation.constraints.Size;
import java.math.BigDecimal;
import java.time.Instant;
import java.time.LocalDate;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.UUID;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class RecordSchemaTest {
    enum Currency {
        EUR,
        @JsonProperty("US-Dollar")
        USD
    }

    record Line(@NotBlank String text, @Min(1) @Max(99) int count) {}

    record Invoice(
            UUID id,
            Instant received,
            LocalDate due,
            @Positive BigDecimal total,
            Currency currency,
            @Size(min = 1, max = 3) Set<String> tags,
            @NotEmpty List<Line> lines,
            @Pattern(regexp = "[A-Z]{2}") String country,

            @Size(min = 2) @JsonPropertyDescription("Who pays")
            Optional<String> customer) {}

    private static final String VALID = """
            {"id": "0c8d1b4e-6f0a-4f55-9d3c-0a1b2c3d4e5f", "received": "2026-11-26T09:00:00.5Z", "due": "2026-12-24",
             "total": 12.5, "currency": "US-Dollar", "tags": ["new"], "lines": [{"text": "Tea", "count": 2}],
             "country": "NO", "customer": "Ann"}""";

    private static Json json(String text) throws JsonProcessingException {
        return PayloadJson.MAPPER.readValue(text, Json.class);
    }

    @Test
    void schema_isValid_andTheRecordCanBeRead() throws Exception {
        Json schema = RecordSchema.of(Invoice.class);
        Json valid = json(VALID);

        assertThat(ToolArguments.schemaProblem(schema)).isEmpty();
        assertThat(ToolArguments.problem(schema, valid)).isEmpty();
        assertThat(RecordSchema.read(valid, Invoice.class))
                .returns(LocalDate.of(2026, 12, 24), Invoice::due)
                .returns(Currency.USD, Invoice::currency)
                .returns(Set.of("new"), Invoice::tags);
        assertThat(PayloadJson.MAPPER.valueToTree(schema).at("/properties/due").toString())
                .isEqualTo("{\"type\":\"string\",\"format\":\"date\",\"pattern\":\"^\\\\d{4}-\\\\d{2}-\\\\d{2}$\"}");
    }

    @ParameterizedTest
    @CsvSource(delimiter = '|', textBlock = """
                    2026-12-24     | 24.12.2026           | due
                    09:00:00.5Z    | 9 o'clock            | received
                    0c8d1b4e-      | nonsense             | id
                    12.5           | 0                    | total
                    US-Dollar      | USD                  | currency
                    ["new"]        | []                   | tags
                    ["new"]        | ["new", "new"]       | tags
                    ["new"]        | ["a", "b", "c", "d"] | tags
                    : "Tea"        | : "  "               | /lines/0/text
                    : 2}           | : 100}               | /lines/0/count
                    : 2}           | : 0}                 | /lines/0/count
                    "NO"           | "NOR"                | country
                    "Ann"          | "A"                  | customer
                    : 2}           | : 99999999999}       | /lines/0/count
                    "count": 2     | "number": 2          | number
                    "customer"     | "payer"              | payer
                    """)
    void valueOutsideOfTheConstraints_isNamed(String from, String to, String field) throws Exception {
        assertThat(VALID).contains(from);

        assertThat(ToolArguments.problem(RecordSchema.of(Invoice.class), json(VALID.replace(from, to))))
                .hasValueSatisfying(words -> assertThat(words).contains(field));
    }

    record Unknown(Map<Integer, String> byNumber) {}

    @Test
    void typeWithoutSchema_isNamed() {
        assertThatThrownBy(() -> RecordSchema.of(Unknown.class))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("no JSON schema for Unknown.byNumber");
    }

    record Folder(String name, List<Folder> folders) {}

    record Shelf(Optional<Folder> folder) {}

    @Test
    void recordThatContainsItself_isNamed() {
        assertThatThrownBy(() -> RecordSchema.of(Shelf.class))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessage("no JSON schema for Folder.folders: a Folder must not contain another one."
                        + " Use Json for a part of any form");
    }

    record Wish(Optional<String> what, Optional<Currency> in, Optional<Line> line, Optional<Json> extra) {}

    @ParameterizedTest
    @ValueSource(strings = {"what", "in", "line", "extra"})
    void optionalComponent_acceptsNull(String name) throws Exception {
        Json schema = RecordSchema.of(Wish.class);
        Json nothing = json("{\"" + name + "\": null}");

        assertThat(ToolArguments.problem(schema, nothing)).isEmpty();
        assertThat(ToolArguments.problem(schema, json("{\"" + name + "\": true}"))
                        .isPresent())
                .isEqualTo(!name.equals("extra"));
    }
}
