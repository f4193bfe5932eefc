package dev.waymark.springai;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.waymark.agent.ToolSpec;
import dev.waymark.conversation.value.Json;
import dev.waymark.tool.ToolArguments;
import dev.waymark.tool.ToolContext;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.springframework.ai.support.ToolCallbacks;
import org.springframework.ai.tool.annotation.Tool;
import org.springframework.ai.tool.annotation.ToolParam;

class SpringAiToolsTest {
    private static final ToolContext CALL = new ToolContext("trip", "tu_1", "book", "key-1");

    record Guest(String name, int age) {}

    static final class Bookings {
        @Tool(description = "Books a room")
        String book(
                @ToolParam(description = "Where to") String city,
                int nights,
                List<Guest> guests,
                @ToolParam(required = false) String note,
                org.springframework.ai.chat.model.ToolContext context) {
            return String.join(
                    ",",
                    city,
                    String.valueOf(nights),
                    guests.get(0).name(),
                    String.valueOf(note),
                    String.valueOf(context.getContext().get("idempotencyKey")),
                    String.valueOf(context.getContext().get("thread")));
        }

        @Tool(description = "Cancels")
        void cancel() {
            throw new IllegalStateException("too late");
        }
    }

    private static dev.waymark.tool.Tool tool(String name) {
        return SpringAiTools.of(ToolCallbacks.from(new Bookings())).stream()
                .filter(tool -> tool.spec().name().equals(name))
                .findFirst()
                .orElseThrow();
    }

    @Test
    void of_callback_isASideEffectingTool() throws Exception {
        dev.waymark.tool.Tool book = tool("book");
        Json arguments =
                Json.of(Map.of("city", "Oslo", "nights", 2, "guests", List.of(Map.of("name", "Ann", "age", 40))));

        assertThat(book.spec().hasEffect()).isTrue();
        assertThat(book.spec().description()).isEqualTo("Books a room");
        assertThat(ToolArguments.schemaProblem(book.spec().input())).isEmpty();
        assertThat(ToolArguments.problem(book.spec().input(), arguments)).isEmpty();
        assertThat(ToolArguments.problem(book.spec().input(), Json.EMPTY_OBJECT))
                .isPresent();
        assertThat(book.run(arguments, CALL)).isEqualTo("\"Oslo,2,Ann,null,key-1,trip\"");
    }

    @Test
    void run_failingMethod_failsWithItsException() {
        assertThatThrownBy(() -> tool("cancel").run(Json.EMPTY_OBJECT, CALL))
                .isExactlyInstanceOf(IllegalStateException.class)
                .hasMessage("too late");
    }

    static final class Payments {
        private int paid;

        @Tool(description = "Pays")
        List<Object> pay(int cents) {
            paid += cents;
            List<Object> receipt = new ArrayList<>();
            receipt.add(receipt);
            return receipt;
        }
    }

    @Test
    void run_unserializableResult_isDone() throws Exception {
        Payments payments = new Payments();
        dev.waymark.tool.Tool pay =
                SpringAiTools.of(ToolCallbacks.from(payments)).get(0);

        assertThat(pay.run(Json.of(Map.of("cents", 50)), CALL)).startsWith("Done. The tool pay has run");
        assertThat(payments.paid).isEqualTo(50);
        assertThat(ToolArguments.problem(pay.spec().input(), Json.of(Map.of("cents", 50, "to", "ann"))))
                .isPresent();
    }

    @Test
    void of_declaration_appliesToAll() {
        assertThat(SpringAiTools.of(ToolCallbacks.from(new Bookings()), ToolSpec.Builder::approval))
                .hasSize(2)
                .allMatch(tool -> tool.spec().approval());
    }
}
