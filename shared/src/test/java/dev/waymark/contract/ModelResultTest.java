package dev.waymark.contract;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.core.JsonProcessingException;
import dev.waymark.agent.AgentSpec;
import dev.waymark.agent.ApprovalRule;
import dev.waymark.agent.ToolSpec;
import dev.waymark.contract.work.AgentPolicies;
import dev.waymark.contract.work.ModelInput;
import dev.waymark.contract.work.ModelResult;
import dev.waymark.contract.work.PartialReply;
import dev.waymark.contract.work.ToolOutcome;
import dev.waymark.conversation.message.Part;
import dev.waymark.conversation.message.Reply;
import dev.waymark.conversation.value.Json;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** The stored form of a reply with the outcomes of its calls. */
class ModelResultTest {
    private static final Reply REPLY = Reply.of(new Part.ToolUse("tu_1", "look", Json.EMPTY_OBJECT));

    private static String json(Object value) throws JsonProcessingException {
        return PayloadJson.MAPPER.writeValueAsString(value);
    }

    @Test
    void replyWithoutOutcomes_isStoredLikeAReplyAlone() throws Exception {
        assertThat(json(ModelResult.of(REPLY))).isEqualTo(json(REPLY));
        assertThat(PayloadJson.MAPPER.readValue(json(REPLY), ModelResult.class)).isEqualTo(ModelResult.of(REPLY));
    }

    @Test
    void outcomes_areStoredBesideTheReply() throws Exception {
        ModelResult result = new ModelResult(REPLY, List.of(new ModelResult.Ran("tu_1", ToolOutcome.result("red"))));

        assertThat(json(result)).endsWith(",\"ran\":[{\"callId\":\"tu_1\",\"outcome\":{\"result\":\"red\"}}]}");
        assertThat(PayloadJson.MAPPER.readValue(json(result), ModelResult.class))
                .isEqualTo(result);
        // An earlier release, which never requests outcomes, would read only the reply.
        assertThat(PayloadJson.MAPPER.readValue(json(result), Reply.class)).isEqualTo(REPLY);
    }

    @ParameterizedTest
    @ValueSource(strings = {"", ",\"ran\":null", ",\"ran\":[],\"later\":{\"a\":1}"})
    void resultWithoutOutcomes_isAReply(String rest) throws Exception {
        String stored = json(REPLY).replaceAll("}$", rest + "}");

        assertThat(PayloadJson.MAPPER.readValue(stored, ModelResult.class)).isEqualTo(ModelResult.of(REPLY));
    }

    @Test
    void inputWithoutFuse_isStoredAsBefore() throws Exception {
        ModelInput plain = new ModelInput(1, 2, "d", false);
        ModelInput fused = new ModelInput(1, 2, "d", false, Optional.empty(), true, Optional.empty());

        assertThat(json(plain)).doesNotContain("fuse");
        assertThat(PayloadJson.MAPPER.readValue(json(plain).replace("}", ",\"fuse\":null}"), ModelInput.class))
                .isEqualTo(plain);
        assertThat(PayloadJson.MAPPER.readValue(json(fused), ModelInput.class)).isEqualTo(fused);
    }

    @Test
    void savedReply_isFoundOnlyForItsCall() throws Exception {
        ModelInput call = new ModelInput(1, 2, "d", false);
        PartialReply.SavedReply saved = new PartialReply.SavedReply("run-1", "d", REPLY);
        PartialReply details = new PartialReply(
                1,
                1,
                0,
                "",
                Optional.empty(),
                Optional.empty(),
                List.of(),
                List.of(),
                List.of(),
                Optional.of(saved),
                Optional.empty(),
                List.of(),
                Optional.of(Instant.EPOCH));

        assertThat(PayloadJson.MAPPER.readValue(json(details), PartialReply.class))
                .isEqualTo(details);
        assertThat(saved.isFor("run-1", call)).isTrue();
        assertThat(saved.isFor("run-2", call)).isFalse();
        assertThat(saved.isFor("run-1", new ModelInput(1, 2, "other", false))).isFalse();
    }

    @Test
    void agent_fusesByDefault_ifItHasASafeTool() throws Exception {
        ToolSpec look = ToolSpec.java("look").safeToRetry().build();
        ToolSpec pay = ToolSpec.java("pay").build();
        ToolSpec approved = look.with().approval().build();

        assertThat(AgentPolicies.fusesSteps(AgentSpec.of("a", "m:m", look, pay)))
                .isTrue();
        assertThat(AgentPolicies.fusesSteps(AgentSpec.of("a", "m:m", pay, approved)))
                .isFalse();
        ToolSpec ruled =
                look.with().rules(List.of(ApprovalRule.allow("It only looks."))).build();
        assertThat(AgentPolicies.fusesSteps(AgentSpec.of("a", "m:m", ruled))).isTrue();
        AgentSpec off =
                AgentSpec.of("a", "m:m", look).with().fuse(Duration.ZERO).build();
        assertThat(AgentPolicies.fusesSteps(off)).isFalse();
        assertThat(PayloadJson.MAPPER.readValue(json(off), AgentSpec.class)).isEqualTo(off);
        assertThat(json(AgentSpec.of("a", "m:m", look))).doesNotContain("fuse");
    }
}
