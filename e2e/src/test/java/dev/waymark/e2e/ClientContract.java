package dev.waymark.e2e;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import dev.waymark.client.AgentClient;
import dev.waymark.client.AgentResult;
import dev.waymark.client.Verification;
import dev.waymark.client.failure.WaymarkException;
import dev.waymark.client.request.Approval;
import dev.waymark.client.request.OutboundMessage;
import dev.waymark.client.request.Prompt;
import dev.waymark.client.request.ResumeOptions;
import dev.waymark.client.request.Settlement;
import dev.waymark.connect.Connection;
import dev.waymark.contract.RunLimits;
import dev.waymark.contract.WireNames;
import dev.waymark.contract.thread.StartInput;
import dev.waymark.conversation.call.Call;
import dev.waymark.conversation.decision.CallApproval;
import dev.waymark.conversation.decision.PendingItem;
import dev.waymark.conversation.fact.PersonFact;
import dev.waymark.conversation.value.Json;
import dev.waymark.e2e.product.Agents;
import dev.waymark.e2e.product.Dev;
import dev.waymark.timeline.Timeline;
import dev.waymark.timeline.Version;
import io.temporal.client.WorkflowOptions;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.api.TestInstance.Lifecycle;
import org.junit.jupiter.api.io.TempDir;

/** Tests of the Java API on any server, with a worker in another process. */
@TestInstance(Lifecycle.PER_CLASS)
abstract class ClientContract {
    Dev dev;
    AgentClient client;
    private Path agents;

    abstract Dev start(Path agents);

    @BeforeAll
    void startDev(@TempDir Path directory) {
        agents = directory;
        dev = start(new Agents(directory)
                .assistant()
                .greeter()
                .slow("slow", "1s")
                .slow("slower", "3s")
                .parallel()
                .charger("charger", 1, "")
                .charger("patient", 1, "")
                .dawdler("dawdler", "")
                .dawdler("checked", ", verify: [./checked-check.sh]")
                .charger("hasty", 1, "approvals: { by: human, timeout: 3s }")
                .directory());
        client = AgentClient.connect(dev.address());
    }

    @AfterAll
    void stopDev() {
        if (dev != null) {
            client.close();
            dev.close();
        }
    }

    @Test
    void say_sameIdTwice_hasOneMessageAndOneOutcome() {
        thread("greeter", "same-id");
        AgentResult first = client.send(
                        "same-id", OutboundMessage.message("Hi again").withId("m1"))
                .await();
        client.send("same-id", OutboundMessage.message("And once more").withId("m2"))
                .await();

        AgentResult repeated = client.send(
                        "same-id", OutboundMessage.message("Hi again").withId("m1"))
                .await();

        assertThat(repeated).isEqualTo(first);
        assertThat(client.turn("same-id").await().messages()).hasSize(6);
    }

    @Test
    void run_samePromptTwice_isOneTurn() {
        Prompt prompt = Prompt.of("greeter", "Hi").withThread("same-prompt").allowingVolatile();

        assertThat(client.run(prompt).await()).isEqualTo(client.run(prompt).await());
        assertThat(client.turn("same-prompt").await().messages()).hasSize(2);
    }

    @Test
    void say_duringATurn_reportsTheTurnThatTakesIt() {
        Prompt slow = Prompt.of("slow", "First").withThread("during").allowingVolatile();
        client.start(slow);
        List<CompletableFuture<AgentResult>> said = List.of(
                client.say("during", "Second").future(),
                client.say("during", "Third").future());

        assertThat(said)
                .allSatisfy(result -> assertThat(
                                AgentResult.assertComplete(result.join()).text())
                        .isEqualTo("At last."));
        List<Integer> turns =
                said.stream().map(result -> result.join().details().turn()).toList();
        assertThat(turns).allSatisfy(turn -> assertThat(turn).isBetween(1, 3));
        assertThat(client.turn("during").await().messages()).hasSizeBetween(4, 6);
        assertThat(client.inspector().verify("during").agrees()).isTrue();
    }

    @Test
    void thread_continuedAsNew_isOneThread() {
        try (Connection connection = Connection.to(dev.address())) {
            connection
                    .client()
                    .newUntypedWorkflowStub(
                            WireNames.WORKFLOW_TYPE,
                            WorkflowOptions.newBuilder()
                                    .setWorkflowId("moving")
                                    .setTaskQueue(WireNames.TASK_QUEUE)
                                    .build())
                    .start(StartInput.of("greeter")
                            .withLimits(RunLimits.DEFAULT.withSoftEvents(20))
                            .saying(PersonFact.UserSpoke.message("m0", "Hi")));
        }
        client.turn("moving").await();
        List<AgentResult> results = IntStream.rangeClosed(1, 6)
                .mapToObj(i -> client.send(
                                "moving",
                                OutboundMessage.message("Message " + i).withId("m" + i))
                        .await())
                .toList();

        Timeline timeline = client.timeline("moving");
        Verification verification = client.inspector().verify("moving");
        assertThat(verification.runs()).isGreaterThan(1);
        assertThat(verification.modelCalls()).isEqualTo(7);
        assertThat(verification.differences()).isEmpty();
        assertThat(verification.live()).isTrue();
        assertThat(timeline.versions().stream().map(Version::number))
                .isEqualTo(IntStream.rangeClosed(1, 7).boxed().toList());
        assertThat(results.stream().map(result -> result.details().turn()).toList())
                .isEqualTo(List.of(2, 3, 4, 5, 6, 7));
        assertThat(client.send("moving", OutboundMessage.message("Message 1").withId("m1"))
                        .await()
                        .messages())
                .isEqualTo(results.get(0).messages());
        assertThat(client.run(Prompt.of("greeter", "More").withThread("moving"))
                        .await()
                        .status())
                .isEqualTo("complete");
        assertThatThrownBy(() -> client.run(Prompt.of("slow", "More").withThread("moving")))
                .hasMessageContaining("another agent: greeter");
    }

    @Test
    void stop_endsEveryWait() {
        CompletableFuture<AgentResult> waiting = client.run(
                        Prompt.of("slower", "Hi").withThread("stopped").allowingVolatile())
                .future();

        assertThat(client.stop("stopped").await()).isInstanceOf(AgentResult.Stopped.class);
        assertThat(waiting.join()).isInstanceOf(AgentResult.Stopped.class);
        assertThat(AgentResult.assertComplete(client.retry("stopped").await()).text())
                .isEqualTo("At last.");
    }

    @Test
    void message_tooLarge_isRefusedBeforeAnythingStarts() {
        Prompt prompt = Prompt.of("greeter", "x".repeat(256 * 1024 + 1))
                .withThread("large")
                .allowingVolatile();

        assertThatThrownBy(() -> client.run(prompt)).isInstanceOf(WaymarkException.TooLarge.class);
        assertThatThrownBy(() -> client.timeline("large")).isInstanceOf(WaymarkException.NotFound.class);
    }

    @Test
    void message_ofMaximumSize_isAccepted() {
        String text = "ü".repeat(128 * 1024);

        assertThat(AgentResult.assertComplete(client.prompt("greeter", text).await())
                        .text())
                .isEqualTo("Hello.");
    }

    @Test
    void wait_timesOut_doesNotEndTheTurn() {
        AgentClient impatient = client.withTimeout(Duration.ofMillis(300));
        Prompt slow = Prompt.of("slower", "Hi").withThread("timeout").allowingVolatile();

        assertThatThrownBy(() -> impatient.run(slow).await()).isInstanceOf(WaymarkException.TimedOut.class);
        assertThat(AgentResult.assertComplete(client.turn("timeout").await()).text())
                .isEqualTo("At last.");
    }

    @Test
    void callbacks_duringAwait_areCalledOncePerOpenItem() {
        List<Object> asked = new CopyOnWriteArrayList<>();
        AgentResult result = client.onApproval(request -> {
                    asked.add(request.callId() + request.args());
                    return Optional.of(Approval.edit(Map.of("cents", 4)).withBy("policy"));
                })
                .onQuestion(question -> {
                    asked.add(question.text());
                    return Optional.of("Friday");
                })
                .run(Prompt.of("parallel", "Go").withThread("attended").allowingVolatile())
                .await();

        assertThat(AgentResult.assertComplete(result).text()).isEqualTo("All done.");
        assertThat(asked).containsExactlyInAnyOrder("tu_2{\"cents\": 5}", "Which day?");
        Call paid = client.timeline("attended").now().calls().get("tu_2").orElseThrow();
        assertThat(paid.args()).isEqualTo(Json.of(Map.of("cents", 4)));
        assertThat(paid.approval().orElseThrow())
                .returns(true, CallApproval::edited)
                .returns(Optional.of("policy"), CallApproval::by);
        assertThat(client.inspector().verify("attended").differences()).isEmpty();
    }

    @Test
    void callbacks_withoutDecision_endInAnInterruption() {
        AgentClient half = client.onApproval(request -> Optional.of(Approval.deny("Not today.")))
                .onQuestion(question -> Optional.empty());
        AgentResult result = half.run(
                        Prompt.of("parallel", "Go").withThread("left").allowingVolatile())
                .await();

        assertThat(result).isInstanceOf(AgentResult.Interrupted.class);
        assertThat(((AgentResult.Interrupted) result).pending())
                .extracting(PendingItem::callId)
                .containsExactly("tu_1");
        assertThat(((AgentResult.Interrupted) result).question()).isEqualTo("Which day?");
        assertThat(AgentResult.assertComplete(client.answer("left", "Friday").await())
                        .text())
                .isEqualTo("All done.");
    }

    @Test
    void approvalCallback_abstaining_leavesTheCallToPeople() {
        AtomicInteger asked = new AtomicInteger();
        AgentResult result = client.onApproval(request -> {
                    asked.incrementAndGet();
                    return Optional.empty();
                })
                .run(Prompt.of("charger", "Go").withThread("abstained").allowingVolatile())
                .await();

        assertThat(result).isInstanceOf(AgentResult.Interrupted.class);
        assertThat(asked).hasValue(1);
        assertThat(AgentResult.assertComplete(client.approve("abstained").await())
                        .text())
                .isEqualTo("Charged.");
    }

    @Test
    void callback_slowerThanAPerson_acceptsTheirDecision() {
        AgentResult result = client.onApproval(request -> {
                    client.approve(request.thread()).await();
                    return Optional.of(Approval.deny("Too late."));
                })
                .run(Prompt.of("charger", "Go").withThread("overtaken").allowingVolatile())
                .await();

        assertThat(AgentResult.assertComplete(result).text()).isEqualTo("Charged.");
        assertThat(client.timeline("overtaken")
                        .now()
                        .calls()
                        .get("tu_1")
                        .orElseThrow()
                        .status())
                .isEqualTo(Call.Status.COMPLETED);
    }

    @Test
    void callback_onAWaitingThread_isCalledByResult() {
        client.run(Prompt.of("charger", "Go").withThread("later").allowingVolatile())
                .await();

        AgentResult result = client.onApproval(request -> Optional.of(Approval.approve()))
                .turn("later")
                .await();

        assertThat(AgentResult.assertComplete(result).text()).isEqualTo("Charged.");
    }

    @Test
    void decide_invalidDecision_isRefusedWithReason() {
        client.run(Prompt.of("charger", "Go").withThread("refusing").allowingVolatile())
                .await();

        assertThatThrownBy(() -> client.decide("refusing", Approval.approve().withDigest("e3b0")))
                .isInstanceOfSatisfying(
                        WaymarkException.Refused.class,
                        refused -> assertThat(refused.type()).isEqualTo("ArgsChanged"));
        assertThatThrownBy(() -> client.decide("refusing", Approval.approve().withCall("tu_9")))
                .isInstanceOf(WaymarkException.NotFound.class);
        assertThatThrownBy(() -> client.settle("refusing", Settlement.done("tu_1")))
                .isInstanceOf(WaymarkException.NotFound.class);
        assertThat(AgentResult.assertComplete(client.deny("refusing", "No.").await())
                        .text())
                .isEqualTo("Charged.");
        assertThatThrownBy(() -> client.decide("refusing", Approval.deny().withCall("tu_1")))
                .isInstanceOfSatisfying(
                        WaymarkException.Refused.class,
                        refused -> assertThat(refused.type()).isEqualTo("AlreadyDecided"));
    }

    @Test
    void approvalWithTimeout_interruptsAtOnceAndIsFinallyDenied() {
        AgentResult asked = client.run(
                        Prompt.of("hasty", "Go").withThread("hasty").allowingVolatile())
                .await();
        assertThat(asked).isInstanceOf(AgentResult.Interrupted.class);

        await().atMost(Duration.ofSeconds(60))
                .until(() -> client.turn("hasty").await() instanceof AgentResult.Complete);
        assertThat(client.timeline("hasty")
                        .now()
                        .calls()
                        .get("tu_1")
                        .orElseThrow()
                        .status())
                .isEqualTo(Call.Status.DENIED);
        assertThatThrownBy(() -> client.decide("hasty", Approval.approve().withCall("tu_1")))
                .hasMessageContaining("was decided before");
    }

    @Test
    void pending_ofAllThreads_listsWaitingOnes() {
        thread("assistant", "asking");
        thread("greeter", "not-asking");

        // The real server updates its list with a short delay.
        await().atMost(Duration.ofSeconds(60)).untilAsserted(() -> {
            List<String> threads = client.lists().pending((done, of) -> {}).stream()
                    .map(PendingItem::thread)
                    .toList();
            assertThat(threads).contains("asking").doesNotContain("not-asking");
            assertThat(client.lists().threads((done, of) -> {}))
                    .anySatisfy(thread -> assertThat(thread.thread()).isEqualTo("not-asking"));
        });
    }

    @Test
    void resume_sameAnswerTwiceAtOnce_startsOneThread() {
        thread("assistant", "cut");
        terminate("cut");
        ResumeOptions friday = ResumeOptions.onward().withAnswer("Friday");

        CompletableFuture<AgentResult> other =
                CompletableFuture.supplyAsync(() -> client.resume("cut", friday).await());
        AgentResult result = client.resume("cut", friday).await();

        assertThat(AgentResult.assertComplete(result).text()).isEqualTo("Booked.");
        assertThat(other.join()).isEqualTo(result);
        assertThat(client.resume("cut", friday).await()).isEqualTo(result);
        assertThat(result.thread()).startsWith("resume-");
        assertThat(client.inspector().verify(result.thread()).agrees()).isTrue();
    }

    @Test
    void resume_threadTerminatedInMidCharge_chargesOnce() throws IOException {
        AgentResult unknown = terminatedInMidCharge("dawdler");
        AgentResult found = terminatedInMidCharge("checked");

        assertThat(AgentResult.assertComplete(unknown).text()).isEqualTo("So be it.");
        assertThat(unknown.messages().toString()).contains("tool-durability-error", "had been claimed");
        assertThat(AgentResult.assertComplete(found).messages().toString()).contains("charged after all");
        assertThat(Files.readAllLines(agents.resolve("dawdler.ledger"))).hasSize(1);
        assertThat(Files.readAllLines(agents.resolve("checked.ledger"))).hasSize(1);
    }

    private AgentResult terminatedInMidCharge(String agent) {
        String thread = "terminated-" + agent;
        client.start(Prompt.of(agent, "Charge").withThread(thread).allowingVolatile());
        await().atMost(Duration.ofSeconds(60)).until(() -> Files.exists(agents.resolve(agent + ".ledger")));
        terminate(thread);
        return client.resume(thread, ResumeOptions.onward().allowingVolatile()).await();
    }

    @Test
    void resume_threadTerminatedBeforeApproval_chargesAfterApproval() throws IOException {
        thread("patient", "terminated-patient");
        terminate("terminated-patient");

        AgentResult waiting = client.resume(
                        "terminated-patient", ResumeOptions.onward().allowingVolatile())
                .await();
        assertThat(AgentResult.isInterrupted(waiting)).isTrue();
        assertThat(agents.resolve("patient.ledger")).doesNotExist();

        assertThat(AgentResult.assertComplete(client.approve(waiting.thread()).await())
                        .text())
                .isEqualTo("Charged.");
        assertThat(Files.readAllLines(agents.resolve("patient.ledger"))).hasSize(1);
    }

    @Test
    void resume_ofACancelledThread_continuesIt() {
        client.start(Prompt.of("slower", "Hi").withThread("cancelled").allowingVolatile());
        client.cancel("cancelled").await();

        AgentResult result = client.resume(
                        "cancelled",
                        ResumeOptions.onward().withThread("uncancelled").allowingVolatile())
                .await();

        assertThat(AgentResult.assertComplete(result).text()).isEqualTo("At last.");
        assertThat(client.say("uncancelled", "More").await().status()).isEqualTo("complete");
        assertThat(client.inspector().verify("uncancelled").agrees()).isTrue();
    }

    @Test
    void resume_ofACompleteRun_returnsItsOutcome() {
        AgentResult result = client.prompt("greeter", "Hi").await();

        assertThat(client.resume(result.thread(), ResumeOptions.onward()).await())
                .isEqualTo(result);
    }

    @Test
    void resume_ofAnOpenThread_isRefused() {
        thread("assistant", "still-open");

        assertThatThrownBy(() -> client.resume("still-open", ResumeOptions.onward()))
                .isInstanceOf(WaymarkException.Refused.class)
                .hasMessageContaining("still open");
    }

    private void terminate(String thread) {
        try (Connection connection = Connection.to(dev.address())) {
            connection.client().newUntypedWorkflowStub(thread).terminate("a test");
        }
    }

    void thread(String agent, String thread) {
        client.run(Prompt.of(agent, "Hi").withThread(thread).allowingVolatile()).await();
    }
}
