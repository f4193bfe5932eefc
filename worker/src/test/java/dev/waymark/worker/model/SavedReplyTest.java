package dev.waymark.worker.model;

import static org.assertj.core.api.Assertions.assertThat;

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
import dev.waymark.conversation.value.Usage;
import dev.waymark.history.HistoryReader;
import dev.waymark.model.ModelProvider;
import dev.waymark.testkit.crash.CuttableProxy;
import dev.waymark.timeline.Timeline;
import dev.waymark.tool.Tool;
import dev.waymark.tool.ToolContext;
import dev.waymark.worker.AgentWorker;
import dev.waymark.worker.provider.ModelProviders;
import dev.waymark.worker.server.DevServer;
import dev.waymark.worker.server.InMemoryServer;
import dev.waymark.worker.tool.java.JavaTools;
import io.temporal.api.workflow.v1.PendingActivityInfo;
import io.temporal.client.WorkflowOptions;
import io.temporal.client.WorkflowStub;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** A worker is lost while it runs the calls of a reply. */
@Timeout(120)
class SavedReplyTest {
    private static final String QUEUE = "saved-reply-" + UUID.randomUUID();

    private final AtomicInteger replies = new AtomicInteger();
    private final AtomicInteger runs = new AtomicInteger();
    private final CountDownLatch began = new CountDownLatch(1);
    private final CountDownLatch over = new CountDownLatch(1);

    @Test
    void lostWorker_replyIsChargedOnceAndCallsRunAgain() throws Exception {
        try (DevServer server = InMemoryServer.start(0);
                CuttableProxy cable = new CuttableProxy(server.address());
                Connection cut = Connection.to(cable.address());
                Connection connection = Connection.to(server.address());
                AgentWorker lost = worker(cut);
                AgentWorker other = worker(connection)) {
            lost.start();
            WorkflowStub thread = connection
                    .client()
                    .newUntypedWorkflowStub(
                            WireNames.WORKFLOW_TYPE,
                            WorkflowOptions.newBuilder()
                                    .setTaskQueue(QUEUE)
                                    .setWorkflowId("t-" + QUEUE)
                                    .build());
            thread.start(StartInput.of("a").closingAfterOneTurn().saying(PersonFact.UserSpoke.message("m-1", "Hi")));
            assertThat(began.await(30, TimeUnit.SECONDS)).isTrue();
            HistoryReader histories = new HistoryReader(connection.client());
            Awaitility.await()
                    .atMost(Duration.ofMinutes(1))
                    .until(() -> histories.describe("t-" + QUEUE).orElseThrow().getPendingActivitiesList().stream()
                            .map(PendingActivityInfo::getHeartbeatDetails)
                            .anyMatch(details -> details.toString().contains("saved")));

            cable.cut();
            other.start();

            assertThat(thread.getResult(RunOutcome.class).text()).isEqualTo("Done.");
            over.countDown();
            assertThat(replies).hasValue(2);
            assertThat(runs).hasValue(2);
            Timeline timeline = histories.read("t-" + QUEUE).orElseThrow();
            assertThat(timeline.now().spent().usage()).isEqualTo(new Usage(20, 10));
            assertThat(timeline.now().calls().toMap().values()).singleElement().returns(1, call -> call.dispatches());
        }
    }

    private AgentWorker worker(Connection connection) {
        ModelProvider model = request -> {
            replies.incrementAndGet();
            boolean first = request.messages().size() == 1;
            return new Reply(
                    List.of(first ? new Part.ToolUse("tu_1", "look", Json.EMPTY_OBJECT) : new Part.Text("Done.")),
                    new Usage(10, 5),
                    "");
        };
        ToolSpec look = ToolSpec.java("look")
                .describedAs("Looks.", Json.of(Map.of("type", "object")))
                .safeToRetry()
                .build();
        return AgentWorker.builder(connection.client())
                .taskQueue(QUEUE)
                .agents(AgentSpec.of("a", "fake:m", look))
                .tools(JavaTools.of(List.of(new Tool() {
                    @Override
                    public ToolSpec spec() {
                        return look;
                    }

                    @Override
                    public String run(Json args, ToolContext context) throws InterruptedException {
                        return look();
                    }
                })))
                .providers(ModelProviders.of(Map.of("fake", model)))
                .build();
    }

    /** Does not return in the worker that is lost. */
    private String look() throws InterruptedException {
        if (runs.incrementAndGet() == 1) {
            began.countDown();
            over.await();
        }
        return "red";
    }
}
