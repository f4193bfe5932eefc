package example;

import static dev.waymark.client.AgentResult.assertComplete;
import static org.assertj.core.api.Assertions.assertThat;

import dev.waymark.client.AgentClient;
import dev.waymark.conversation.message.Part;
import dev.waymark.conversation.message.Reply;
import dev.waymark.conversation.value.Json;
import dev.waymark.model.ModelProvider;
import dev.waymark.spring.test.OnInMemoryServer;
import dev.waymark.testkit.ScriptedModel;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.springframework.beans.factory.annotation.Autowired;
import org.springframework.boot.test.context.SpringBootTest;
import org.springframework.boot.test.context.TestConfiguration;
import org.springframework.context.annotation.Bean;

@SpringBootTest(properties = "spring.datasource.url=jdbc:h2:mem:test")
@OnInMemoryServer
class BookingTest {
    @Autowired
    AgentClient client;

    @Autowired
    Bookings bookings;

    @TestConfiguration
    static class Model {
        /** Replaces the real provider, because the bean has the provider's name. */
        @Bean
        ModelProvider anthropic() {
            return ScriptedModel.of(
                    Reply.of(new Part.ToolUse("tu_1", "book", Json.of(Map.of("guest", "Ann", "date", "2026-12-24")))),
                    Reply.of(new Part.Text("See you on Christmas Eve.")));
        }
    }

    @Test
    void guestWhoAsks_isBooked() {
        assertThat(assertComplete(client.prompt("host", "A table for Ann on Christmas Eve, please")
                                .await())
                        .text())
                .isEqualTo("See you on Christmas Eve.");
        assertThat(bookings.guests(new Bookings.Visit("2026-12-24"))).containsExactly("Ann");
    }
}
