package dev.waymark.contract;

import static org.assertj.core.api.Assertions.assertThat;

import dev.waymark.contract.thread.StartInput;
import java.util.Optional;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class TraceIdsTest {
    @Test
    void ids_dependOnTheFirstRunOnly() {
        TraceIds ids = TraceIds.of("run-1", Optional.empty());

        assertThat(ids).isEqualTo(TraceIds.of("run-1", Optional.empty()));
        assertThat(ids.traceId())
                .hasSize(32)
                .isNotEqualTo(TraceIds.of("run-2", Optional.empty()).traceId());
        assertThat(ids.call("tu_1")).hasSize(16).isNotEqualTo(ids.call("tu_2"));
        assertThat(TraceIds.isTraceparent(ids.traceparentOf("tu_1"))).isTrue();
    }

    @Test
    void caller_determinesTheTrace() {
        TraceIds ids = TraceIds.of("run-1", Optional.of("00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-00"));

        assertThat(ids.traceId()).isEqualTo("0af7651916cd43dd8448eb211c80319c");
        assertThat(ids.callerSpan()).contains("b7ad6b7169203331");
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "",
                "00-0AF7651916CD43DD8448EB211C80319C-b7ad6b7169203331-01",
                "00-00000000000000000000000000000000-b7ad6b7169203331-01",
                "00-0af7651916cd43dd8448eb211c80319c-0000000000000000-01",
                "ff-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"
            })
    void invalidCaller_isIgnored(String traceparent) {
        assertThat(TraceIds.of("run-1", Optional.of(traceparent))).isEqualTo(TraceIds.of("run-1", Optional.empty()));
        assertThat(StartInput.of("a").tracedBy(Optional.of(traceparent)).traceparent())
                .isEmpty();
    }
}
