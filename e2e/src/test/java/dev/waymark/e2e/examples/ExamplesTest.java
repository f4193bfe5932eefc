package dev.waymark.e2e.examples;

import static org.assertj.core.api.Assertions.assertThat;

import dev.waymark.client.AgentClient;
import dev.waymark.client.AgentResult;
import dev.waymark.client.ThreadEvent;
import dev.waymark.client.failure.WaymarkException;
import dev.waymark.client.request.Prompt;
import dev.waymark.conversation.decision.PendingItem;
import dev.waymark.e2e.product.Agents;
import dev.waymark.e2e.product.Dev;
import java.nio.file.Path;
import java.time.LocalDate;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.stream.Stream;
import org.assertj.core.api.Assertions;
import org.assertj.core.api.InstanceOfAssertFactories;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

@Tag("full")
class ExamplesTest {
    @TempDir
    static Path agents;

    private static Dev dev;
    private static Path ledger;

    @BeforeAll
    static void startDev() {
        ledger = agents.resolve("waymark-ledger.txt");
        dev = Dev.inMemory(
                new Agents(agents)
                        .assistant()
                        .greeter()
                        .shipped("billing")
                        .agent("table", "", "replies: [{ text: '{\"day\": \"2026-12-24\", \"guests\": 2}' }]")
                        .directory(),
                // The directory in which billing's programs write their ledger.
                Map.of("TMPDIR", agents.toString()));
    }

    @AfterAll
    static void stopDev() {
        if (dev != null) {
            dev.close();
        }
    }

    @Test
    void statelessRequests_secondProcess_answersByThreadId() {
        Map<String, String> first;
        try (AgentClient client = AgentClient.connect(dev.address())) {
            first = StatelessRequests.handleStart(client, "Book a table");
        }
        assertThat(first).containsEntry("question", "Which day?");

        try (AgentClient client = AgentClient.connect(dev.address())) {
            assertThat(StatelessRequests.handleReply(client, first.get("thread"), "Friday"))
                    .isEqualTo(Map.of("answer", "Booked."));
        }
    }

    @Test
    void loopUntilComplete_asksUntilThereAreNoMoreQuestions() {
        List<String> asked = new ArrayList<>();
        try (AgentClient client = AgentClient.connect(dev.address())) {
            String text = LoopUntilComplete.planMyProject(client, question -> {
                asked.add(question);
                return "Friday";
            });
            assertThat(text).isEqualTo("Booked.");
        }
        assertThat(asked).containsExactly("Which day?");
    }

    @Test
    void decidingInCode_approvesWhatThePolicyAllows() {
        try (AgentClient client = AgentClient.connect(dev.address())) {
            assertThat(DecidingInCode.settleTheBill(client, 9_000))
                    .isInstanceOfSatisfying(
                            AgentResult.Complete.class,
                            settled -> assertThat(settled.text()).contains("settled"));
            assertThat(DecidingInCode.settleTheBill(client, 10)).isInstanceOf(AgentResult.Interrupted.class);
        }
        assertThat(ledger).content().containsOnlyOnce("\"cents\":8400");
    }

    @Test
    void decidingLater_runsWhatWasApproved() {
        PendingItem shown;
        try (AgentClient client = AgentClient.connect(dev.address())) {
            shown = DecidingLater.begin(client).get(0);
        }
        assertThat(shown.words()).isEqualTo("May charge_card {\"cents\": 8400, \"table\": 9} run?");
        try (AgentClient client = AgentClient.connect(dev.address())) {
            assertThat(DecidingLater.approveLess(client, shown, 8_000, "ann").await())
                    .isInstanceOf(AgentResult.Complete.class);
        }
        assertThat(ledger).content().contains("\"cents\":8000");
    }

    @Test
    void recoveryAfterFailure_successor_getsTheOutcomeWithoutRepeatingAnything() {
        String saved;
        try (AgentClient client = AgentClient.connect(dev.address())) {
            saved = RecoveryAfterFailure.begin(client);
        }
        try (AgentClient client = AgentClient.connect(dev.address())) {
            Assertions.assertThatThrownBy(() -> RecoveryAfterFailure.finish(client, saved))
                    .isInstanceOf(WaymarkException.NotComplete.class)
                    .hasMessage("Agent interrupted: Which day?");
            client.answer(saved, "Friday").await();

            AgentResult.Complete finished = RecoveryAfterFailure.finish(client, saved);
            assertThat(finished.text()).isEqualTo("Booked.");
            assertThat(RecoveryAfterFailure.finish(client, saved)).isEqualTo(finished);
            assertThat(finished.iterations()).isEqualTo(2);
        }
    }

    @Test
    void typedReplies_areRecords() {
        try (AgentClient client = AgentClient.connect(dev.address())) {
            assertThat(TypedReplies.visit(client, "We are two, and come on Christmas Eve"))
                    .isEqualTo(new TypedReplies.Visit(LocalDate.of(2026, 12, 24), 2, Optional.empty()));
        }
    }

    @Test
    void reactive_returnsAMonoAndAFlux() {
        try (AgentClient client = AgentClient.connect(dev.address())) {
            Prompt prompt = Prompt.of("greeter", "Hi");

            assertThat(Reactive.result(client, prompt).block()).isInstanceOf(AgentResult.Complete.class);
            List<ThreadEvent> events =
                    Reactive.events(client, prompt).limitRate(2).collectList().block();
            assertThat(events).first().isInstanceOf(ThreadEvent.WaitBegan.class);
            assertThat(events).last().isInstanceOf(ThreadEvent.Ended.class);
            assertThat(Reactive.events(client, prompt).next().block()).isInstanceOf(ThreadEvent.WaitBegan.class);
        }
    }

    @Test
    void waitingWithoutBlocking_repliesToEach() {
        try (AgentClient client = AgentClient.connect(dev.address())) {
            client.run(Prompt.of("greeter", "Hi").withThread("web").allowingVolatile())
                    .await();

            List<CompletableFuture<String>> replies = Stream.of("One", "Two", "Three")
                    .map(message -> WaitingWithoutBlocking.reply(client, "web", message))
                    .toList();

            assertThat(replies).allSatisfy(reply -> assertThat(reply.join()).isEqualTo("Hello."));
        }
    }

    @Test
    void savingAlong_onAnotherServer_continuesTheConversation(@TempDir Path checkpoints) {
        List<String> told = new ArrayList<>();
        try (Dev forgetful = Dev.inMemory(agents);
                AgentClient client = AgentClient.connect(forgetful.address())) {
            assertThat(SavingAlong.goOn(client, "file:" + checkpoints, "Hi")).isEqualTo("Hello.");
        }
        try (AgentClient client = AgentClient.connect(dev.address())) {
            assertThat(SavingAlong.goOn(client, "file:" + checkpoints, "Hi again"))
                    .isEqualTo("Hello.");
            client.close("trip");
            SavingAlong.watch(client, told::add);
        }
        assertThat(told).containsExactly("Loaded 2 messages from checkpoint", "Checkpoint saved at step 2");
    }

    @Test
    void eventsOfATurn_includeApprovalCheckpointsAndOutcome(@TempDir Path directory) {
        RedisCheckpointSaver saver = new RedisCheckpointSaver(new FakeRedis());
        List<String> first = new ArrayList<>();
        List<String> second = new ArrayList<>();
        Map<String, String> environment = Map.of("TMPDIR", directory.toString());
        try (Dev forgetful = Dev.inMemory(agents, environment);
                AgentClient client = AgentClient.connect(forgetful.address())) {
            EventsOfATurn.goOn(client, saver, "Settle the bill of table nine", first::add);
        }
        try (Dev another = Dev.inMemory(agents, environment);
                AgentClient client = AgentClient.connect(another.address())) {
            EventsOfATurn.goOn(client, saver, "Thanks", second::add);
        }

        assertThat(first)
                .contains("May charge_card {\"cents\": 8400, \"table\": 9} run?", "Checkpoint saved at step 1")
                .last(InstanceOfAssertFactories.STRING)
                .contains("settled");
        assertThat(second.get(0)).matches("Loaded \\d+ messages from checkpoint");
        assertThat(second).anyMatch(event -> event.startsWith("Checkpoint saved at step "));
    }
}
