package dev.waymark.worker.tool;

import dev.waymark.agent.AgentSpec;
import dev.waymark.agent.ToolSpec;
import dev.waymark.connect.Connection;
import dev.waymark.contract.WireNames;
import dev.waymark.contract.thread.StartInput;
import dev.waymark.contract.work.RunOutcome;
import dev.waymark.conversation.fact.PersonFact;
import dev.waymark.conversation.message.Part;
import dev.waymark.conversation.message.Reply;
import dev.waymark.conversation.value.Json;
import dev.waymark.model.ModelProvider;
import dev.waymark.testkit.HistoryCheck;
import dev.waymark.worker.AgentWorker;
import dev.waymark.worker.provider.ModelProviders;
import dev.waymark.worker.server.InMemoryServer;
import io.temporal.client.WorkflowOptions;
import io.temporal.client.WorkflowStub;
import io.temporal.common.WorkflowExecutionHistory;
import java.util.List;
import java.util.Map;
import java.util.UUID;

/** A thread of an agent with one tool, run by a complete worker on a shared in-memory server. */
public final class ToolThread {
    private static final Connection CONNECTION = connect();

    private final String name = "thread-" + UUID.randomUUID();

    private static Connection connect() {
        return Connection.to(InMemoryServer.start(0).address());
    }

    /**
     * Calls the tool with these arguments, one call after the other, and returns their results, separated by {@code |}.
     */
    @SafeVarargs
    @SuppressWarnings("varargs")
    public final String run(ToolSpec tool, Map<String, ?>... calls) {
        try (AgentWorker worker = AgentWorker.builder(CONNECTION.client())
                .taskQueue(name)
                .agents(AgentSpec.of("a", "test:model", tool))
                .providers(ModelProviders.of(Map.of("test", calling(tool.name(), List.of(calls)))))
                .build()) {
            worker.start();
            WorkflowStub stub = CONNECTION
                    .client()
                    .newUntypedWorkflowStub(
                            WireNames.WORKFLOW_TYPE,
                            WorkflowOptions.newBuilder()
                                    .setTaskQueue(name)
                                    .setWorkflowId(name)
                                    .build());
            stub.start(StartInput.of("a").closingAfterOneTurn().saying(PersonFact.UserSpoke.message("m", "Charge")));
            return stub.getResult(RunOutcome.class).text();
        }
    }

    private static ModelProvider calling(String tool, List<Map<String, ?>> calls) {
        return request -> {
            List<String> results = request.messages().stream()
                    .flatMap(message -> message.toolResults().stream())
                    .map(Part.ToolResult::content)
                    .toList();
            return results.size() < calls.size()
                    ? Reply.of(new Part.ToolUse("tu_" + (results.size() + 1), tool, Json.of(calls.get(results.size()))))
                    : Reply.of(new Part.Text(String.join("|", results)));
        };
    }

    /** The recorded history, after {@link HistoryCheck} has checked it. */
    public WorkflowExecutionHistory history() {
        WorkflowExecutionHistory history = CONNECTION.client().fetchHistory(name);
        HistoryCheck.check(history);
        return history;
    }
}
