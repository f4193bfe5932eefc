package dev.waymark.contract;

import static org.assertj.core.api.Assertions.assertThat;

import dev.waymark.conversation.Json;
import java.util.Collections;
import org.junit.jupiter.api.Test;

class WireTest {
    @Test
    void nullInAnArgument_isWritten() throws Exception {
        Json args = Json.of(Collections.singletonMap("path", null));

        assertThat(Wire.MAPPER.writeValueAsString(args)).isEqualTo("{\"path\":null}");
        assertThat(Wire.MAPPER.readValue("{\"path\":null}", Json.class)).isEqualTo(args);
    }
}
