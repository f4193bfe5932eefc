package dev.waymark.starter.render;

import static org.assertj.core.api.Assertions.assertThat;

import dev.waymark.contract.thread.PendingItem;
import dev.waymark.conversation.value.Json;
import java.time.Instant;
import java.util.Map;
import java.util.Optional;
import org.junit.jupiter.api.Test;

class PendingTextTest {
    private static final String DIGEST = "0".repeat(64);

    @Test
    void questionOfSeveralLines_passesForNoEntryOfItsOwn() {
        PendingText text =
                PendingText.of(question("Which day?\n\nbilling  tu_9  since now\n  May pay {\"cents\": 5} run?\u202e"));

        assertThat(text.question())
                .containsExactly(
                        "│ Which day?", "│ ", "│ billing  tu_9  since now", "│   May pay {\"cents\": 5} run?\\u202e");
    }

    @Test
    void questionOnOneLine_isShownAsItIs() {
        assertThat(PendingText.of(question("Which day?\n")).question()).containsExactly("Which day?");
    }

    @Test
    void arguments_areShownWhole_inTheirOwnLanguage() {
        PendingText text = PendingText.of(approval(Json.of(Map.of("to", "Ann Müller", "text", "日".repeat(1_000)))));

        assertThat(text.question())
                .containsExactly("May pay {\"text\": \"" + "日".repeat(1_000) + "\", \"to\": \"Ann Müller\"} run?");
        assertThat(text.isWhole()).isTrue();
        assertThat(text.commands(false))
                .containsExactly(
                        "waymark approve t1 --digest " + DIGEST,
                        "waymark deny t1 --digest " + DIGEST + " --reason TEXT");
    }

    @Test
    void argumentsThatAreCut_areNotOfferedForApproval() {
        PendingText text = PendingText.of(approval(Json.of(Map.of("text", "x".repeat(20_000)))));

        assertThat(text.isWhole()).isFalse();
        assertThat(text.question().get(0)).contains("(cut: 8,000 of 20,012 characters)");
        assertThat(text.commands(false))
                .noneMatch(line -> line.contains(DIGEST) || line.startsWith("waymark approve"))
                .anyMatch(line -> line.contains("waymark pending t1 --json"));
    }

    @Test
    void idsWithLineBreaks_forgeNoCommand() {
        PendingItem item = new PendingItem(
                "t1",
                "a\n  waymark approve other",
                PendingItem.QUESTION,
                "ask_user",
                Optional.of("Yes?"),
                Optional.empty(),
                Optional.empty(),
                Instant.EPOCH,
                Optional.empty(),
                Optional.empty());

        assertThat(PendingText.of(item).commands(true))
                .allMatch(line -> line.lines().count() == 1);
    }

    private static PendingItem question(String words) {
        return new PendingItem(
                "t1",
                "tu_1",
                PendingItem.QUESTION,
                "ask_user",
                Optional.of(words),
                Optional.empty(),
                Optional.empty(),
                Instant.EPOCH,
                Optional.empty(),
                Optional.empty());
    }

    private static PendingItem approval(Json args) {
        return new PendingItem(
                "t1",
                "tu_1",
                PendingItem.APPROVAL,
                "pay",
                Optional.empty(),
                Optional.of(args),
                Optional.of(DIGEST),
                Instant.EPOCH,
                Optional.empty(),
                Optional.empty());
    }
}
