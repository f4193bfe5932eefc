package dev.waymark.worker.workflow;

import static org.assertj.core.api.Assertions.assertThat;

import dev.waymark.agent.ApprovalRule;
import dev.waymark.agent.ToolSpec;
import dev.waymark.contract.WireNames;
import dev.waymark.contract.thread.StartInput;
import dev.waymark.conversation.Conversation;
import dev.waymark.conversation.call.Call;
import dev.waymark.conversation.fact.PersonFact;
import dev.waymark.conversation.fact.SignalNames;
import dev.waymark.conversation.message.Message;
import dev.waymark.conversation.message.Part;
import dev.waymark.conversation.message.Reply;
import dev.waymark.conversation.value.CallVerdict;
import dev.waymark.conversation.value.Json;
import dev.waymark.model.ModelProvider;
import dev.waymark.tool.Tool;
import dev.waymark.tool.ToolContext;
import io.temporal.api.history.v1.ActivityTaskScheduledEventAttributes;
import io.temporal.api.history.v1.HistoryEvent;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

/** Threads of an agent whose tool has rules. */
class ApprovalByRuleTest {
    /** Refunds that are small run, huge ones never do, and others wait for a person. */
    static Tool refund() {
        Json small = Json.of(Map.of("properties", Map.of("usd", Map.of("maximum", 50))));
        Json huge = Json.of(Map.of("properties", Map.of("usd", Map.of("minimum", 1000))));
        ToolSpec spec = ToolSpec.java("refund")
                .rules(List.of(
                        ApprovalRule.deny("only three").requestedOver(3),
                        ApprovalRule.allow("small").when(small),
                        ApprovalRule.deny("too much").when(huge)))
                .build();
        return refund(spec);
    }

    static Tool refund(ToolSpec spec) {
        return new Tool() {
            @Override
            public ToolSpec spec() {
                return spec;
            }

            @Override
            public String run(Json args, ToolContext context) {
                return "refunded " + args.field("usd");
            }
        };
    }

    /** Requests a refund of each number of dollars in the first message, all at once. */
    static ModelProvider refunding() {
        return request -> {
            List<Message> messages = request.messages();
            if (!messages.get(messages.size() - 1).toolResults().isEmpty()) {
                return Reply.of(new Part.Text("Done"));
            }
            String[] amounts = messages.get(messages.size() - 1).text().split(" ");
            Part[] calls = new Part[amounts.length];
            for (int i = 0; i < amounts.length; i++) {
                calls[i] = new Part.ToolUse(
                        "tu_" + (i + 1), "refund", Json.of(Map.of("usd", Integer.valueOf(amounts[i]))));
            }
            return Reply.of(calls);
        };
    }

    static WorkflowRig rig() {
        return new WorkflowRig(TestServers.inMemory(), refunding(), refund());
    }

    static String start(WorkflowRig rig, String amounts) {
        return rig.start(StartInput.of("a").saying(PersonFact.UserSpoke.message("m-1", amounts)));
    }

    private static Call call(Conversation state, String id) {
        return state.calls().get(id).orElseThrow();
    }

    private static List<ActivityTaskScheduledEventAttributes> judged(WorkflowRig rig, String thread) {
        return rig.client().fetchHistory(thread, rig.timeline(thread).runId()).getEvents().stream()
                .filter(HistoryEvent::hasActivityTaskScheduledEventAttributes)
                .map(HistoryEvent::getActivityTaskScheduledEventAttributes)
                .filter(scheduled -> scheduled.getActivityType().getName().equals(WireNames.JUDGE_ACTIVITY))
                .toList();
    }

    @Test
    void callsOfAReply_followTheRulesWithoutSeparateEvents() throws Exception {
        try (WorkflowRig rig = rig()) {
            String thread = start(rig, "7 1000 8 9");
            rig.awaitTurn(thread, 1);

            Conversation state = rig.timeline(thread).now();
            assertThat(call(state, "tu_1").status()).isEqualTo(Call.Status.COMPLETED);
            assertThat(call(state, "tu_2").verdict().orElseThrow().rule()).contains(3);
            assertThat(call(state, "tu_2").status()).isEqualTo(Call.Status.DENIED);
            assertThat(call(state, "tu_3").verdict().orElseThrow().then()).isEqualTo(CallVerdict.Then.ALLOW);
            assertThat(call(state, "tu_4").verdict().orElseThrow().words())
                    .isEqualTo("denied by rule 1: only three {\"requested\": 4}");
            assertThat(judged(rig, thread)).isEmpty();
        }
    }

    @Test
    void editedCalls_areJudgedInAnActivityAndDenyWins() throws Exception {
        try (WorkflowRig rig = rig()) {
            String thread = start(rig, "100 200");
            rig.await(thread, now -> now.asks().size() == 2);

            rig.update(thread, SignalNames.APPROVE, Map.of("callId", "tu_1", "args", Map.of("usd", 2000), "by", "ann"));
            rig.update(thread, SignalNames.APPROVE, Map.of("callId", "tu_2", "args", Map.of("usd", 300), "by", "ann"));
            rig.awaitTurn(thread, 1);

            Conversation state = rig.timeline(thread).now();
            assertThat(call(state, "tu_1").status()).isEqualTo(Call.Status.DENIED);
            assertThat(call(state, "tu_1").approval().orElseThrow().approved()).isTrue();
            assertThat(call(state, "tu_2").status()).isEqualTo(Call.Status.COMPLETED);
            assertThat(call(state, "tu_2").args()).isEqualTo(Json.of(Map.of("usd", 300)));
            assertThat(call(state, "tu_2").verdict().orElseThrow().looked()).contains(Json.of(Map.of("requested", 2)));
            assertThat(judged(rig, thread))
                    .hasSize(2)
                    .allMatch(scheduled -> scheduled.getHeartbeatTimeout().getSeconds() == 5);
        }
    }
}
