package dev.waymark.langchain4j;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.langchain4j.agent.tool.P;
import dev.langchain4j.agent.tool.ToolMemoryId;
import dev.waymark.agent.ToolSpec;
import dev.waymark.conversation.value.Json;
import dev.waymark.tool.Tool;
import dev.waymark.tool.ToolArguments;
import dev.waymark.tool.ToolContext;
import java.io.IOException;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

class LangChainToolsTest {
    private static final ToolContext CALL = new ToolContext("thread", "tu_1", "book", "key");

    record Guest(String name, int age) {}

    static final class Bookings {
        @dev.langchain4j.agent.tool.Tool("Books a room")
        List<String> book(
                @P("Where to") String city,
                int nights,
                List<Guest> guests,
                @P(value = "", required = false) String note) {
            return List.of(city, String.valueOf(nights), guests.get(0).name(), String.valueOf(note));
        }

        @dev.langchain4j.agent.tool.Tool("Cancels")
        void cancel() throws IOException {
            throw new IOException("too late");
        }
    }

    static final class Remembering {
        @dev.langchain4j.agent.tool.Tool("Remembers")
        void remember(@ToolMemoryId String id) {}
    }

    @Test
    void of_annotatedMethods_areSideEffectingTools() throws Exception {
        List<Tool> tools = LangChainTools.of(new Bookings());

        assertThat(tools.stream().map(tool -> tool.spec().name())).containsExactly("book", "cancel");
        assertThat(tools).allMatch(tool -> tool.spec().hasEffect());
        Json arguments =
                Json.of(Map.of("city", "Oslo", "nights", 2, "guests", List.of(Map.of("name", "Ann", "age", 40))));
        assertThat(ToolArguments.schemaProblem(tools.get(0).spec().input())).isEmpty();
        assertThat(ToolArguments.problem(tools.get(0).spec().input(), arguments))
                .isEmpty();
        assertThat(ToolArguments.problem(tools.get(0).spec().input(), Json.EMPTY_OBJECT))
                .isPresent();
        assertThat(tools.get(0).run(arguments, CALL)).isEqualTo("[\"Oslo\",\"2\",\"Ann\",\"null\"]");
        assertThatThrownBy(() -> tools.get(1).run(Json.EMPTY_OBJECT, CALL))
                .isExactlyInstanceOf(IOException.class)
                .hasMessage("too late");
    }

    @Test
    void of_declaration_appliesToAll() {
        assertThat(LangChainTools.of(new Bookings(), ToolSpec.Builder::approved))
                .allMatch(tool -> tool.spec().approval());
    }

    @Test
    void of_whatCannotBeATool_saysWhy() {
        assertThatThrownBy(() -> LangChainTools.of("text"))
                .hasMessageContaining("has no method with LangChain4j's @Tool");
        assertThatThrownBy(() -> LangChainTools.of(new Remembering())).hasMessageContaining("takes a memory id");
    }
}
