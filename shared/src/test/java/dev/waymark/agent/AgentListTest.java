package dev.waymark.agent;

import static org.assertj.core.api.Assertions.assertThat;

import dev.waymark.contract.PayloadJson;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.Test;

class AgentListTest {
    private static final AgentSpec BOSS =
            AgentSpec.of("boss", "openai:gpt", ToolSpec.subagent("clerk", "Does the work"));
    private static final AgentSpec CLERK = AgentSpec.of("clerk", "scripted:clerk");

    @Test
    void agentList_showsWhatAgentsLack_andWhichAreSubagents() {
        AgentList list = AgentList.of(
                List.of(BOSS, CLERK),
                agent -> Optional.of("OPENAI_API_KEY is not set").filter(words -> agent.equals(BOSS)));

        assertThat(list.agents())
                .containsExactly(
                        new AgentList.Entry("boss", Optional.empty(), Optional.of("OPENAI_API_KEY is not set"), false),
                        new AgentList.Entry("clerk", Optional.empty(), Optional.empty(), true));
    }

    @Test
    void entryOfAnotherRelease_isRead() throws Exception {
        AgentList.Entry plain = new AgentList.Entry("clerk", Optional.empty(), Optional.empty(), false);

        for (String json : List.of(
                "{'name':'clerk'}",
                "{'name':'clerk','description':null,'lacks':null,'subagent':null}",
                "{'name':'clerk','later':{'field':1}}")) {
            assertThat(PayloadJson.MAPPER.readValue(json.replace('\'', '"'), AgentList.Entry.class))
                    .as(json)
                    .isEqualTo(plain);
        }
        assertThat(PayloadJson.MAPPER.valueToTree(plain).has("subagent")).isFalse();
    }
}
