package dev.waymark.worker.workflow;

import static org.assertj.core.api.Assertions.assertThat;

import dev.waymark.connect.Connection;
import dev.waymark.contract.thread.StartInput;
import dev.waymark.conversation.Conversation;
import dev.waymark.conversation.call.Call;
import dev.waymark.conversation.call.Grant;
import dev.waymark.conversation.decision.PendingItem;
import dev.waymark.conversation.fact.PersonFact;
import dev.waymark.conversation.fact.SignalNames;
import dev.waymark.conversation.message.Part;
import dev.waymark.conversation.value.Json;
import dev.waymark.tool.JavaTool;
import dev.waymark.tool.Tool;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CopyOnWriteArrayList;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Threads whose tool in Java has another record of arguments in the next build. */
@Timeout(120)
abstract class ChangedJavaToolCases {
    private static final Json FIFTY_TO_ANN = Json.of(Map.of("cents", 50, "to", "ann"));

    private final List<Record> paid = new CopyOnWriteArrayList<>();

    abstract Connection connection();

    record Payment(int cents, String to) {}

    /** Knows nothing of cents, and has a number that would be zero. */
    record Payment2(String iban, int euros) {}

    record NotedPayment(int cents, String to, Optional<String> note) {}

    private <A extends Record> JavaTool<A> pay(Class<A> type) {
        return JavaTool.of("pay", "Pays", type, (args, context) -> {
            paid.add(args);
            return "paid";
        });
    }

    private WorkflowRig rig(Tool tool) {
        return new WorkflowRig(
                connection(), ToolProtocolCases.calling(new Part.ToolUse("tu_1", "pay", FIFTY_TO_ANN)), tool);
    }

    private static String start(WorkflowRig rig) {
        return rig.start(StartInput.of("a").saying(PersonFact.UserSpoke.message("m-1", "Pay")));
    }

    private static PendingItem request(WorkflowRig rig, String thread) {
        return rig.await(thread, now -> now.asks().size() == 1).asks().get(0);
    }

    private static Call call(Conversation state, String id) {
        return state.calls().get(id).orElseThrow();
    }

    @Test
    void approvedCall_mismatchingTheNewTool_isAnErrorWithBothSchemas() {
        try (WorkflowRig rig = rig(pay(Payment.class).approval())) {
            String thread = start(rig);
            request(rig, thread);

            rig.deploy(pay(Payment2.class).approval());
            rig.update(thread, SignalNames.APPROVE, Map.of("callId", "tu_1"));
            Conversation state = rig.awaitTurn(thread, 1);

            assertThat(paid).isEmpty();
            assertThat(call(state, "tu_1").status()).isEqualTo(Call.Status.FAILED);
            assertThat(state.turn().text())
                    .startsWith("Invalid input for tool \"pay\": the tool has changed since this thread recorded it")
                    .containsSubsequence("iban", "Recorded schema: ", "\"cents\"", "Present schema: ", "\"euros\"");
        }
    }

    @Test
    void approvedCall_matchingTheNewTool_asksAgainAndItsGrantEnds() {
        try (WorkflowRig rig = rig(pay(Payment.class).approval())) {
            String thread = start(rig);
            PendingItem first = request(rig, thread);

            rig.deploy(pay(NotedPayment.class).approval());
            rig.update(thread, SignalNames.APPROVE, Map.of("callId", "tu_1", "grant", Map.of()));
            PendingItem second = rig.await(thread, now -> now.asks().stream().anyMatch(PendingItem::toolChanged))
                    .asks()
                    .get(0);

            assertThat(first.toolDigest()).isPresent().isNotEqualTo(second.toolDigest());
            assertThat(paid).isEmpty();

            rig.update(
                    thread,
                    SignalNames.APPROVE,
                    Map.of("callId", "tu_1", "argsDigest", second.argsDigest().orElseThrow()));
            Conversation state = rig.awaitTurn(thread, 1);
            assertThat(paid).containsExactly(new NotedPayment(50, "ann", Optional.empty()));
            assertThat(state.grants()
                            .find(1)
                            .orElseThrow()
                            .ended()
                            .orElseThrow()
                            .reason())
                    .isEqualTo(Grant.Reason.TOOL_CHANGED);
        }
    }

    /** A thread keeps the schema that it recorded, so its model keeps writing arguments for that schema. */
    @Test
    void laterCall_ofAnOldThread_isRefusedBeforeApprovalAndClaim() {
        try (WorkflowRig rig = rig(pay(Payment.class).approval())) {
            String thread = start(rig);
            request(rig, thread);
            rig.update(thread, SignalNames.APPROVE, Map.of("callId", "tu_1"));
            rig.awaitTurn(thread, 1);

            rig.deploy(pay(Payment2.class).approval());
            rig.update(thread, SignalNames.SAY, Map.of("id", "m-2", "content", "Again"));
            Conversation state = rig.awaitTurn(thread, 2);

            assertThat(paid).containsExactly(new Payment(50, "ann"));
            assertThat(call(state, "tu_1~2"))
                    .returns(Call.Status.FAILED, Call::status)
                    .returns(0, Call::dispatches)
                    .returns(Optional.empty(), Call::claim);
            assertThat(state.turn().text()).contains("the tool has changed");
        }
    }

    @Test
    void callWithoutApproval_matchingTheNewTool_runs() {
        try (WorkflowRig rig = rig(pay(Payment.class))) {
            String thread = start(rig);
            rig.awaitTurn(thread, 1);

            rig.deploy(pay(NotedPayment.class));
            rig.update(thread, SignalNames.SAY, Map.of("id", "m-2", "content", "Again"));
            rig.awaitTurn(thread, 2);

            assertThat(paid).containsExactly(new Payment(50, "ann"), new NotedPayment(50, "ann", Optional.empty()));
        }
    }
}
