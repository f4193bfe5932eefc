package dev.waymark.contract;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import dev.waymark.conversation.call.SubagentProgress;
import dev.waymark.conversation.decision.PendingItem;
import dev.waymark.conversation.value.Spent;
import java.util.List;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** A request has two JSON forms: states store {@code rerun}, and answers say which outcomes are possible. */
class PendingFormsTest {
    private static final String STORED = "{'callId':'tu_9','kind':'unknown','tool':'charge','args':{'cents':5},"
            + "'argsDigest':'e3b0',RERUN'since':'2026-11-24T12:00:00Z','evidence':'HTTP 504',"
            + "'fromFile':true,'mayHaveRun':true}";

    private static PendingItem stored(boolean rerun) throws Exception {
        return PayloadJson.MAPPER.readValue(json(rerun), PendingItem.class);
    }

    private static String json(boolean rerun) {
        return STORED.replace("RERUN", rerun ? "'rerun':true," : "").replace('\'', '"');
    }

    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void requestOfAState_readAndWritten_isUnchanged(boolean rerun) throws Exception {
        SubagentProgress progress = new SubagentProgress(true, List.of(stored(rerun)), Spent.NOTHING);

        JsonNode ask = PayloadJson.MAPPER.valueToTree(progress).get("asks").get(0);

        assertThat(ask.toString()).isEqualTo(json(rerun));
        assertThat(PayloadJson.MAPPER.treeToValue(ask, PendingItem.class)).isEqualTo(stored(rerun));
    }

    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void requestOfAThread_hasOutcomesInsteadOfTheFlag(boolean rerun) throws Exception {
        PendingItem shown = stored(rerun).in("trip");

        JsonNode answer = PayloadJson.MAPPER.valueToTree(shown);

        assertThat(answer.fieldNames())
                .toIterable()
                .containsExactlyElementsOf(List.of(("thread callId kind tool args argsDigest since evidence outcomes "
                                + (rerun ? "" : "whyNoRerun ") + "fromFile mayHaveRun")
                        .split(" ")));
        assertThat(answer.get("outcomes").toString())
                .isEqualTo(
                        rerun
                                ? "[\"done\",\"not-done\",\"rerun\",\"give-up\"]"
                                : "[\"done\",\"not-done\",\"give-up\"]");
        assertThat(PayloadJson.MAPPER.treeToValue(answer, PendingItem.class)).isEqualTo(shown);
        assertThat(shown.whyNoRerun().isEmpty()).isEqualTo(rerun);
    }
}
