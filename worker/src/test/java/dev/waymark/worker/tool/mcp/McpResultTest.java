package dev.waymark.worker.tool.mcp;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.json.JsonMapper;
import dev.waymark.worker.tool.kind.Effect;
import org.junit.jupiter.api.Test;

class McpResultTest {
    @Test
    void nulls_insteadOfText_areEmpty() throws Exception {
        String result =
                "{\"content\":[{\"type\":\"text\",\"text\":null},{\"type\":\"image\",\"mimeType\":null,\"data\":null},"
                        + "{\"type\":\"hologram\"}]}";

        assertThat(McpResult.of(new RpcAnswer.Result(new JsonMapper().readTree(result)), false))
                .isEqualTo(new McpResult("\n[image , 0 bytes]\n[hologram]", Effect.DONE));
    }
}
