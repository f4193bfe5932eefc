package dev.waymark.contract;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.waymark.contract.message.ClaimRequest;
import dev.waymark.contract.work.AgentInput;
import dev.waymark.contract.work.ToolOutcome;
import dev.waymark.contract.work.VerifyInput;
import dev.waymark.conversation.fact.ToolFact;
import dev.waymark.conversation.state.UnknownRulesException;
import dev.waymark.conversation.value.Json;
import dev.waymark.conversation.value.Problem;
import dev.waymark.conversation.value.ProblemType;
import java.util.Optional;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** The JSON forms of messages between a workflow and its activities. */
class ToolFormsTest {
    private static final String EXECUTION = "0196f4a2-5b7c-7d10-8a53-0f6c1f0f7a11/1/1b9d6bcd";

    @Test
    void toolOutcome_ofEachKind_hasItsFact() {
        assertThat(ToolOutcome.result("5").toFact("a", 2))
                .isEqualTo(new ToolFact.ToolFinished("a", 2, "5", false, false));
        assertThat(ToolOutcome.error("no").toFact("a", 2))
                .isEqualTo(new ToolFact.ToolFinished("a", 2, "no", true, false));
        assertThat(ToolOutcome.notDone("no").toFact("a", 2))
                .isEqualTo(new ToolFact.ToolFinished("a", 2, "no", true, true));
        assertThat(ToolOutcome.unknown("HTTP 504").toFact("a", 2))
                .isEqualTo(new ToolFact.ToolLost("a", 2, new Problem(ProblemType.OUTCOME_UNKNOWN, "HTTP 504")));
    }

    @Test
    void toolOutcome_unknownOfASafeTool_isAnError() {
        assertThat(ToolOutcome.unknown("HTTP 504").ofSafeTool()).isEqualTo(ToolOutcome.error("Tool error: HTTP 504"));
        assertThat(ToolOutcome.result("5").ofSafeTool()).isEqualTo(ToolOutcome.result("5"));
    }

    @Test
    void toolOutcome_absentFields_areNotWritten() throws Exception {
        assertThat(written(ToolOutcome.error("no"))).isEqualTo("{\"error\":\"no\"}");
        assertThat(written(ToolOutcome.notDone("no"))).isEqualTo("{\"error\":\"no\",\"notDone\":true}");
        assertThat(written(ToolOutcome.unknown("HTTP 504"))).isEqualTo("{\"lost\":\"HTTP 504\"}");
    }

    @ParameterizedTest
    @ValueSource(
            strings = {"{\"error\":\"no\"}", "{\"error\":\"no\",\"notDone\":null}", "{\"error\":\"no\",\"later\":1}"})
    void toolOutcome_inOtherForms_isRead(String json) throws Exception {
        assertThat(read(json, ToolOutcome.class)).isEqualTo(ToolOutcome.error("no"));
    }

    @ParameterizedTest
    @ValueSource(
            strings = {"{\"granted\":true}", "{\"granted\":true,\"token\":null}", "{\"granted\":true,\"later\":1}"})
    void claimAnswer_inOtherForms_isRead(String json) throws Exception {
        assertThat(read(json, ClaimRequest.Answer.class)).isEqualTo(new ClaimRequest.Answer(true, 0));
        assertThat(written(new ClaimRequest.Answer(true, 0))).isEqualTo("{\"granted\":true}");
    }

    @ParameterizedTest
    @ValueSource(strings = {"{\"agent\":\"a\"}", "{\"agent\":\"a\",\"rules\":null}", "{\"agent\":\"a\",\"later\":1}"})
    void agentInput_withoutRules_hasUnknownRules(String json) throws Exception {
        AgentInput input = read(json, AgentInput.class);

        assertThat(input).isEqualTo(new AgentInput("a", 0));
        assertThatThrownBy(() -> UnknownRulesException.unlessKnown(input.rules()))
                .isInstanceOf(UnknownRulesException.class);
    }

    @Test
    void agentInput_namesTheRules() throws Exception {
        assertThat(written(new AgentInput("a", 4))).isEqualTo("{\"agent\":\"a\",\"rules\":4}");
        assertThat(read("{\"agent\":\"a\",\"rules\":4,\"later\":1}", AgentInput.class))
                .isEqualTo(new AgentInput("a", 4));
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "{\"callId\":\"a\",\"dispatch\":1,\"tool\":\"t\",\"args\":{}}",
                "{\"callId\":\"a\",\"dispatch\":1,\"tool\":\"t\",\"args\":{},\"token\":null}",
                "{\"callId\":\"a\",\"dispatch\":1,\"tool\":\"t\",\"args\":{},\"later\":1}"
            })
    void verifyInput_inOtherForms_isRead(String json) throws Exception {
        VerifyInput input = new VerifyInput("a", 1, "t", Json.EMPTY_OBJECT, 0, 0, Optional.empty());
        assertThat(read(json, VerifyInput.class)).isEqualTo(input);
        assertThat(written(input)).isEqualTo("{\"callId\":\"a\",\"dispatch\":1,\"tool\":\"t\",\"args\":{}}");
    }

    /** The servers' databases accept no NUL character, and no update id of more than 255 bytes. */
    @ParameterizedTest
    @ValueSource(strings = {"a\u0000b", "漢", "a b", "", "\u007f", "a123456789012345678901234567890123456789"})
    void claim_ofAnUnusualCallId_hasAPlainUpdateId(String callId) {
        ClaimRequest claim = new ClaimRequest(callId, 1, "charge", "d1", 0, EXECUTION);

        assertThat(claim.updateId()).matches("claim/[0-9a-f]{64}/1/" + EXECUTION);
    }

    @Test
    void claim_ofAPlainCallId_containsItInItsUpdateId() {
        assertThat(new ClaimRequest("tu_7~2", 3, "charge", "d1", 0, EXECUTION).updateId())
                .isEqualTo("claim/tu_7~2/3/" + EXECUTION);
    }

    private static String written(Object value) throws Exception {
        return PayloadJson.MAPPER.writeValueAsString(value);
    }

    private static <T> T read(String json, Class<T> type) throws Exception {
        return PayloadJson.MAPPER.readValue(json, type);
    }
}
