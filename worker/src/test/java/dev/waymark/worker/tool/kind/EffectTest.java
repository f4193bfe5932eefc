package dev.waymark.worker.tool.kind;

import static org.assertj.core.api.Assertions.assertThat;

import dev.waymark.contract.work.ToolOutcome;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class EffectTest {
    @ParameterizedTest
    @CsvSource({
        "0, DONE",
        "1, OWN_ERROR",
        "10, OWN_ERROR",
        "127, OWN_ERROR",
        "128, UNKNOWN",
        "137, UNKNOWN",
        "143, UNKNOWN",
        "255, UNKNOWN",
    })
    void exitCodes(int code, Effect effect) {
        assertThat(Effect.ofExitCode(code)).isEqualTo(effect);
    }

    @ParameterizedTest
    @CsvSource({
        "200, DONE",
        "201, DONE",
        "204, DONE",
        "301, UNKNOWN",
        "302, UNKNOWN",
        "304, UNKNOWN",
        "307, NOT_DONE",
        "308, NOT_DONE",
        "400, NOT_DONE",
        "401, NOT_DONE",
        "404, NOT_DONE",
        "408, UNKNOWN",
        "409, NOT_DONE",
        "422, NOT_DONE",
        "425, NOT_DONE",
        "429, NOT_DONE",
        "500, UNKNOWN",
        "501, UNKNOWN",
        "502, UNKNOWN",
        "503, UNKNOWN",
        "504, UNKNOWN",
        "599, UNKNOWN",
    })
    void httpStatuses(int status, Effect effect) {
        assertThat(Effect.ofHttpStatus(status)).isEqualTo(effect);
    }

    @ParameterizedTest
    @CsvSource({
        "-32700, NOT_DONE",
        "-32600, NOT_DONE",
        "-32601, NOT_DONE",
        "-32602, NOT_DONE",
        "-32603, OWN_ERROR",
        "-32000, OWN_ERROR",
        "-32001, UNKNOWN",
        "0, OWN_ERROR",
    })
    void rpcErrors(int code, Effect effect) {
        assertThat(Effect.ofRpcError(code)).isEqualTo(effect);
    }

    @Test
    void outcome_saysWhatIsKnown() {
        assertThat(Effect.DONE.outcome("x")).isEqualTo(ToolOutcome.result("x"));
        assertThat(Effect.NOT_DONE.outcome("x")).isEqualTo(ToolOutcome.notDone("Tool error: x"));
        assertThat(Effect.OWN_ERROR.outcome("x")).isEqualTo(ToolOutcome.error("Tool error: x"));
        assertThat(Effect.UNKNOWN.outcome("x")).isEqualTo(ToolOutcome.unknown("x"));
    }
}
