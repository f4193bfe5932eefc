package dev.waymark.worker.workflow;

import static org.assertj.core.api.Assertions.assertThat;

import dev.waymark.agent.AgentSpec;
import dev.waymark.connect.Connection;
import dev.waymark.contract.thread.StartInput;
import dev.waymark.conversation.Conversation;
import dev.waymark.conversation.call.Call;
import dev.waymark.conversation.call.Grant;
import dev.waymark.conversation.call.PendingItem;
import dev.waymark.conversation.fact.PersonFact;
import dev.waymark.conversation.fact.SignalNames;
import dev.waymark.conversation.message.Part;
import dev.waymark.conversation.value.Json;
import dev.waymark.tool.JavaTool;
import dev.waymark.tool.Tool;
import dev.waymark.worker.agents.AgentDefinitions;
import dev.waymark.worker.agents.AgentDirectory;
import dev.waymark.worker.gate.AcceptedFindings;
import dev.waymark.worker.gate.AgentFiles;
import dev.waymark.worker.gate.Gate;
import dev.waymark.worker.gate.GateReport;
import dev.waymark.worker.gate.ServerThreads;
import dev.waymark.worker.model.ModelProviders;
import dev.waymark.worker.tool.java.JavaTools;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CopyOnWriteArrayList;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

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
        try (WorkflowRig rig = rig(pay(Payment.class).approved())) {
            String thread = start(rig);
            request(rig, thread);

            rig.deploy(pay(Payment2.class).approved());
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
        try (WorkflowRig rig = rig(pay(Payment.class).approved())) {
            String thread = start(rig);
            PendingItem first = request(rig, thread);

            rig.deploy(pay(NotedPayment.class).approved());
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
        try (WorkflowRig rig = rig(pay(Payment.class).approved())) {
            String thread = start(rig);
            request(rig, thread);
            rig.update(thread, SignalNames.APPROVE, Map.of("callId", "tu_1"));
            rig.awaitTurn(thread, 1);

            rig.deploy(pay(Payment2.class).approved());
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

    private static List<String> gate(WorkflowRig rig, String thread, AgentDirectory agents) {
        try (Gate gate = new Gate(
                ServerThreads.named(rig.client(), List.of(thread)),
                Optional.of(AgentFiles.of(agents)),
                AcceptedFindings.NONE,
                new Gate.Listener() {
                    @Override
                    public void checked(int threads, int of) {}

                    @Override
                    public void found(GateReport.Finding finding) {}
                })) {
            return gate.check(1).findings().stream()
                    .map(finding -> finding.kind() + ": " + finding.message())
                    .toList();
        }
    }

    private static AgentDirectory written(Path file, Tool tool) throws Exception {
        AgentDefinitions.write(file, List.of(AgentSpec.of("a", "fake:model", tool.spec())));
        return AgentDefinitions.read(file);
    }

    @Test
    void gate_namesTheChangedSchemaAndTheWaitingCall(@TempDir Path directory) throws Exception {
        try (WorkflowRig rig = rig(pay(Payment.class).approved())) {
            String thread = start(rig);
            request(rig, thread);

            assertThat(gate(rig, thread, written(directory.resolve("same.json"), pay(Payment.class))))
                    .isEmpty();
            assertThat(gate(rig, thread, written(directory.resolve("fits.json"), pay(NotedPayment.class))))
                    .containsExactly(
                            "tool-changed: pay takes other arguments than the thread has recorded. Different: note");
            assertThat(gate(rig, thread, written(directory.resolve("next.json"), pay(Payment2.class))))
                    .hasSize(2)
                    .last()
                    .asString()
                    .startsWith("call-misfit: the waiting call tu_1 of pay {\"cents\": 50, \"to\": \"ann\"} does not"
                            + " match the new schema: ")
                    .contains("iban");

            Files.writeString(directory.resolve("a.yaml"), """
                    model: fake:model
                    tools:
                      - { name: pay, command: [ "true" ], input: { type: object, required: [ euros ] } }
                    """);
            ModelProviders providers = ModelProviders.of(Map.of("fake", ToolProtocolCases.calling()));
            assertThat(gate(rig, thread, AgentDirectory.load(directory, providers, JavaTools.NONE)))
                    .hasSize(2)
                    .last()
                    .asString()
                    .contains("euros");

            rig.update(thread, SignalNames.DENY, Map.of("callId", "tu_1"));
            rig.awaitTurn(thread, 1);
            assertThat(gate(rig, thread, written(directory.resolve("next.json"), pay(Payment2.class))))
                    .containsExactly(
                            "tool-changed: pay takes other arguments than the thread has recorded. Different: cents, euros, iban, to");
        }
    }
}
