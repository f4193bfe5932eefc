package dev.waymark.worker.workflow;

import static org.assertj.core.api.Assertions.assertThat;

import dev.waymark.conversation.Conversation;
import dev.waymark.conversation.Resumption;
import dev.waymark.conversation.call.AgentPolicy;
import dev.waymark.conversation.decision.FileCalls;
import dev.waymark.conversation.fact.Fact;
import dev.waymark.conversation.fact.ModelFact;
import dev.waymark.conversation.fact.PersonFact;
import dev.waymark.conversation.fact.ThreadFact;
import dev.waymark.conversation.fact.ToolFact;
import dev.waymark.conversation.message.Message;
import dev.waymark.conversation.message.Part;
import dev.waymark.conversation.message.Reply;
import dev.waymark.conversation.rule.Rules;
import dev.waymark.conversation.state.ThreadIdentity;
import dev.waymark.conversation.value.Json;
import dev.waymark.conversation.value.Problem;
import dev.waymark.conversation.value.Usage;
import java.nio.charset.StandardCharsets;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

class WebUiCardTest {
    private static final Instant AT = Instant.parse("2026-05-01T09:00:00Z");

    @Test
    void question_isShownWithTheWayToAnswer() {
        assertThat(card(ask("tu_1", "Thursday or Friday?")))
                .startsWith("**Waiting for an answer**\n\n> Thursday or Friday?\n\n")
                .contains(
                        "To answer: open *History*, then *More Actions → Send a Signal →* `answer`, with the JSON input `\"your answer\"`")
                .contains("- user: Hello\n", "- agent: → ask\\_user\n")
                .endsWith("`./waymark show t-1`\n");
    }

    @Test
    void severalQuestions_areDistinguished() {
        assertThat(card(ask("tu_1", "Which day?"), ask("tu_2", "How many?")))
                .contains("> Which day? (`tu_1`)\n", "> How many? (`tu_2`)\n")
                .contains("`{\"callId\": \"tu_1\", \"answer\": \"your answer\"}`");
    }

    @Test
    void textOfOthers_isEscapedInMarkdown() {
        assertThat(card(new Part.Text("[here](https://x)\n\n# **Done**"), ask("tu_1", "<b>Pay</b> $1 & $2?")))
                .contains("\\[here\\]\\(https\\://x\\) \\# \\*\\*Done\\*\\*")
                .contains("> \\<b\\>Pay\\</b\\> \\$1 \\& \\$2?\n");
    }

    @Test
    void toolResult_isShownAsPrinted() {
        Conversation state = Rules.apply(
                Rules.apply(
                        Rules.apply(
                                Rules.apply(
                                        after(use("tu_1", "look"), ask("tu_2", "Which?")),
                                        new ToolFact.ToolDispatched("tu_1", 1),
                                        AT),
                                new ToolFact.ToolFinished("tu_1", 1, "{\"a\": \"``b`\"}", false),
                                AT),
                        new PersonFact.HumanAnswered(Optional.empty(), Optional.empty(), "this", Optional.empty()),
                        AT),
                new ModelFact.ModelCalled(2),
                AT);

        assertThat(new WebUiCard("t-1").of(state)).contains("- tools: ```{\"a\": \"``b`\"} this```\n");
    }

    @Test
    void callToApprove_hasBothSignalsAndTheDigest() {
        Conversation state = after(use("tu_1", "pay"));
        String digest = state.calls().get("tu_1").orElseThrow().argsDigest();

        assertThat(new WebUiCard("t-1").of(state))
                .startsWith(
                        "**Waiting for approval**\n\n> May `pay` `{}` run?\n\n`{\"callId\": \"tu_1\", \"argsDigest\": \""
                                + digest + "\"}`\n\n")
                .contains(
                        "To decide: open *History*, then *More Actions → Send a Signal →* `approve` or `deny`, with the"
                                + " JSON input below the call.");
    }

    @Test
    void callOfAFile_namesItsSource() {
        Conversation state = after(use("tu_1", "look"));
        Resumption how = new Resumption(
                        "r", Optional.empty(), Optional.empty(), Optional.empty(), false, Optional.empty())
                .withFileCalls(FileCalls.WAIT);

        assertThat(new WebUiCard("t-1").of(Rules.resume(state, how, AT)))
                .startsWith("**Waiting for approval**\n\n> May `look` `{}` run? This call is from a file\\.\n\n");
    }

    @Test
    void claimedCall_isRunningAndUnknownOnceItIsLost() {
        Conversation approved = Rules.apply(after(use("tu_1", "pay")), approval("tu_1"), AT);
        String digest = approved.calls().get("tu_1").orElseThrow().argsDigest();
        Conversation claimed = Rules.apply(
                Rules.apply(approved, new ToolFact.ToolDispatched("tu_1", 1), AT),
                new ToolFact.ToolClaimed("tu_1", 1, "pay", digest, 0, "run-1/1", false),
                AT);
        Conversation lost = Rules.apply(claimed, new ToolFact.ToolLost("tu_1", 1, new Problem("Timeout", "gone")), AT);

        assertThat(new WebUiCard("t-1").of(claimed))
                .startsWith("**Running tools**\n\n- In flight: `pay` `{}` (`tu_1`), claimed at 2026-05-01T09:00:00Z\n");
        assertThat(new WebUiCard("t-1").of(lost))
                .startsWith("**Waiting for people**\n\n> Did `pay` `{}` take effect? The outcome is unknown: gone\n\n"
                        + "`{\"callId\": \"tu_1\", \"outcome\": \"done\", \"result\": \"what it returned\"}`\n\n")
                .contains(
                        "Instead of `done`, without a result: `not-done` or `rerun` or `give-up`.\n",
                        "Send a Signal →* `settle`",
                        "A `note` in it is kept with the call");
    }

    /** Markdown joins two lists with only an empty line in between, and finds no list directly after text. */
    @Test
    void lists_areSeparated() {
        Conversation approved = Rules.apply(after(use("tu_1", "pay"), use("tu_2", "look")), approval("tu_1"), AT);
        String digest = approved.calls().get("tu_1").orElseThrow().argsDigest();
        Conversation claimed = Rules.apply(
                Rules.apply(approved, new ToolFact.ToolDispatched("tu_1", 1), AT),
                new ToolFact.ToolClaimed("tu_1", 1, "pay", digest, 0, "run-1/1", false),
                AT);

        assertThat(new WebUiCard("t-1").of(claimed))
                .contains("claimed at 2026-05-01T09:00:00Z\n\nLast messages:\n\n- user: Hello\n")
                .doesNotContainPattern("(?m)^- .*\n\n- ")
                .doesNotContainPattern("(?m)^[^-\n].*\n- ");
    }

    /** Its tool does not set honours_key. */
    @Test
    void lostCall_thatCannotRunAgain_saysWhy() {
        Conversation sent = after(use("tu_1", "send"));
        String digest = sent.calls().get("tu_1").orElseThrow().argsDigest();
        Conversation lost = Rules.apply(
                Rules.apply(
                        Rules.apply(sent, new ToolFact.ToolDispatched("tu_1", 1), AT),
                        new ToolFact.ToolClaimed("tu_1", 1, "send", digest, 0, "run-1/1", false),
                        AT),
                new ToolFact.ToolLost("tu_1", 1, new Problem("Timeout", "gone")),
                AT);

        assertThat(new WebUiCard("t-1").of(lost))
                .contains("`not-done` or `give-up`. It can't be run again: the lost execution may still take effect")
                .doesNotContain("`rerun`");
    }

    @Test
    void planAndTodos_areListed() {
        Conversation state = after(
                new Part.ToolUse(
                        "tu_1",
                        "write_todos",
                        Json.of(Map.of(
                                "todos", List.of(Map.of("id", "1", "content", "Book *it*", "status", "pending"))))),
                new Part.ToolUse(
                        "tu_2",
                        "write_plan",
                        Json.of(Map.of(
                                "goal",
                                "Lisbon",
                                "steps",
                                List.of(Map.of("id", "1", "description", "Look", "status", "done"))))));

        assertThat(new WebUiCard("t-1").of(state))
                .contains("\nPlan: Lisbon\n\n- done: Look\n", "\nTo do:\n\n- pending: Book \\*it\\*\n");
    }

    @Test
    void largestCard_fitsTemporalsLimit() {
        String long1 = "日*".repeat(10_000);
        Part[] calls = IntStream.range(0, 60)
                .mapToObj(i -> i % 2 == 0 ? ask("q" + i + long1, long1) : pay("p" + i + long1, long1))
                .toArray(Part[]::new);
        String card = card(calls);

        assertThat(card.getBytes(StandardCharsets.UTF_8)).hasSizeBetween(15_000, 20_000);
        assertThat(card).contains("… There is more.").endsWith("`./waymark show t-1`\n");
    }

    @Test
    void argumentsToApprove_areShownInFullOrNotApprovable() {
        String words = "x".repeat(3_000);
        assertThat(card(pay("tu_1", words))).contains(words + "\"}` run?", "argsDigest");

        assertThat(card(pay("tu_1", "x".repeat(5_000))))
                .contains(
                        "… (cut: 4,000 of 5,014 characters)` run?",
                        "It can't be decided here",
                        "`./waymark pending t-1 --json`")
                .doesNotContain("argsDigest", "To decide:");
    }

    @Test
    void charactersThatHideOrReorder_areShownAsEscapes() {
        assertThat(card(ask("tu_1", "Pay ann\u202e?\u001b[2J\n\n# Approved"), pay("tu_2", "\u200bfive\u009b")))
                .contains("> Pay ann\\\\u202e?\\\\u001b\\[2J \\# Approved")
                .contains("{\"reason\": \"\\u200bfive\\u009b\"}");
    }

    private static Part.ToolUse pay(String id, String reason) {
        return new Part.ToolUse(id, "pay", Json.of(Map.of("reason", reason)));
    }

    private static Fact approval(String callId) {
        return new PersonFact.ApprovalDecided(
                true,
                Optional.empty(),
                Optional.of(callId),
                Optional.empty(),
                Optional.empty(),
                Optional.empty(),
                Optional.empty());
    }

    private static String card(Part... reply) {
        return new WebUiCard("t-1").of(after(reply));
    }

    private static Conversation after(Part... reply) {
        AgentPolicy policy = new AgentPolicy(
                "a",
                4,
                Map.of(
                        "ask_user",
                        AgentPolicy.Executor.QUESTION,
                        "look",
                        AgentPolicy.Executor.ACTIVITY,
                        "pay",
                        AgentPolicy.Executor.ACTIVITY,
                        "send",
                        AgentPolicy.Executor.ACTIVITY,
                        "write_todos",
                        AgentPolicy.Executor.STATE,
                        "write_plan",
                        AgentPolicy.Executor.STATE),
                Map.of(
                        "pay",
                        new AgentPolicy.ToolPolicy(true, true, false, false, true, 1_000, true, false),
                        "send",
                        new AgentPolicy.ToolPolicy(true, false, false, false, true, 1_000, false, false)),
                Optional.empty());
        PersonFact.UserSpoke hello =
                new PersonFact.UserSpoke(Optional.empty(), Optional.empty(), Optional.of(Message.user("Hello")), false);
        Conversation state =
                Rules.start(new ThreadFact.RunStarted(ThreadIdentity.RULES, "a", false, Optional.empty()), AT);
        for (Fact fact : List.of(
                new ThreadFact.AgentRequested(),
                new ThreadFact.AgentResolved(policy),
                hello,
                new ModelFact.ModelCalled(1),
                new ModelFact.ModelReplied(1, new Reply(List.of(reply), new Usage(10, 5), "tool_use")))) {
            state = Rules.apply(state, fact, AT);
        }
        return state;
    }

    private static Part.ToolUse ask(String id, String question) {
        return new Part.ToolUse(id, "ask_user", Json.of(Map.of("question", question)));
    }

    private static Part.ToolUse use(String id, String tool) {
        return new Part.ToolUse(id, tool, Json.EMPTY_OBJECT);
    }
}
