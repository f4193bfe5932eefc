package dev.waymark.e2e;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import com.fasterxml.jackson.databind.JsonNode;
import dev.waymark.client.AgentClient;
import dev.waymark.connect.Connection;
import dev.waymark.conversation.fact.PersonFact;
import dev.waymark.conversation.fact.SignalNames;
import dev.waymark.e2e.product.Agents;
import dev.waymark.e2e.product.Command;
import dev.waymark.e2e.product.Dev;
import dev.waymark.e2e.product.ThreadReset;
import io.temporal.api.enums.v1.ResetReapplyExcludeType;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** What the guide says about signatures and resets. */
@Tag("full")
@Tag("server")
@Timeout(300)
class SignatureAfterResetServerTest {
    @TempDir
    private Path directory;

    @Test
    void signature_afterResetWithoutItsDecision_isValidAgain() throws Exception {
        String key = directory.resolve("ann.pem").toString();
        Command.Done made = Command.at("127.0.0.1:1").run("keygen", key);
        new Agents(directory).signed("ann: \"" + made.out().strip() + "\"");
        try (Dev dev = Dev.durable(directory);
                Connection connection = Connection.to(dev.address());
                AgentClient client = AgentClient.connect(dev.address())) {
            Command waymark = Command.warmAt(dev.address());
            assertThat(waymark.run("run", "--agent", "billing", "--thread", "trip", "Pay")
                            .exitCode())
                    .isZero();
            JsonNode first = waymark.run("pending", "trip", "--json").json().get(0);
            // The task of this message is a reset point between the request and the decision.
            client.say("trip", "Well?");
            List<Long> tasks = ThreadReset.completedTasks(connection, "trip");
            assertThat(waymark.run("approve", "trip", "--key", key).exitCode()).isZero();
            PersonFact.ApprovalDecided signed = client.timeline("trip").moments().stream()
                    .flatMap(moment -> moment.fact().stream())
                    .filter(PersonFact.ApprovalDecided.class::isInstance)
                    .map(PersonFact.ApprovalDecided.class::cast)
                    .findFirst()
                    .orElseThrow();

            ThreadReset.to(
                    connection,
                    "trip",
                    tasks.get(tasks.size() - 1),
                    ResetReapplyExcludeType.RESET_REAPPLY_EXCLUDE_TYPE_UPDATE);
            await().atMost(Duration.ofSeconds(60))
                    .untilAsserted(() -> assertThat(
                                    waymark.run("pending", "trip", "--json").json())
                            .singleElement()
                            .isEqualTo(first));
            // Sends the recorded signature again, as anyone who can read the history could.
            connection
                    .client()
                    .newUntypedWorkflowStub("trip")
                    .signal(
                            SignalNames.APPROVE,
                            Map.of(
                                    "callId",
                                    "tu_1",
                                    "by",
                                    "ann",
                                    "signature",
                                    signed.signature().orElseThrow()));

            await().atMost(Duration.ofSeconds(60))
                    .untilAsserted(() -> assertThat(waymark.run("calls", "trip", "--json")
                                    .json()
                                    .at("/0/approval/by")
                                    .asText())
                            .isEqualTo("ann"));
            assertThat(waymark.run("show", "trip", "--json").json().path("ignored"))
                    .isEmpty();
        }
    }
}
