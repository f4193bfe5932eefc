package dev.waymark.worker.workflow;

import static org.assertj.core.api.Assertions.assertThat;

import dev.waymark.agent.AgentSpec;
import dev.waymark.agent.ToolSpec;
import dev.waymark.connect.Connection;
import dev.waymark.contract.WireNames;
import dev.waymark.contract.thread.AgentWorkflow;
import dev.waymark.contract.thread.StartInput;
import dev.waymark.contract.work.AgentInput;
import dev.waymark.contract.work.ModelInput;
import dev.waymark.contract.work.RunOutcome;
import dev.waymark.contract.work.ToolInput;
import dev.waymark.contract.work.ToolOutcome;
import dev.waymark.conversation.fact.PersonFact;
import dev.waymark.conversation.message.Part;
import dev.waymark.conversation.message.Reply;
import dev.waymark.conversation.value.Json;
import dev.waymark.history.HistoryReader;
import dev.waymark.history.RunReader;
import dev.waymark.history.RunReader.Called;
import dev.waymark.worker.server.InMemoryServer;
import io.temporal.activity.Activity;
import io.temporal.activity.ActivityInfo;
import io.temporal.activity.ActivityInterface;
import io.temporal.activity.ActivityMethod;
import io.temporal.client.WorkflowOptions;
import io.temporal.client.WorkflowStub;
import io.temporal.common.converter.EncodedValues;
import io.temporal.worker.Worker;
import io.temporal.worker.WorkerFactory;
import io.temporal.worker.WorkflowImplementationOptions;
import io.temporal.workflow.Workflow;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;

class NotedModelCallTest {
    private static final int STEPS = 4;

    @Test
    void notedCall_equalsTheCallReadFromHistory() throws Exception {
        try (InMemoryServer server = InMemoryServer.start(0);
                Connection connection = Connection.to(server.address())) {
            HistoryReader histories = new HistoryReader(connection.client());
            Connection gone = Connection.to(server.address());
            gone.close();
            // The reader's connection is closed, so the reader knows only what was noted.
            RunReader noting = new RunReader(new HistoryReader(gone.client()), 1_000);
            Comparing comparing = new Comparing(noting, new RunReader(histories, 1_000));
            WorkerFactory factory = WorkerFactory.newInstance(connection.client());
            Worker worker = factory.newWorker(WireNames.TASK_QUEUE);
            worker.registerWorkflowImplementationFactory(
                    AgentWorkflow.class,
                    (EncodedValues arguments) -> new AgentWorkflowImpl(
                            arguments.get(0, StartInput.class),
                            called -> noting.note(
                                    Workflow.getInfo().getWorkflowId(),
                                    Workflow.getInfo().getRunId(),
                                    called),
                            AppliedFacts.IGNORED,
                            model -> Optional.empty()),
                    WorkflowImplementationOptions.getDefaultInstance());
            worker.registerActivitiesImplementations(comparing);
            factory.start();
            try {
                WorkflowStub thread = connection
                        .client()
                        .newUntypedWorkflowStub(
                                WireNames.WORKFLOW_TYPE,
                                WorkflowOptions.newBuilder()
                                        .setTaskQueue(WireNames.TASK_QUEUE)
                                        .setWorkflowId("noted")
                                        .build());
                thread.start(StartInput.of("looker")
                        .closingAfterOneTurn()
                        .saying(PersonFact.UserSpoke.message("m-1", "Look around.")));
                thread.getResult(RunOutcome.class);
            } finally {
                factory.shutdownNow();
                factory.awaitTermination(5, TimeUnit.SECONDS);
            }
            assertThat(comparing.noted).hasSize(STEPS);
            assertThat(List.copyOf(comparing.noted)).isEqualTo(List.copyOf(comparing.read));
        }
    }

    @ActivityInterface
    public interface Looker {
        @ActivityMethod(name = WireNames.MODEL_ACTIVITY)
        Reply model(ModelInput input);

        @ActivityMethod(name = WireNames.AGENT_ACTIVITY)
        AgentSpec agent(AgentInput input);

        @ActivityMethod(name = "look")
        ToolOutcome look(ToolInput input);
    }

    private static final class Comparing implements Looker {
        private final RunReader noting;
        private final RunReader reading;
        private final Queue<Called> noted = new ConcurrentLinkedQueue<>();
        private final Queue<Called> read = new ConcurrentLinkedQueue<>();

        Comparing(RunReader noting, RunReader reading) {
            this.noting = noting;
            this.reading = reading;
        }

        @Override
        public Reply model(ModelInput input) {
            ActivityInfo info = Activity.getExecutionContext().getInfo();
            noted.add(noting.atModelCall(info.getWorkflowId(), info.getWorkflowRunId(), input));
            read.add(reading.atModelCall(info.getWorkflowId(), info.getWorkflowRunId(), input));
            return input.step() == STEPS
                    ? Reply.of(new Part.Text("All seen."))
                    : Reply.of(new Part.ToolUse("tu_" + input.step(), "look", Json.of(Map.of("at", input.step()))));
        }

        @Override
        public AgentSpec agent(AgentInput input) {
            return AgentSpec.of(
                    "looker", "test:none", ToolSpec.java("look").safeToRetry().build());
        }

        @Override
        public ToolOutcome look(ToolInput input) {
            return ToolOutcome.result("Nothing at " + input.args().field("at"));
        }
    }
}
