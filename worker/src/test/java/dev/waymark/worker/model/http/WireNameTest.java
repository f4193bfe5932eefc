package dev.waymark.worker.model.http;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

class WireNameTest {
    @Test
    void ofCall_validId_isKept() {
        assertThat(WireName.ofCall("toolu_01-A")).isEqualTo("toolu_01-A");
    }

    @Test
    void ofCall_renamedId_isReadableAndUnique() {
        assertThat(WireName.ofCall("tu_7~2"))
                .matches("[A-Za-z0-9_-]{1,40}")
                .isEqualTo(WireName.ofCall("tu_7~2"))
                .isNotEqualTo(WireName.ofCall("tu_7+2"))
                .isNotEqualTo("tu_7-2");
    }

    @Test
    void ofTool_longName_isKeptIfItFits() {
        assertThat(WireName.ofTool("t".repeat(64))).isEqualTo("t".repeat(64));
        assertThat(WireName.ofTool("t".repeat(65))).matches("t{31}-[0-9a-f]{8}");
    }
}
