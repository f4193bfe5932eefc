package dev.waymark.e2e;

import static org.assertj.core.api.Assertions.assertThat;

import dev.waymark.client.AgentClient;
import dev.waymark.client.AgentResult;
import dev.waymark.client.request.Prompt;
import dev.waymark.connect.Connection;
import dev.waymark.conversation.message.Part;
import dev.waymark.conversation.message.Reply;
import dev.waymark.conversation.value.Json;
import dev.waymark.testkit.HistoryCheck;
import dev.waymark.testkit.ScriptedModel;
import dev.waymark.tool.ToolMethod;
import dev.waymark.worker.Agent;
import dev.waymark.worker.AgentWorker;
import dev.waymark.worker.server.DevServer;
import io.temporal.api.testservice.v1.SleepRequest;
import io.temporal.serviceclient.TestServiceStubs;
import io.temporal.serviceclient.TestServiceStubsOptions;
import java.time.Duration;
import java.util.Map;
import java.util.Optional;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Threads that wait for weeks while time is skipped, and while workers are replaced by other builds. */
@Tag("full")
@Timeout(120)
class MonthOldThreadTest {
    private static final String THREAD = "table-nine";

    private DevServer server;
    private Connection connection;
    private AgentClient people;
    private TestServiceStubs time;
    private final Queue<String> charged = new ConcurrentLinkedQueue<>();

    /** The tool of the first and the second build. */
    final class Till {
        record Charge(int cents) {}

        @ToolMethod(description = "Charges a card", approval = true)
        String charge(Charge charge) {
            charged.add(charge.cents() + " cents");
            return "charged";
        }
    }

    /** The tools of the third build: a charge has another field, which calls of earlier builds lack. */
    final class NewTill {
        record Charge(int cents, Optional<String> currency) {}

        @ToolMethod(description = "Charges a card in any currency", approval = true)
        String charge(Charge charge) {
            charged.add(charge.cents() + " " + charge.currency().orElse("of the house"));
            return "charged";
        }

        record Refund(int cents) {}

        @ToolMethod(description = "Refunds a charge", approval = true)
        String refund(Refund refund) {
            return "refunded";
        }
    }

    @BeforeEach
    void start() throws Exception {
        server = DevServer.inMemory(0);
        connection = Connection.to(server.address());
        people = AgentClient.connect(server.address());
        time = TestServiceStubs.newServiceStubs(
                TestServiceStubsOptions.newBuilder().setTarget(server.address()).validateAndBuildWithDefaults());
    }

    @AfterEach
    void stop() {
        time.shutdownNow();
        people.close();
        connection.close();
        server.close();
    }

    private void skip(Duration much) {
        time.blockingStub()
                .unlockTimeSkippingWithSleep(SleepRequest.newBuilder()
                        .setDuration(com.google.protobuf.Duration.newBuilder().setSeconds(much.toSeconds()))
                        .build());
    }

    private AgentWorker build(String prompt, Object tools) {
        return AgentWorker.on(connection)
                .provider(
                        "script",
                        ScriptedModel.of(
                                says("Welcome."), charge(100), says("Paid."), charge(200), says("Paid again.")))
                .agent(Agent.named("billing")
                        .model("script:x")
                        .instructions(prompt)
                        .tools(tools)
                        .build())
                .build()
                .start();
    }

    private static Reply charge(int cents) {
        return Reply.of(new Part.ToolUse("tu_" + cents, "charge", Json.of(Map.of("cents", cents))));
    }

    private static Reply says(String text) {
        return Reply.of(new Part.Text(text));
    }

    private AgentResult run(String message) {
        return people.run(Prompt.of("billing", message).withThread(THREAD).allowingVolatile())
                .await();
    }

    @Test
    void thread_overAMonthAndThreeBuilds_goesOnAndChargesWhatWasApproved() {
        try (AgentWorker first = build("You settle bills.", new Till())) {
            assertThat(run("Hello")).isInstanceOf(AgentResult.Complete.class);
            skip(Duration.ofDays(10));
            assertThat(run("The first round, please")).isInstanceOf(AgentResult.Interrupted.class);
        }
        skip(Duration.ofDays(10));
        try (AgentWorker second = build("You settle bills in a bar.", new Till())) {
            people.approve(THREAD);
            assertThat(people.turn(THREAD).await()).isInstanceOf(AgentResult.Complete.class);
            assertThat(run("And the second")).isInstanceOf(AgentResult.Interrupted.class);
        }
        skip(Duration.ofDays(15));
        try (AgentWorker third = build("You settle bills anywhere.", new NewTill())) {
            people.approve(THREAD);
            assertThat(people.turn(THREAD).await())
                    .as("the approved tool has changed, so somebody decides anew")
                    .isInstanceOf(AgentResult.Interrupted.class);
            people.approve(THREAD);
            assertThat(people.turn(THREAD).await()).isInstanceOf(AgentResult.Complete.class);
        }

        assertThat(charged).containsExactly("100 cents", "200 of the house");
        assertThat(people.timeline(THREAD).moments())
                .extracting(moment -> moment.at())
                .isSorted();
        HistoryCheck.check(connection.client().fetchHistory(THREAD));
    }
}
