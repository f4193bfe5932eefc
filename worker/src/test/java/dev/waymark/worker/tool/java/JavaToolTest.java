package dev.waymark.worker.tool.java;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.fasterxml.jackson.annotation.JsonProperty;
import com.fasterxml.jackson.annotation.JsonPropertyDescription;
import dev.waymark.agent.ToolSpec;
import dev.waymark.contract.PayloadJson;
import dev.waymark.conversation.value.Json;
import dev.waymark.tool.JavaTool;
import dev.waymark.tool.ToolArguments;
import dev.waymark.tool.ToolContext;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.junit.jupiter.api.Test;

class JavaToolTest {

    private static final ToolContext CONTEXT = new ToolContext("thread", "tu_1", "book", "key");

    enum Meal {
        @JsonProperty("half board")
        HALF_BOARD,
        NONE
    }

    record Guest(String name, int age) {}

    record Booking(
            @JsonPropertyDescription("Where to") String city,
            @JsonProperty("room_count") int rooms,
            double price,
            boolean refundable,
            Meal meal,
            List<Guest> guests,
            Map<String, String> notes,
            Optional<Integer> nights,
            Json extra) {}

    record Unknown(Object anything) {}

    @Test
    void of_record_derivesTheSchema() throws Exception {
        Json schema = Json.of(PayloadJson.MAPPER.readValue("""
                {"type":"object","properties":{
                  "city":{"type":"string","description":"Where to"},
                  "room_count":{"type":"integer","minimum":-2147483648,"maximum":2147483647},
                  "price":{"type":"number"},
                  "refundable":{"type":"boolean"},
                  "meal":{"type":"string","enum":["half board","NONE"]},
                  "guests":{"type":"array","items":{"type":"object",
                    "properties":{"name":{"type":"string"},
                      "age":{"type":"integer","minimum":-2147483648,"maximum":2147483647}},
                    "required":["name","age"],"additionalProperties":false}},
                  "notes":{"type":"object","additionalProperties":{"type":"string"}},
                  "nights":{"anyOf":[
                    {"type":"integer","minimum":-2147483648,"maximum":2147483647},{"type":"null"}]},
                  "extra":{}},
                 "required":["city","room_count","price","refundable","meal","guests","notes","extra"],
                 "additionalProperties":false}
                """, Object.class));
        ToolSpec expected = ToolSpec.java("book")
                .describedAs("Books a room", schema)
                .safeToRetry()
                .timeout(Duration.ofSeconds(5))
                .build();
        JavaTool<Booking> tool = JavaTool.of("book", "Books a room", Booking.class, (args, context) -> "Booked")
                .safeToRetry()
                .timeout(Duration.ofSeconds(5));
        assertThat(tool.spec()).isEqualTo(expected);
        assertThat(ToolArguments.schemaProblem(schema)).isEmpty();
    }

    @Test
    void of_byDefault_isSideEffecting() {
        assertThat(JavaTool.of("greet", "Greets", Guest.class, (args, context) -> "")
                        .spec())
                .returns(true, ToolSpec::hasEffect)
                .returns(ToolSpec.DEFAULT_TIMEOUT, ToolSpec::timeout);
    }

    @Test
    void of_componentWithoutSchema_throws() {
        assertThatThrownBy(() -> JavaTool.of("x", "Fails", Unknown.class, (args, context) -> ""))
                .hasMessage("no JSON schema for Unknown.anything: java.lang.Object");
    }

    @Test
    void run_arguments_becomeTheRecord() throws Exception {
        JavaTool<Booking> tool =
                JavaTool.of("book", "Books", Booking.class, (args, context) -> args + " by " + context);
        Json args = Json.of(PayloadJson.MAPPER.readValue("""
                {"city":"Ulm","room_count":2,"price":3,"refundable":true,"meal":"half board",
                 "guests":[{"name":"Ada","age":36}],"notes":{"a":"b"},"extra":[1]}
                """, Object.class));
        Booking expected = new Booking(
                "Ulm",
                2,
                3.0,
                true,
                Meal.HALF_BOARD,
                List.of(new Guest("Ada", 36)),
                Map.of("a", "b"),
                Optional.empty(),
                Json.of(List.of(1)));
        assertThat(tool.run(args, CONTEXT)).isEqualTo(expected + " by " + CONTEXT);
    }

    @Test
    void registry_nameTakenOrTwice_throws() {
        for (String name : List.of("model", "ask_user", "files")) {
            JavaTool<Guest> tool = JavaTool.of(name, "Greets", Guest.class, (args, context) -> "");
            assertThatThrownBy(() -> JavaTools.of(tool)).hasMessage("this name is reserved: " + name);
        }
        JavaTool<Guest> greet = JavaTool.of("greet", "Greets", Guest.class, (args, context) -> "");
        assertThatThrownBy(() -> JavaTools.of(greet, greet)).hasMessage("duplicate tool name: greet");
    }

    @Test
    void of_unusableTool_namesTheRule() {
        for (String name : List.of("a b", "")) {
            assertThatThrownBy(() -> JavaTool.of(name, "Greets", Guest.class, (args, context) -> ""))
                    .hasMessage("tool: a name has 1 to 64 characters A-Z a-z 0-9 _ -, found \"" + name + "\"");
        }
        assertThatThrownBy(() -> JavaTool.of("greet", " ", Guest.class, (args, context) -> ""))
                .hasMessage("tool greet: the description is empty. Tell the model what the tool does");
        JavaTool<Guest> greet = JavaTool.of("greet", "Greets", Guest.class, (args, context) -> "");
        assertThatThrownBy(() -> greet.timeout(Duration.ZERO))
                .hasMessage("tool greet: the timeout must be longer than 0, found 0s");
    }

    @Test
    void registry_tools_areFoundInOrder() {
        JavaTool<Guest> b = JavaTool.of("b", "Second", Guest.class, (args, context) -> "");
        JavaTool<Guest> a = JavaTool.of("a", "First", Guest.class, (args, context) -> "");
        JavaTools tools = JavaTools.of(b, a);
        assertThat(tools.names()).containsExactly("b", "a");
        assertThat(tools.find("a")).contains(a);
        assertThat(tools.find("c")).isEmpty();
    }
}
