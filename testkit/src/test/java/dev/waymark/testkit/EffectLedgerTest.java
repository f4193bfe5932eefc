package dev.waymark.testkit;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.tuple;

import dev.waymark.conversation.value.Json;
import dev.waymark.tool.ToolContext;
import dev.waymark.tool.VerifyResult;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class EffectLedgerTest {
    private static final ToolContext FIRST = new ToolContext("trip", "tu_1", "charge", "k1");
    private static final ToolContext SECOND = new ToolContext("trip", "tu_2", "charge", "k2");

    @Test
    void recordingTool_everyRun_isAnEffect(@TempDir Path directory) throws Exception {
        try (EffectLedger ledger = EffectLedger.open(directory.resolve("ledger"))) {
            RecordingTool charge = RecordingTool.of("charge", ledger.port());

            assertThat(charge.run(Json.EMPTY_OBJECT, FIRST)).isEqualTo("done");
            charge.run(Json.EMPTY_OBJECT, FIRST);
            charge.run(Json.EMPTY_OBJECT, SECOND);

            assertThat(ledger.effects())
                    .extracting(EffectLedger.Effect::key, EffectLedger.Effect::call)
                    .containsExactly(tuple("k1", "tu_1"), tuple("k1", "tu_1"), tuple("k2", "tu_2"));
            assertThat(charge.verify(Json.EMPTY_OBJECT, SECOND)).isEqualTo(VerifyResult.landed("done"));
        }
    }

    @Test
    void ledger_reopened_continues(@TempDir Path directory) throws Exception {
        Path file = directory.resolve("ledger");
        try (EffectLedger ledger = EffectLedger.open(file)) {
            RecordingTool.of("charge", ledger.port()).run(Json.EMPTY_OBJECT, FIRST);
        }
        try (EffectLedger ledger = EffectLedger.open(file)) {
            RecordingTool charge = RecordingTool.of("charge", ledger.port());

            assertThat(charge.verify(Json.EMPTY_OBJECT, FIRST)).isEqualTo(VerifyResult.landed("done"));
            assertThat(charge.verify(Json.EMPTY_OBJECT, SECOND)).isEqualTo(VerifyResult.notLanded());
        }
    }
}
