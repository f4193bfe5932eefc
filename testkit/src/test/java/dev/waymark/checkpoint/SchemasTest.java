package dev.waymark.checkpoint;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.json.JsonMapper;
import com.networknt.schema.Schema;
import com.networknt.schema.SchemaRegistry;
import com.networknt.schema.SpecificationVersion;
import dev.waymark.conversation.value.Json;
import dev.waymark.history.Moment;
import dev.waymark.history.Timeline;
import dev.waymark.testkit.GeneratedThread;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Instant;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Every checkpoint matches the documented schema of its format, which allows no undocumented keys. */
class SchemasTest {
    private static final Path FORMATS =
            Path.of("").toAbsolutePath().getParent().resolve("docs").resolve("formats");
    private static final JsonMapper MAPPER = new JsonMapper();

    private static Schema schema(CheckpointFormat format) throws IOException {
        String text = Files.readString(FORMATS.resolve(format.wireName() + ".schema.json"));
        return SchemaRegistry.withDefaultDialect(SpecificationVersion.DRAFT_2020_12)
                .getSchema(MAPPER.readTree(text));
    }

    private static void assertFits(Schema schema, JsonNode document) {
        assertThat(schema.validate(document)).as(document.toString()).isEmpty();
    }

    private static JsonNode tree(Json json) throws IOException {
        return MAPPER.readTree(json.canonical());
    }

    @ParameterizedTest
    @EnumSource(CheckpointFormat.class)
    void everyConversation_matchesItsSchema(CheckpointFormat format) throws IOException {
        Schema schema = schema(format);
        for (long seed = 0; seed < 60; seed++) {
            Timeline whole = GeneratedThread.of(seed);
            List<Moment> moments = whole.moments();
            for (Timeline timeline : List.of(whole, whole.upTo(moments.get(moments.size() / 2)))) {
                if (format == CheckpointFormat.PHASES) {
                    for (Json record : PhasesCheckpoint.chain(timeline)) {
                        assertFits(schema, tree(record));
                    }
                    assertFits(schema, tree(PhasesCheckpoint.latest(timeline)));
                } else {
                    assertFits(schema, tree(format.view(timeline)));
                }
            }
        }
    }

    @ParameterizedTest
    @EnumSource(CheckpointFormat.class)
    void example_matchesItsSchemaAndIsRead(CheckpointFormat format) throws IOException {
        byte[] text = Files.readAllBytes(FORMATS.resolve("examples").resolve(format.wireName() + ".json"));

        RestoredCheckpoint recovered = CheckpointReader.read(text, Instant.parse("2026-06-01T09:00:00Z"));

        assertFits(schema(format), MAPPER.readTree(text));
        assertThat(recovered.format()).isEqualTo(format);
        assertThat(recovered.state().openCalls()).hasSize(1);
    }

    @Test
    void otherDocument_matchesNoSchema() throws IOException {
        for (CheckpointFormat format : CheckpointFormat.values()) {
            assertThat(schema(format).validate(MAPPER.readTree("{\"messages\":[{}]}")))
                    .isNotEmpty();
        }
    }
}
