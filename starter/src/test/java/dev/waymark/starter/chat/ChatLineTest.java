package dev.waymark.starter.chat;

import static org.assertj.core.api.Assertions.assertThat;

import dev.waymark.client.request.OutboundMessage;
import dev.waymark.conversation.call.Call;
import dev.waymark.conversation.decision.PendingItem;
import dev.waymark.conversation.message.Part;
import dev.waymark.conversation.value.Json;
import dev.waymark.fixtures.ThreadFixture;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class ChatLineTest {
    private static final List<PendingItem> NOTHING = List.of();
    private static final List<PendingItem> QUESTION = ThreadFixture.resolved("ask_user")
            .says("m1", "Book")
            .callsModel()
            .asks("tu_7", "Which day?")
            .now()
            .pending("t1");
    private static final List<PendingItem> APPROVAL = ThreadFixture.charging()
            .says("m1", "Pay")
            .callsModel()
            .charges("tu_1", 500)
            .now()
            .pending("t1");

    private static final String DIGEST = APPROVAL.get(0).argsDigest().orElseThrow();

    private static List<PendingItem> twoApprovals() {
        List<PendingItem> two = new ArrayList<>(APPROVAL);
        two.addAll(ThreadFixture.charging()
                .says("m1", "Pay")
                .callsModel()
                .charges("tu_2", 7)
                .now()
                .pending("t1"));
        return two;
    }

    @Test
    void text_nothingOpen_isAMessage() {
        assertThat(read("Hello", NOTHING)).containsExactly("say Hello");
    }

    @Test
    void text_questionOpen_answersIt() {
        assertThat(read("Friday", QUESTION)).containsExactly("send answer {callId=tu_7, answer=Friday}");
    }

    @ParameterizedTest
    @ValueSource(strings = {"y", "yes", " YES "})
    void yes_approvalOpen_approvesTheShownArguments(String typed) {
        assertThat(read(typed, APPROVAL)).containsExactly("send approve {callId=tu_1, argsDigest=" + DIGEST + "}");
    }

    @Test
    void no_approvalOpen_deniesIt() {
        assertThat(read("no", APPROVAL)).containsExactly("send deny {callId=tu_1, argsDigest=" + DIGEST + "}");
    }

    @Test
    void otherText_approvalOpen_isNeitherQueuedNorADecision() {
        assertThat(read("sure, go ahead", APPROVAL)).containsExactly("askAgain tu_1");
        assertThat(read("/say sure, go ahead", APPROVAL)).containsExactly("say sure, go ahead");
    }

    @Test
    void text_severalApprovalsOpen_getsAHint() {
        assertThat(read("yes", twoApprovals()))
                .containsExactly(
                        "hint several calls wait for approval: decide with /approve ID or /deny ID. The ids are"
                                + " tu_1, tu_2. /say TEXT sends a message instead");
    }

    @Test
    void text_fromAPipe_neverApproves() {
        Recorded recorded = new Recorded();
        recorded.interactive = false;

        ChatLine.read("yes", APPROVAL, recorded);

        assertThat(recorded.orders)
                .containsExactly(
                        "hint a call waits for approval: decide with /approve or /deny. /say TEXT sends a message instead");
    }

    @Test
    void approve_cutArguments_saysWhereToReadThem() {
        Json args = Json.of(Map.of("text", "x".repeat(20_000)));
        PendingItem large = Call.issued(new Part.ToolUse("tu_1", "charge", args), 1, Instant.EPOCH)
                .awaiting(Optional.empty(), Instant.EPOCH)
                .request(Optional.empty())
                .in("t1");

        assertThat(read("yes", List.of(large))).containsExactly("askAgain tu_1");
        assertThat(read("/approve", List.of(large))).containsExactly("askAgain tu_1");
    }

    @Test
    void reason_inQuotes_isUnquoted() {
        assertThat(read("/deny --reason \"not today\"", APPROVAL))
                .containsExactly("send deny {callId=tu_1, argsDigest=" + DIGEST + ", reason=not today}");
        assertThat(read("/deny --reason 'a' or 'b'", APPROVAL))
                .containsExactly("send deny {callId=tu_1, argsDigest=" + DIGEST + ", reason='a' or 'b'}");
    }

    @Test
    void twoSlashes_sendOneSlash() {
        assertThat(read("//etc/hosts", NOTHING)).containsExactly("say /etc/hosts");
    }

    @Test
    void blankLine_isIgnored() {
        assertThat(read("  ", QUESTION)).isEmpty();
    }

    @Test
    void unknownCommand_getsAHintAndIsNotSent() {
        assertThat(read("/usr/bin/env", QUESTION))
                .containsExactly(
                        "hint no such command: /usr/bin/env. See /help. To send it to the agent, start the line with"
                                + " //");
    }

    @Test
    void approve_isBoundToTheShownArguments() {
        String digest = APPROVAL.get(0).argsDigest().orElseThrow();

        assertThat(read("/approve", APPROVAL)).containsExactly("send approve {callId=tu_1, argsDigest=" + digest + "}");
        assertThat(read("/deny tu_1 --reason too much", APPROVAL))
                .containsExactly("send deny {callId=tu_1, argsDigest=" + digest + ", reason=too much}");
        assertThat(read("/deny --reason no", APPROVAL))
                .containsExactly("send deny {callId=tu_1, argsDigest=" + digest + ", reason=no}");
    }

    @Test
    void approve_noneOrSeveralOpen_getsAHint() {
        List<PendingItem> two = twoApprovals();

        assertThat(read("/approve", QUESTION)).containsExactly("hint no call waits for approval");
        assertThat(read("/approve tu_9", APPROVAL)).containsExactly("hint no call waits for approval: tu_9");
        assertThat(read("/approve", two))
                .containsExactly("hint several calls wait for approval. Add one of these ids: tu_1, tu_2");
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "/settle tu_1 done --result it landed | send settle {callId=tu_1, outcome=done, result=it landed}",
                "/settle tu_1 give-up | send settle {callId=tu_1, outcome=give-up}",
                "/settle tu_1 not-done --note not on the statement | send settle {callId=tu_1, outcome=not-done,"
                        + " note=not on the statement}",
                "/settle tu_1 done --result sent --note seen | send settle {callId=tu_1, outcome=done, result=sent,"
                        + " note=seen}",
                "/settle tu_1 | hint /settle needs ID and one of done, not-done, rerun, give-up. After that, done may"
                        + " have --result TEXT, and each may end with --note TEXT",
                "/settle tu_1 rerun --result no | hint /settle needs ID and one of done, not-done, rerun, give-up. After"
                        + " that, done may have --result TEXT, and each may end with --note TEXT",
                "/stop | send stop {}",
                "/sessions | listSessions",
                "/session | nameSession",
                "/session clear | clearSession",
                "/session my project | switchTo my project",
                "/HELP | help",
                "/aprove | hint no such command: /aprove. Did you mean /approve? See /help. To send it to the agent, start the line with //",
                "/result tu_1 | showResult tu_1",
                "/quit | quit"
            })
    void command_isExecuted(String line, String done) {
        assertThat(read(line, NOTHING)).containsExactly(done);
    }

    private static List<String> read(String line, List<PendingItem> open) {
        Recorded recorded = new Recorded();
        ChatLine.read(line, open, recorded);
        return recorded.orders;
    }

    private static final class Recorded implements ChatLine.Orders {
        private final List<String> orders = new ArrayList<>();
        private boolean interactive = true;

        @Override
        public void say(String text) {
            orders.add("say " + text);
        }

        @Override
        public void send(OutboundMessage letter) {
            orders.add("send " + letter.name() + " "
                    + letter.payload().toString().replaceAll("id=[0-9a-f-]{36}(, )?", ""));
        }

        @Override
        public void hint(String text) {
            orders.add("hint " + text);
        }

        @Override
        public void askAgain(PendingItem item) {
            orders.add("askAgain " + item.callId());
        }

        @Override
        public void showResult(String callId) {
            orders.add("showResult " + callId);
        }

        @Override
        public boolean isInteractive() {
            return interactive;
        }

        @Override
        public void listSessions() {
            orders.add("listSessions");
        }

        @Override
        public void nameSession() {
            orders.add("nameSession");
        }

        @Override
        public void clearSession() {
            orders.add("clearSession");
        }

        @Override
        public void switchTo(String session) {
            orders.add("switchTo " + session);
        }

        @Override
        public void help() {
            orders.add("help");
        }

        @Override
        public void quit() {
            orders.add("quit");
        }
    }
}
