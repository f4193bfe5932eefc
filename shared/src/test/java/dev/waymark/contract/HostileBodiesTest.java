package dev.waymark.contract;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.google.protobuf.ByteString;
import dev.waymark.contract.message.InboundDecoder;
import dev.waymark.conversation.fact.Fact;
import dev.waymark.conversation.value.Json;
import dev.waymark.conversation.value.Sha256;
import io.temporal.api.common.v1.Payload;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

/**
 * What the thread makes of each body, which is part of its state: a history must be read by every release as it was
 * read by the first.
 */
class HostileBodiesTest {
    private static final Path GOLDEN = Path.of("src/test/resources/message/bodies.jsonl");
    private static final int LONGEST_SHOWN = 300;

    /** {@code -Dbodies.record=true} writes the file. Lines may be added, and never change. */
    @Test
    void bodies_ofEveryVerb_areReadAsTheyWereAlways() throws IOException {
        List<String> lines = new ArrayList<>();
        for (HostileBodies.Body body : HostileBodies.all()) {
            Map<String, Object> line = new LinkedHashMap<>();
            line.put("verb", body.verb());
            line.put("body", body.written());
            Fact fact = read(body);
            line.put("type", fact.type());
            line.put("fact", shown(PayloadJson.MAPPER.valueToTree(fact)));
            lines.add(PayloadJson.MAPPER.writeValueAsString(line));
        }
        if (Boolean.getBoolean("bodies.record")) {
            Files.write(GOLDEN, lines);
        }

        assertThat(lines).containsExactlyElementsOf(Files.readAllLines(GOLDEN));
    }

    private static Fact read(HostileBodies.Body body) {
        return InboundDecoder.read(
                body.verb(),
                Payload.newBuilder()
                        .putMetadata("encoding", ByteString.copyFromUtf8("json/plain"))
                        .setData(ByteString.copyFrom(body.text(), StandardCharsets.UTF_8))
                        .build());
    }

    /** The canonical form, or its digest if it is long. */
    private static String shown(JsonNode fact) {
        String canonical =
                Json.of(PayloadJson.MAPPER.convertValue(fact, Object.class)).canonical();
        return canonical.length() <= LONGEST_SHOWN ? canonical : Sha256.hex(canonical);
    }
}
