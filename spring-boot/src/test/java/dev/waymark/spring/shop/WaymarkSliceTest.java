package dev.waymark.spring.shop;

import static dev.waymark.client.AgentResult.assertComplete;
import static org.assertj.core.api.Assertions.assertThat;

import dev.waymark.client.AgentClient;
import dev.waymark.client.request.Prompt;
import dev.waymark.connect.Connection;
import dev.waymark.conversation.message.Part;
import dev.waymark.conversation.message.Reply;
import dev.waymark.conversation.value.Json;
import dev.waymark.model.ModelProvider;
import dev.waymark.spring.test.WaymarkTest;
import dev.waymark.testkit.ScriptedModel;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.springframework.beans.factory.annotation.Autowired;
import org.springframework.boot.test.context.TestConfiguration;
import org.springframework.context.ApplicationContext;
import org.springframework.context.annotation.Bean;

@WaymarkTest
class WaymarkSliceTest {
    @Autowired
    private AgentClient client;

    @Autowired
    private Orders orders;

    @Autowired
    private ApplicationContext context;

    @TestConfiguration
    static class Model {
        @Bean
        ModelProvider shelf() {
            return ScriptedModel.of(
                    Reply.of(new Part.ToolUse("tu_1", "order", Json.of(Map.of("item", "lamp")))),
                    Reply.of(new Part.Text("It is on its way.")));
        }
    }

    @Test
    void agentOfTheApplication_answersOnTheInMemoryServer() {
        assertThat(context.getBean(Connection.class).isInMemory()).isTrue();

        Prompt prompt = Prompt.of("clerk", "A lamp").withThread("ann");
        assertThat(assertComplete(client.run(prompt).await()).text()).isEqualTo("It is on its way.");
        assertThat(orders.placed()).containsExactly("lamp");
    }

    @Test
    void restOfTheApplication_isLeftOut() {
        assertThat(context.getBeanNamesForType(Warehouse.class)).isEmpty();
    }
}
