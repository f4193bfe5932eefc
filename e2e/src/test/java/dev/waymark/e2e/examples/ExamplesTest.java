package dev.waymark.e2e.examples;

import static org.assertj.core.api.Assertions.assertThat;

import dev.waymark.e2e.product.Agents;
import dev.waymark.e2e.product.Dev;
import dev.waymark.starter.client.AgentClient;
import dev.waymark.starter.client.AgentResult;
import dev.waymark.starter.client.WaymarkException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.assertj.core.api.Assertions;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class ExamplesTest {
    @TempDir
    static Path agents;

    private static Dev dev;

    @BeforeAll
    static void startDev() {
        dev = Dev.inMemory(new Agents(agents).assistant().directory());
    }

    @AfterAll
    static void stopDev() {
        if (dev != null) {
            dev.close();
        }
    }

    @Test
    void statelessRequests_secondProcess_answersByTheThreadsId() {
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
    void recoveryAfterFailure_successor_getsTheOutcomeWithoutRepeatingAnything() {
        String saved;
        try (AgentClient client = AgentClient.connect(dev.address())) {
            saved = RecoveryAfterFailure.begin(client);
        }
        try (AgentClient client = AgentClient.connect(dev.address())) {
            Assertions.assertThatThrownBy(() -> RecoveryAfterFailure.finish(client, saved))
                    .isInstanceOf(WaymarkException.Interrupted.class)
                    .hasMessage("Agent interrupted: Which day?");
            client.answer(saved, "Friday");

            AgentResult.Complete finished = RecoveryAfterFailure.finish(client, saved);
            assertThat(finished.text()).isEqualTo("Booked.");
            assertThat(RecoveryAfterFailure.finish(client, saved)).isEqualTo(finished);
            assertThat(finished.iterations()).isEqualTo(2);
        }
    }
}
