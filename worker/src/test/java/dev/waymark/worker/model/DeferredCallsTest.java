package dev.waymark.worker.model;

import static org.assertj.core.api.Assertions.assertThat;

import dev.waymark.agent.AgentSpec;
import dev.waymark.agent.DeferredTools;
import dev.waymark.agent.ToolSpec;
import dev.waymark.contract.PayloadJson;
import dev.waymark.conversation.message.Message;
import dev.waymark.conversation.message.Part;
import dev.waymark.conversation.message.Reply;
import dev.waymark.conversation.value.Json;
import dev.waymark.worker.model.http.SentCall;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.junit.jupiter.api.Test;

/** Calls of deferred tools, as the thread records them and as the model is sent them. */
class DeferredCallsTest {
    private static final AgentSpec PLAIN = AgentSpec.of("a", "fake:any", tool("plain"));
    private static final AgentSpec AGENT = PLAIN.with()
            .deferred(DeferredTools.of(List.of(tool("pay"), tool("ask"))))
            .build();
    private static final Json ARGUMENTS = Json.of(Map.of("usd", 5));

    private static ToolSpec tool(String name) {
        return ToolSpec.command(name, "./run.sh").build();
    }

    private static Json input(Object... namesAndValues) {
        Map<String, Object> input = new LinkedHashMap<>();
        for (int i = 0; i < namesAndValues.length; i += 2) {
            input.put((String) namesAndValues[i], namesAndValues[i + 1]);
        }
        return Json.of(input);
    }

    private static Part.ToolUse use(Json input) {
        return new Part.ToolUse("tu_1", "use_tool", input);
    }

    private static Part.ToolUse unwrapped(Part.ToolUse use) {
        return DeferredCalls.unwrapped(Reply.of(use), AGENT).calls().get(0);
    }

    private static void assertSentAsItCame(Part.ToolUse use) {
        Reply reply = DeferredCalls.unwrapped(Reply.of(new Part.Text("Now."), use), AGENT);

        assertThat(DeferredCalls.wrapped(List.of(Message.user("Go"), reply.message()), AGENT)
                        .get(1)
                        .content())
                .containsExactly(new Part.Text("Now."), use);
    }

    @Test
    void call_isRecordedWithTheToolsOwnNameAndArguments_andSentAsItCame() {
        Part.ToolUse use = use(input("name", "pay", "arguments", ARGUMENTS));

        assertThat(unwrapped(use))
                .isEqualTo(new Part.ToolUse("tu_1", "pay", ARGUMENTS, Optional.of(Json.of(Map.of("use_tool", true)))));
        assertSentAsItCame(use);
    }

    @Test
    void call_inAnotherForm_isRecordedTheSame_andSentAsItCame() {
        for (Part.ToolUse use : List.of(
                use(input("arguments", ARGUMENTS, "name", "pay")),
                use(input("name", "pay", "arguments", "{\"usd\":5}")))) {
            assertThat(unwrapped(use)).returns("pay", Part.ToolUse::name).returns(ARGUMENTS, Part.ToolUse::input);
            assertSentAsItCame(use);
        }
        Part.ToolUse bare = use(input("name", "ask"));
        assertThat(unwrapped(bare).input()).isEqualTo(Json.EMPTY_OBJECT);
        assertSentAsItCame(bare);
    }

    /** OpenAI expects the arguments letter by letter, Anthropic its own fields. */
    @Test
    void whatTheServiceExpectsBack_isKept() {
        Part.ToolUse spelled = SentCall.read("tu_1", "use_tool", "{\"name\": \"pay\", \"arguments\": {\"usd\": 5.0}}");
        assertThat(spelled.sent()).isPresent();
        assertThat(unwrapped(spelled).input()).isEqualTo(Json.of(Map.of("usd", 5.0)));
        assertSentAsItCame(spelled);
        Part.ToolUse withFields = new Part.ToolUse(
                "tu_1",
                "use_tool",
                input("name", "pay", "arguments", ARGUMENTS),
                Optional.of(Json.of(Map.of("fields", Map.of("caller", "x")))));
        assertSentAsItCame(withFields);
    }

    @Test
    void call_thatNamesNoUsableTool_staysWithAFaultThatHelps() {
        assertThat(DeferredCalls.unwrapped(Reply.of(use(input("name", "pey", "arguments", ARGUMENTS))), AGENT)
                        .faultOf(0))
                .contains(
                        "there is no tool \"pey\". Look for it with find_tools, and use the name that its result has");
        for (String builtIn : List.of("use_tool", "find_tools")) {
            Reply nested = DeferredCalls.unwrapped(Reply.of(use(input("name", builtIn, "arguments", Map.of()))), AGENT);
            assertThat(nested.calls().get(0).name()).isEqualTo("use_tool");
            assertThat(nested.faultOf(0)).contains("call " + builtIn + " itself, not with use_tool");
        }
    }

    @Test
    void call_withoutAName_hasTheFaultOfItsSchema() throws Exception {
        Reply reply = Reply.of(
                use(input("tool", "pay")),
                use(input("name", "pay", "usd", 5)),
                use(input("name", "pay", "arguments", ARGUMENTS, "reason", "rent")));

        Reply examined = ModelPrompt.examined(reply, AGENT, Optional.empty());

        assertThat(examined.faults()).hasSize(3);
        assertThat(examined.content()).isEqualTo(reply.content());
    }

    @Test
    void fault_ofTheService_leavesTheCallAsItIs() {
        Reply reply = Reply.of(use(input("name", "pay")), new Part.ToolUse("tu_2", "pay", ARGUMENTS))
                .withFaults(List.of(new Reply.Fault(0, "cut")));

        assertThat(DeferredCalls.unwrapped(reply, AGENT)).isEqualTo(reply);
    }

    @Test
    void agentWithoutDeferredTools_neitherReadsNorWritesCallsOfThem() {
        Reply reply = Reply.of(use(input("name", "plain")));

        assertThat(DeferredCalls.unwrapped(reply, PLAIN)).isSameAs(reply);
        Message recorded = DeferredCalls.unwrapped(Reply.of(use(input("name", "pay"))), AGENT)
                .message();
        assertThat(DeferredCalls.wrapped(List.of(recorded), PLAIN)).containsExactly(recorded);
    }

    /** A file can say anything about what was sent. */
    @Test
    void sent_ofAFile_thatIsAnotherCall_isNotSent() {
        for (Object lie : List.of(input("name", "ask"), "text", 5, List.of())) {
            Part.ToolUse call =
                    new Part.ToolUse("tu_1", "pay", ARGUMENTS, Optional.of(Json.of(Map.of("use_tool", lie))));

            assertThat(DeferredCalls.wrapped(List.of(Reply.of(call).message()), AGENT)
                            .get(0)
                            .toolUses())
                    .containsExactly(use(input("name", "pay", "arguments", ARGUMENTS)));
        }
    }

    /** As deep as arguments may be. A reply that cannot be read again would block its thread. */
    @Test
    void deepestCall_inAnotherForm_canBeReadAgain() throws Exception {
        Object deep = 5;
        for (int i = 1; i < Json.MAX_DEPTH; i++) {
            deep = List.of(deep);
        }
        Part.ToolUse use = use(input("arguments", Map.of("deep", ((List<?>) deep).get(0)), "name", "pay"));

        Reply reply = DeferredCalls.unwrapped(Reply.of(use), AGENT);

        Reply read = PayloadJson.MAPPER.readValue(PayloadJson.MAPPER.writeValueAsString(reply), Reply.class);
        assertThat(read).isEqualTo(reply);
        assertThat(DeferredCalls.wrapped(List.of(read.message()), AGENT).get(0).toolUses())
                .extracting(Part.ToolUse::input)
                .containsExactly(use.input());
    }

    @Test
    void longNameOfNoTool_isNotRepeated() {
        Reply reply = DeferredCalls.unwrapped(Reply.of(use(input("name", "x".repeat(300_000)))), AGENT);

        assertThat(reply.faultOf(0).orElseThrow()).hasSizeLessThan(300).contains("truncated");
    }
}
