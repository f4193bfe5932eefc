package dev.waymark.tool;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import dev.waymark.contract.PayloadJson;
import dev.waymark.conversation.value.Json;
import java.io.IOException;
import java.io.InputStream;
import java.util.ArrayList;
import java.util.Base64;
import java.util.BitSet;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.zip.GZIPInputStream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/**
 * Schemas of rules match the same arguments as in a validator of another language. {@code corpus.js} beside the corpus
 * wrote it, with the verdicts of ajv.
 */
class SchemaCorpusTest {
    private static final int QUICK = 200;

    @Test
    void someArguments_matchAsInAjv() throws Exception {
        assertThat(differences(QUICK)).isEmpty();
    }

    @Test
    @Tag("full")
    void allArguments_matchAsInAjv() throws Exception {
        assertThat(differences(Integer.MAX_VALUE)).isEmpty();
    }

    private static List<String> differences(int most) throws IOException {
        JsonNode corpus = corpus();
        List<Json> args = new ArrayList<>();
        for (JsonNode each : corpus.get("args")) {
            if (args.size() < most) {
                args.add(PayloadJson.MAPPER.treeToValue(each, Json.class));
            }
        }
        List<String> differences = new ArrayList<>();
        for (int i = 0; i < corpus.get("schemas").size(); i++) {
            Json schema = PayloadJson.MAPPER.treeToValue(corpus.get("schemas").get(i), Json.class);
            BitSet matches = BitSet.valueOf(
                    Base64.getDecoder().decode(corpus.get("verdicts").get(i).asText()));
            for (int n = 0; n < args.size(); n++) {
                Optional<Boolean> matched = ToolArguments.matches(schema, args.get(n));
                if (!matched.equals(Optional.of(matches.get(n))) && differences.size() < 20) {
                    differences.add("schema " + i + " " + schema + " args " + args.get(n) + ": " + matched);
                }
            }
        }
        return differences;
    }

    private static JsonNode corpus() throws IOException {
        InputStream file =
                Objects.requireNonNull(SchemaCorpusTest.class.getResourceAsStream("/schemas/corpus.json.gz"));
        try (InputStream json = new GZIPInputStream(file)) {
            return PayloadJson.MAPPER.readTree(json);
        }
    }
}
