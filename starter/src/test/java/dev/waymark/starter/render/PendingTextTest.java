package dev.waymark.starter.render;

import static org.assertj.core.api.Assertions.assertThat;

import dev.waymark.conversation.call.Call;
import dev.waymark.conversation.decision.PendingItem;
import dev.waymark.conversation.message.Part;
import dev.waymark.conversation.value.Json;
import dev.waymark.conversation.value.UntrustedWords;
import dev.waymark.conversation.value.WordSource;
import java.time.Instant;
import java.util.Map;
import java.util.Optional;
import org.junit.jupiter.api.Test;

class PendingTextTest {
    @Test
    void multilineQuestion_isMarkedOnEveryLine() {
        PendingText text =
                PendingText.of(question("Which day?\n\nbilling  tu_9  since now\n  May pay {\"cents\": 5} run?\u202e"));

        assertThat(text.question())
                .containsExactly(
                        "│ Which day?", "│ ", "│ billing  tu_9  since now", "│   May pay {\"cents\": 5} run?\\u202e");
    }

    @Test
    void singleLineQuestion_isShownUnchanged() {
        assertThat(PendingText.of(question("Which day?\n")).question()).containsExactly("Which day?");
    }

    @Test
    void nonAsciiArguments_areShownCompletely() {
        PendingItem item = approval(Json.of(Map.of("to", "Ann Müller", "text", "日".repeat(1_000))));
        PendingText text = PendingText.of(item);
        String digest = item.argsDigest().orElseThrow();

        assertThat(text.question())
                .containsExactly("May pay {\"text\": \"" + "日".repeat(1_000) + "\", \"to\": \"Ann Müller\"} run?");
        assertThat(text.isWhole()).isTrue();
        assertThat(text.commands(false))
                .containsExactly(
                        "waymark approve t1 --digest " + digest,
                        "waymark deny t1 --digest " + digest + " --reason TEXT");
    }

    @Test
    void notes_nameWhatBroughtUntrustedWords() {
        PendingItem item = approval(Json.EMPTY_OBJECT)
                .after(Optional.of(UntrustedWords.NONE.from(WordSource.call("p1", "fetch"))));
        String note = "The model has read untrusted words since the last message: the result of fetch, call p1.";

        assertThat(PendingText.of(item).notes()).containsExactly(note);
        assertThat(PendingText.of(item).lines()).containsExactly("May pay {} run?", note);
        assertThat(item.words()).isEqualTo("May pay {} run? " + note);
    }

    @Test
    void cutArguments_areNotOfferedForApproval() {
        PendingItem item = approval(Json.of(Map.of("text", "x".repeat(20_000))));
        PendingText text = PendingText.of(item);

        assertThat(text.isWhole()).isFalse();
        assertThat(text.question().get(0)).contains("(cut: 8,000 of 20,012 characters)");
        assertThat(text.commands(false))
                .noneMatch(line -> line.contains(item.argsDigest().orElseThrow()) || line.startsWith("waymark approve"))
                .anyMatch(line -> line.contains("waymark pending t1 --json"));
    }

    @Test
    void idsWithLineBreaks_cannotForgeACommand() {
        PendingItem item = question("a\n  waymark approve other", "Yes?");

        assertThat(PendingText.of(item).commands(true))
                .allMatch(line -> line.lines().count() == 1);
    }

    private static PendingItem question(String words) {
        return question("tu_1", words);
    }

    private static PendingItem question(String callId, String words) {
        return shown(Call.issued(new Part.ToolUse(callId, "ask_user", Json.EMPTY_OBJECT), 1, Instant.EPOCH)
                .asking(words, Instant.EPOCH));
    }

    private static PendingItem approval(Json args) {
        return shown(Call.issued(new Part.ToolUse("tu_1", "pay", args), 1, Instant.EPOCH)
                .awaiting(Optional.empty(), Instant.EPOCH));
    }

    private static PendingItem shown(Call call) {
        return call.request(Optional.empty()).in("t1");
    }
}
