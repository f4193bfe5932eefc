package dev.waymark.contract;

import static org.assertj.core.api.Assertions.assertThat;

import dev.waymark.conversation.value.Json;
import java.util.Collections;
import org.junit.jupiter.api.Test;

class PayloadJsonTest {
    @Test
    void nullInAnArgument_isWritten() throws Exception {
        Json args = Json.of(Collections.singletonMap("path", null));

        assertThat(PayloadJson.MAPPER.writeValueAsString(args)).isEqualTo("{\"path\":null}");
        assertThat(PayloadJson.MAPPER.readValue("{\"path\":null}", Json.class)).isEqualTo(args);
    }
}
