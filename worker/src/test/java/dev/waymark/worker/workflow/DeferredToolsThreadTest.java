package dev.waymark.worker.workflow;

import static org.assertj.core.api.Assertions.assertThat;

import dev.waymark.agent.DeferredTools;
import dev.waymark.connect.Connection;
import dev.waymark.contract.thread.StartInput;
import dev.waymark.conversation.Conversation;
import dev.waymark.conversation.call.Call;
import dev.waymark.conversation.fact.PersonFact;
import dev.waymark.conversation.fact.SignalNames;
import dev.waymark.conversation.message.Part;
import dev.waymark.conversation.message.Reply;
import dev.waymark.conversation.value.Json;
import dev.waymark.model.ModelProvider;
import dev.waymark.model.ModelRequest;
import dev.waymark.tool.JavaTool;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CopyOnWriteArrayList;
import org.junit.jupiter.api.Test;

/** Deferred tools in threads that are replayed from the start in every workflow task. */
class DeferredToolsThreadTest {
    static final Part.ToolUse FIND = new Part.ToolUse("tu_1", "find_tools", Json.of(Map.of("query", "charge a card")));
    static final Part.ToolUse USE = used("tu_2", "charge_card", Map.of("cents", 5));
    private static final Part.ToolUse NESTED = used("tu_3", "use_tool", Map.of());
    private static final Part.ToolUse DIRECT = new Part.ToolUse("tu_4", "charge_card", Json.of(Map.of("cents", 7)));

    private static Part.ToolUse used(String id, String tool, Map<String, Object> arguments) {
        Map<String, Object> input = new LinkedHashMap<>();
        input.put("name", tool);
        input.put("arguments", arguments);
        return new Part.ToolUse(id, "use_tool", Json.of(input));
    }

    /** Finds a tool, uses it, makes a mistake, calls it by its own name, and ends. */
    static ModelProvider using(List<ModelRequest> requests) {
        return request -> {
            requests.add(request);
            int results = request.messages().stream()
                    .mapToInt(message -> message.toolResults().size())
                    .sum();
            return switch (results) {
                case 0 -> Reply.of(FIND);
                case 1 -> Reply.of(USE, NESTED);
                case 3 -> Reply.of(DIRECT);
                default -> Reply.of(new Part.Text("Charged."));
            };
        };
    }

    static WorkflowRig rig(Connection server, ModelProvider model, JavaTool<?> charge) {
        return new WorkflowRig(server, model, charge)
                .with(agent -> agent.tools(List.of()).deferred(DeferredTools.of(List.of(charge.spec()))));
    }

    private static Call call(Conversation state, String id) {
        return state.calls().get(id).orElseThrow();
    }

    @Test
    void calls_haveTheToolsOwnNameInTheState_andAreSentAsTheyCame() {
        List<Integer> ledger = new CopyOnWriteArrayList<>();
        List<ModelRequest> requests = new CopyOnWriteArrayList<>();
        try (WorkflowRig rig = rig(
                TestServers.inMemory(),
                using(requests),
                ToolProtocolCases.charging(ledger).approval())) {
            String thread = rig.start(StartInput.of("a").saying(PersonFact.UserSpoke.message("m-1", "Charge")));
            rig.await(thread, now -> now.asks().size() == 1);
            Conversation waiting = rig.timeline(thread).now();
            assertThat(waiting.asks().get(0).tool()).isEqualTo("charge_card");
            assertThat(call(waiting, "tu_2").args()).isEqualTo(Json.of(Map.of("cents", 5)));
            assertThat(call(waiting, "tu_3").status()).isEqualTo(Call.Status.FAILED);
            rig.update(
                    thread,
                    SignalNames.APPROVE,
                    Map.of("callId", "tu_2", "by", "ann", "grant", Map.of("anyArgs", true)));
            rig.awaitTurn(thread, 1);
        }

        // The grant covers the call by the tool's own name.
        assertThat(ledger).containsExactly(5, 7);
        assertThat(requests.get(3).messages().stream().flatMap(message -> message.toolUses().stream()))
                .containsExactly(FIND, USE, NESTED, DIRECT);
        for (int i = 1; i < requests.size(); i++) {
            List<?> before = requests.get(i - 1).messages();
            assertThat(requests.get(i).messages().subList(0, before.size())).isEqualTo(before);
        }
    }

    @Test
    void nextRun_hasTheDeferredTools() {
        List<Integer> ledger = new CopyOnWriteArrayList<>();
        List<ModelRequest> requests = new CopyOnWriteArrayList<>();
        try (WorkflowRig rig = rig(TestServers.inMemory(), using(requests), ToolProtocolCases.charging(ledger))) {
            String thread =
                    rig.start(ContinueAsNewCases.movingOnAt(12).saying(PersonFact.UserSpoke.message("m-1", "Charge")));
            rig.awaitTurn(thread, 1);
            assertThat(ContinueAsNewCases.runs(rig.timeline(thread))).hasSizeGreaterThan(1);
        }

        assertThat(ledger).containsExactly(5, 7);
        assertThat(requests.stream().map(ModelRequest::tools).distinct()).hasSize(1);
        assertThat(new ArrayList<>(requests.get(3).messages().get(3).toolUses()))
                .containsExactly(USE, NESTED);
    }
}
