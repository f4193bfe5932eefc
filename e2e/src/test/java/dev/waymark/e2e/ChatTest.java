package dev.waymark.e2e;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.waymark.e2e.product.Agents;
import dev.waymark.e2e.product.Command;
import dev.waymark.e2e.product.Command.Done;
import dev.waymark.e2e.product.Dev;
import dev.waymark.e2e.product.Terminal;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.regex.Pattern;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Conversations at a terminal and through pipes. */
@Tag("full")
class ChatTest {
    private static final String CTRL_C = "\u0003";
    private static final String CTRL_D = "\u0004";
    private static final String ENTER = "\r";

    @TempDir
    static Path directory;

    private static Path agents;
    private static Dev dev;
    private static Command waymark;

    @BeforeAll
    static void startDev() throws IOException {
        agents = new Agents(Files.createDirectory(directory.resolve("agents")))
                .assistant()
                .greeter()
                .charger("charger", 1, "")
                .slow("slow", "10m")
                .directory();
        dev = Dev.inMemory(agents);
        waymark = Command.at(dev.address());
    }

    @AfterAll
    static void stopDev() {
        if (dev != null) {
            dev.close();
        }
    }

    @Test
    void plainLine_answersTheOpenQuestion() {
        Done done = waymark.runTyping(
                "Book a table\nFriday\n", "chat", "--agent", "assistant", "--session", "plain", "--volatile");

        assertThat(done).isEqualTo(new Done(0, "One thing first.\nWhich day?\nBooked.\n", ""));
    }

    @Test
    void sessions_many_listsTheNewest20() {
        for (int i = 0; i < 21; i++) {
            waymark.run("run", "--agent", "assistant", "--thread", "many-" + i, "--volatile", "--no-wait", "Hi");
        }

        Done done =
                waymark.runTyping("/sessions\n", "chat", "--agent", "assistant", "--session", "listing", "--volatile");

        assertThat(done.out().lines()).hasSize(20);
        assertThat(done.err()).contains(" older ones are not shown; ");
    }

    @Test
    void approval_needsACommandNotAPlainLine() {
        Done done = waymark.runTyping(
                "Pay\n/approve --reason fine\n", "chat", "--agent", "charger", "--session", "pay", "--volatile");

        assertThat(done.exitCode()).isZero();
        assertThat(done.out()).isEqualTo("May charge_card {\"cents\": 500} run?\nCharged.\n");
        assertThat(waymark.run("calls", "pay", "--json")
                        .json()
                        .get(0)
                        .get("status")
                        .textValue())
                .isEqualTo("completed");
    }

    @Test
    void pipedLines_withoutWorker_areNotAwaited() {
        Done done = waymark.with("WAYMARK_TASK_QUEUE", "nobody")
                .runTyping(
                        "Hi\nAre you there?\n", "chat", "--agent", "greeter", "--session", "unattended", "--volatile");

        assertThat(done.exitCode()).isZero();
        assertThat(done.err())
                .containsOnlyOnce("no worker takes the work")
                .containsOnlyOnce("no worker took the say in time")
                .contains("Come back with: waymark chat --session unattended");
    }

    @Test
    void newSession_continuesUnderItsGeneratedName() {
        Done first = waymark.runTyping("Hi\n", "chat", "--agent", "greeter", "--volatile");
        String name = first.err().replaceAll("(?s)session (chat-\\w+)\\..*", "$1");

        Done second = waymark.runTyping("Again\n/session\n", "chat", "--session", name);

        assertThat(first.out()).isEqualTo("Hello.\n");
        assertThat(second).isEqualTo(new Done(0, "> Hi\nHello.\nHello.\n" + name + "\n", ""));
    }

    @Test
    void impossibleSession_isRefusedAtOnce() {
        Done forgetful = waymark.runTyping("Hi\n", "chat", "--agent", "greeter", "--session", "gone");
        assertThat(forgetful.exitCode()).isEqualTo(2);
        assertThat(forgetful.err()).contains("--saver", "--volatile").hasLineCount(1);

        assertThat(waymark.run("chat", "--agent", "greeter", "--json").exitCode())
                .isEqualTo(2);
        assertThat(waymark.run("chat", "--volatile").err())
                .contains("a new session needs an agent")
                .hasLineCount(1);
        assertThat(Command.at("127.0.0.1:1").run("chat", "--agent", "greeter").exitCode())
                .isEqualTo(5);
    }

    @Test
    void killedServer_sessionIsRestoredWithQuestionAndCalls() {
        String saver = "file:" + directory.resolve("killed");
        try (Dev first = Dev.inMemory(agents)) {
            Done asked = Command.at(first.address())
                    .runTyping(
                            "Book a table\n",
                            "chat",
                            "--agent",
                            "assistant",
                            "--session",
                            "my project",
                            "--saver",
                            saver);
            assertThat(asked.out()).endsWith("Which day?\n");
            first.kill();
        }
        try (Dev second = Dev.inMemory(agents)) {
            Command there = Command.at(second.address());
            String[] again = {"chat", "--agent", "assistant", "--session", "my project", "--saver", saver};

            Done back = there.runTyping("Friday\n", again);

            assertThat(back.exitCode()).isZero();
            assertThat(back.out())
                    .isEqualTo("> Book a table\nOne thing first.\n"
                            + "· ask_user {\"question\": \"Which day?\"}\nWhich day?\nBooked.\n");
            assertThat(there.run("calls", "my project", "--json")
                            .json()
                            .get(0)
                            .get("status")
                            .textValue())
                    .isEqualTo("completed");
        }
        try (Dev third = Dev.inMemory(agents)) {
            Done after = Command.at(third.address())
                    .runTyping("", "chat", "--agent", "assistant", "--session", "my project", "--saver", saver);
            assertThat(after.out()).endsWith("Booked.\n");
        }
    }

    @Test
    void sessionClear_deletesItOnServerAndInSaver() {
        String saver = "file:" + directory.resolve("cleared");
        String[] chat = {"chat", "--agent", "greeter", "--session", "clear-me", "--saver", saver};

        Done saved = waymark.runTyping("Hi\n/sessions\n", chat);
        Done cleared = waymark.runTyping("/session clear\n", chat);
        Done after = waymark.runTyping("", chat);

        assertThat(saved.out()).contains("* clear-me  complete");
        assertThat(cleared.err()).contains("cleared: clear-me");
        assertThat(after).isEqualTo(new Done(0, "", ""));
        assertThat(directory.resolve("cleared").toFile().list((folder, file) -> file.endsWith(".json")))
                .isEmpty();
    }

    @Test
    void ctrlC_stopsTheTurnButNotTheProgram() throws Exception {
        try (Terminal terminal =
                Terminal.start(dev.address(), "chat", "--agent", "slow", "--session", "ctrl-c", "--volatile")) {
            shows(terminal, "> ");
            terminal.type("Take your time" + ENTER);
            await().atMost(Duration.ofSeconds(60))
                    .until(() -> waymark.run("show", "ctrl-c", "--json").out().contains("\"thinking\""));

            terminal.type("half a line" + CTRL_C);
            promptsAfter(terminal, "stopped. Send another message", 1);

            String hint = "quit with /quit or Ctrl-D";
            terminal.type(CTRL_C);
            promptsAfter(terminal, hint, 1);
            terminal.type(CTRL_C);
            promptsAfter(terminal, hint, 2);
            terminal.type(CTRL_D);
            assertThat(terminal.exitCode()).isZero();
        }
        assertThat(waymark.run("show", "ctrl-c", "--json").json().get("status").textValue())
                .isEqualTo("stopped");
    }

    @Test
    void ctrlC_duringRun_saysThatTheThreadContinues() throws Exception {
        String[] run = {"run", "--agent", "slow", "--thread", "left", "--volatile", "Take your time"};
        try (Terminal terminal = Terminal.start(dev.address(), run)) {
            await().atMost(Duration.ofSeconds(60))
                    .until(() -> waymark.run("show", "left", "--json").out().contains("\"thinking\""));

            terminal.type(CTRL_C);

            shows(terminal, "left continues. To wait for its outcome: ");
            assertThat(terminal.exitCode()).isEqualTo(6);
        }
        assertThat(waymark.run("show", "left", "--json").json().get("status").textValue())
                .isEqualTo("running");
    }

    /**
     * Waits until these words were shown this many times and a prompt follows. The chat does not read text that is
     * typed before its prompt.
     */
    private static void promptsAfter(Terminal terminal, String words, int times) {
        await().atMost(Duration.ofSeconds(60)).until(() -> {
            String screen = terminal.screen();
            return screen.split(Pattern.quote(words), -1).length == times + 1
                    && screen.lastIndexOf("> ") > screen.lastIndexOf(words);
        });
    }

    @Test
    void pastedText_isOneMessage() throws Exception {
        try (Terminal terminal =
                Terminal.start(dev.address(), "chat", "--agent", "greeter", "--session", "paste", "--volatile")) {
            shows(terminal, "> ");
            terminal.type("\u001b[200~one\rtwo\u001b[201~" + ENTER);
            shows(terminal, "Hello.");
            terminal.type("/quit" + ENTER);
            assertThat(terminal.exitCode()).isZero();
        }
        assertThat(waymark.run("show", "paste", "--json")
                        .json()
                        .get("messages")
                        .get(0)
                        .get("content")
                        .textValue())
                .isEqualTo("one\ntwo");
    }

    @Test
    void run_onATerminal_showsTextMeanwhile() throws Exception {
        try (Terminal terminal = Terminal.start(
                dev.address(), "run", "--agent", "assistant", "--thread", "meanwhile", "--volatile", "Book a table")) {
            assertThat(terminal.exitCode()).isZero();
            assertThat(terminal.screen()).containsSubsequence("│ One thing first.", "Which day?");
        }
    }

    private static void shows(Terminal terminal, String text) {
        await().atMost(Duration.ofSeconds(60))
                .untilAsserted(() -> assertThat(terminal.screen()).contains(text));
    }

    @Tag("server")
    @Test
    void realServer_closedSession_continuesInAnotherThread() throws IOException {
        Path own = Files.createDirectory(directory.resolve("durable"));
        try (Dev durable = Dev.durable(new Agents(own).assistant().directory())) {
            Command there = Command.at(durable.address());
            String[] chat = {"chat", "--agent", "assistant", "--session", "trip"};
            there.runTyping("Book a table\n", chat);

            Done answered = there.runTyping("Friday\n", chat);
            assertThat(answered.out()).endsWith("Which day?\nBooked.\n");

            there.run("close", "trip");
            Done goesOn = there.runTyping("Thanks\n", chat);
            assertThat(goesOn.err()).contains("continuing in trip~2");
            assertThat(goesOn.out()).startsWith("> Book a table\n").endsWith("Booked.\nBooked.\n");
        }
    }
}
