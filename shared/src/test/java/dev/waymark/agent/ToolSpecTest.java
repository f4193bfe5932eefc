package dev.waymark.agent;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.waymark.contract.PayloadJson;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.junit.jupiter.api.Test;

class ToolSpecTest {
    @Test
    void env_ofAToolWithoutPrograms_isRefused() {
        ToolSpec.Builder java = ToolSpec.java("book");

        assertThatThrownBy(() -> java.env(Map.of("KEY", "x")))
                .hasMessage(
                        "a tool of kind JAVA runs no programs. Set env and sandboxed only for commands and HTTP requests");
    }

    @Test
    void env_andSandbox_inAnyOrder_areBothKept() {
        ToolImplementation expected =
                new ToolImplementation.Command(List.of("./charge.sh"), Map.of("KEY", "x"), Optional.of(Sandbox.CLOSED));

        assertThat(ToolSpec.command("charge", "./charge.sh")
                        .sandbox(Sandbox.CLOSED)
                        .env(Map.of("KEY", "x"))
                        .build()
                        .implementation())
                .isEqualTo(expected);
        assertThat(ToolSpec.command("charge", "./charge.sh")
                        .env(Map.of("KEY", "x"))
                        .sandbox(Sandbox.CLOSED)
                        .build()
                        .implementation())
                .isEqualTo(expected);
    }

    @Test
    void storedTool_withoutTheDataOfItsKind_isRefused() {
        assertThatThrownBy(() -> PayloadJson.MAPPER.readValue("{\"name\":\"pay\",\"kind\":\"http\"}", ToolSpec.class))
                .hasMessageContaining("tool pay of kind HTTP does not say what it calls");
    }
}
