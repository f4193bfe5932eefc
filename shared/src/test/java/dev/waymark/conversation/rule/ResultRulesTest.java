package dev.waymark.conversation.rule;

import static dev.waymark.conversation.rule.ConversationScript.answered;
import static dev.waymark.conversation.rule.ConversationScript.ask;
import static dev.waymark.conversation.rule.ConversationScript.finished;
import static dev.waymark.conversation.rule.ConversationScript.replaced;
import static dev.waymark.conversation.rule.ConversationScript.reply;
import static dev.waymark.conversation.rule.ConversationScript.said;
import static dev.waymark.conversation.rule.ConversationScript.text;
import static dev.waymark.conversation.rule.ConversationScript.use;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.waymark.conversation.Conversation;
import dev.waymark.conversation.ForkRequest;
import dev.waymark.conversation.Resumption;
import dev.waymark.conversation.Step;
import dev.waymark.conversation.call.AgentPolicy;
import dev.waymark.conversation.call.Call;
import dev.waymark.conversation.call.LongResult;
import dev.waymark.conversation.decision.FileCalls;
import dev.waymark.conversation.fact.ModelFact;
import dev.waymark.conversation.fact.PersonFact;
import dev.waymark.conversation.fact.SubagentFact;
import dev.waymark.conversation.fact.ToolFact;
import dev.waymark.conversation.message.Message;
import dev.waymark.conversation.message.Part;
import dev.waymark.conversation.message.Role;
import dev.waymark.conversation.policy.ResultRule;
import dev.waymark.conversation.policy.SummaryRule;
import dev.waymark.conversation.value.Json;
import dev.waymark.conversation.value.Problem;
import dev.waymark.conversation.value.Spent;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.junit.jupiter.api.Test;

class ResultRulesTest {
    private static final int SHOW = 4 * 1024;
    private static final String LONG = "begin " + "0123456789".repeat(2_000) + " end";
    private static final String BIG = "x".repeat(250 * 1024);

    private static AgentPolicy agent() {
        Map<String, AgentPolicy.Executor> tools = new LinkedHashMap<>();
        tools.put("lookup", AgentPolicy.Executor.ACTIVITY);
        tools.put("pay", AgentPolicy.Executor.ACTIVITY);
        tools.put("scout", AgentPolicy.Executor.SUBAGENT);
        tools.put("read_file", AgentPolicy.Executor.STATE);
        tools.put("write_file", AgentPolicy.Executor.STATE);
        tools.put("ask_user", AgentPolicy.Executor.QUESTION);
        tools.put("read_result", AgentPolicy.Executor.STATE);
        AgentPolicy.ToolPolicy once = new AgentPolicy.ToolPolicy(true, false, true, false, true, 60_000, false, false);
        return new AgentPolicy("helper", 40, tools, Map.of("pay", once), Optional.empty())
                .withResults(new ResultRule(SHOW));
    }

    private static ConversationScript called(Part... calls) {
        return ConversationScript.of(agent()).with(said("Go"), new ModelFact.ModelCalled(1), reply(1, calls));
    }

    /** A thread in which lookup has returned this, and the model was called again. */
    private static ConversationScript found(String result) {
        return called(use("tu_1", "lookup"))
                .with(new ToolFact.ToolDispatched("tu_1", 1), finished("tu_1", result), new ModelFact.ModelCalled(2));
    }

    private static Part.ToolUse read(String id, Object... args) {
        Map<String, Object> fields = new LinkedHashMap<>();
        for (int i = 0; i < args.length; i += 2) {
            fields.put((String) args[i], args[i + 1]);
        }
        return new Part.ToolUse(id, "read_result", Json.of(fields));
    }

    private static String answer(ConversationScript story, Object... args) {
        Call call = story.with(reply(2, read("tu_9", args))).call("tu_9");
        return (call.status() == Call.Status.FAILED ? "failed: " : "")
                + call.result().orElseThrow();
    }

    private static String result(ConversationScript story, String id) {
        return story.call(id).result().orElseThrow();
    }

    private static int bytes(String text) {
        return text.getBytes(StandardCharsets.UTF_8).length;
    }

    @Test
    void longResult_isCutWhenItArrives_andStaysWholeBeside() {
        ConversationScript story =
                called(use("tu_1", "lookup")).with(new ToolFact.ToolDispatched("tu_1", 1), finished("tu_1", LONG));

        String told = result(story, "tu_1");
        assertThat(told)
                .startsWith("begin 0123")
                .endsWith("6789 end")
                .contains(
                        "\n[characters 2000 to 18010 of 20010 are left out: read_result {\"call\": \"tu_1\", \"from\": 2000}]\n");
        assertThat(bytes(told)).isLessThanOrEqualTo(SHOW);
        assertThat(story.state().wholeResult("tu_1")).contains(LONG);

        story.with(new ModelFact.ModelCalled(2));
        assertThat(story.messages())
                .last()
                .isEqualTo(Message.results(List.of(new Part.ToolResult("tu_1", told, false))));
        assertThat(story.state().wholeResult("tu_1")).contains(LONG);
    }

    @Test
    void resultThatFits_isNotCut() {
        String fits = "é".repeat(SHOW / 2);

        assertThat(result(
                        called(use("tu_1", "lookup"))
                                .with(new ToolFact.ToolDispatched("tu_1", 1), finished("tu_1", fits)),
                        "tu_1"))
                .isEqualTo(fits);
        assertThat(found(fits).state().callBook().longResults()).isEmpty();
        assertThat(found(fits + "a").state().wholeResult("tu_1")).contains(fits + "a");
    }

    @Test
    void agentWithoutARule_isShownEverything() {
        ConversationScript story = ConversationScript.ready()
                .with(
                        said("Go"),
                        new ModelFact.ModelCalled(1),
                        reply(1, use("tu_1", "lookup")),
                        new ToolFact.ToolDispatched("tu_1", 1),
                        finished("tu_1", LONG));

        assertThat(result(story, "tu_1")).isEqualTo(LONG);
        assertThat(story.state().callBook().longResults()).isEmpty();
    }

    @Test
    void errors_answers_filesAndReports_areCutToo() {
        ConversationScript story = called(
                        use("tu_1", "lookup"),
                        ask("tu_2", "Which?"),
                        new Part.ToolUse("tu_3", "scout", Json.of(Map.of("task", "Look"))))
                .with(
                        new ToolFact.ToolDispatched("tu_1", 1),
                        new ToolFact.ToolFinished("tu_1", 1, "Tool error: " + LONG, true),
                        answered("tu_2", LONG),
                        new SubagentFact.SubagentStarted("tu_3", Optional.empty()),
                        new SubagentFact.SubagentFinished(
                                "tu_3", "complete", LONG, Optional.empty(), Optional.of(Spent.NOTHING)));

        assertThat(story.state().batchCalls())
                .allMatch(call -> bytes(call.result().orElseThrow()) <= SHOW)
                .allMatch(call -> LongResult.isCut(call.id(), call.result().orElseThrow()));
        assertThat(story.call("tu_1").status()).isEqualTo(Call.Status.FAILED);

        Part.ToolUse write = new Part.ToolUse("tu_4", "write_file", Json.of(Map.of("path", "a", "content", LONG)));
        Part.ToolUse readBack = new Part.ToolUse("tu_5", "read_file", Json.of(Map.of("path", "a")));
        story.with(new ModelFact.ModelCalled(2), reply(2, write, readBack));
        assertThat(LongResult.isCut("tu_5", result(story, "tu_5"))).isTrue();
        assertThat(story.state().wholeResult("tu_5")).contains(LONG);
    }

    @Test
    void read_returnsThePartFromThere_withoutAnActivity() {
        ConversationScript story = found(LONG);

        String answer = answer(story, "call", "tu_1", "from", 1993);

        assertThat(answer)
                .startsWith(LONG.substring(1993, 5_900))
                .containsPattern(
                        "\n\\[characters 1993 to 5\\d{3} of 20010; go on with read_result \\{\"call\": \"tu_1\", \"from\": 5\\d{3}}]$");
        assertThat(bytes(answer)).isLessThanOrEqualTo(SHOW);
        assertThat(story.decides()).containsExactly(new Step.CallModel(3));
    }

    @Test
    void read_again_andAgain_givesTheWholeText() {
        ConversationScript story = found(LONG);
        StringBuilder whole = new StringBuilder();
        int step = 2;
        while (whole.length() < LONG.length()) {
            String id = "read_" + step;
            story.with(reply(step, read(id, "call", "tu_1", "from", whole.length())));
            String answer = result(story, id);
            whole.append(answer, 0, answer.lastIndexOf("\n[characters "));
            step++;
            story.with(new ModelFact.ModelCalled(step));
        }

        assertThat(whole.toString()).isEqualTo(LONG);
        assertThat(story.state().callBook().longResults()).hasSize(1);
    }

    @Test
    void read_toTheEnd_saysSo() {
        assertThat(answer(found(LONG), "call", "tu_1", "from", 20_000))
                .isEqualTo("456789 end\n[characters 20000 to the end]");
        assertThat(answer(found(LONG), "call", "tu_1")).startsWith("begin 0123");
    }

    @Test
    void read_beyondTheEnd_orOfWrongArguments_isInvalid() {
        assertThat(answer(found(LONG), "call", "tu_1", "from", 20_010))
                .isEqualTo(
                        "failed: Invalid input for tool \"read_result\": \"from\" must be less than the length of 20010"
                                + " characters");
        assertThat(answer(found(LONG))).endsWith("\"call\" is required and must be a string");
        assertThat(answer(found(LONG), "call", "tu_1", "from", -1))
                .endsWith("\"from\" must be a whole number, 0 or more");
        assertThat(answer(found(LONG), "call", "tu_1", "from", "1")).startsWith("failed: ");
        assertThat(answer(found(LONG), "call", "tu_1", "from", 1, "search", "a"))
                .endsWith("either \"from\" or \"search\", not both");
        assertThat(answer(found(LONG), "call", "tu_1", "search", ""))
                .endsWith("\"search\" must have 1 to 500 characters");
        assertThat(answer(found(LONG), "call", "tu_1", "search", "a".repeat(501)))
                .startsWith("failed: ");
    }

    @Test
    void read_search_namesTheCharacterOfEachPlace() {
        assertThat(answer(found(LONG), "call", "tu_1", "search", " end"))
                .startsWith("1 hit, with the number of the character where each begins:\n[20006] ")
                .endsWith("0123456789 end");
        assertThat(answer(found(LONG), "call", "tu_1", "search", "0123456789".repeat(50)))
                .startsWith("The first 20 hits of more, ");
        assertThat(answer(found(LONG), "call", "tu_1", "search", 5)).startsWith("failed: ");
    }

    @Test
    void handles_thatAreNotHeld_sayWhy() {
        assertThat(answer(found(LONG), "call", "tu_7"))
                .isEqualTo("failed: Tool error: this conversation has no call \"tu_7\"");
        assertThat(answer(found(LONG), "call", "tu_0/tu_1"))
                .isEqualTo("failed: Tool error: this conversation has no call \"tu_0/tu_1\"");
        assertThat(answer(found("short"), "call", "tu_1"))
                .isEqualTo(
                        "failed: Tool error: the result of the call \"tu_1\" was not cut: all of it is in the conversation");
        ConversationScript open = called(use("tu_1", "lookup"), read("tu_2", "call", "tu_1"));
        assertThat(result(open, "tu_2")).isEqualTo("Tool error: the call \"tu_1\" has no result yet");
    }

    /** For each handle alone, this reads the transcript. Five seconds would be a deadlock for Temporal. */
    @Test
    void handles_fiveHundredThatAreGone_inALongConversation_areAnsweredSoon() {
        Message[] messages = new Message[40_001];
        Arrays.setAll(
                messages, i -> i % 2 == 0 ? Message.user("Go") : new Message(Role.ASSISTANT, List.of(text("On"))));
        ConversationScript story = found(LONG).with(replaced(messages), new ModelFact.ModelCalled(3));
        Part[] reads = new Part[Conversation.MAX_CALLS];
        Arrays.setAll(reads, i -> read("r" + i, "call", "tu_1"));
        long began = System.nanoTime();

        story.with(reply(3, reads));

        assertThat(System.nanoTime() - began).isLessThan(1_500_000_000);
        assertThat(result(story, "r499")).contains("is not kept any more");
    }

    @Test
    void oldestResult_isGivenUp_whenAllAreTooLarge_andItsHandleSaysSo() {
        ConversationScript story = ConversationScript.of(agent()).with(said("Go"));
        for (int i = 1; i <= 9; i++) {
            story.with(
                    new ModelFact.ModelCalled(i),
                    reply(i, use("tu_" + i, "lookup")),
                    new ToolFact.ToolDispatched("tu_" + i, 1),
                    finished("tu_" + i, i + BIG));
        }
        assertThat(story.state().callBook().longResults())
                .extracting(LongResult::callId)
                .containsExactly("tu_2", "tu_3", "tu_4", "tu_5", "tu_6", "tu_7", "tu_8", "tu_9");

        story.with(new ModelFact.ModelCalled(10), reply(10, read("a", "call", "tu_1"), read("b", "call", "tu_2")));
        assertThat(result(story, "a"))
                .isEqualTo("Tool error: the whole result of the call \"tu_1\" is not kept any more, only what you were"
                        + " shown of it. Call the tool again if you need the rest and a second call does no harm.");
        assertThat(result(story, "b")).startsWith("2xxxx");
    }

    @Test
    void handle_outlivesTheSummaryThatDropsItsCall() {
        AgentPolicy summed = agent().withSummaries(new SummaryRule(1, 1));
        ConversationScript story = ConversationScript.of(summed)
                .with(
                        said("Go"),
                        new ModelFact.ModelCalled(1),
                        reply(1, use("tu_1", "lookup")),
                        new ToolFact.ToolDispatched("tu_1", 1),
                        finished("tu_1", LONG),
                        new ModelFact.ModelCalled(2),
                        reply(2, text("Found")),
                        said("Again"),
                        new ModelFact.SummaryRequested(3),
                        new ModelFact.Summarised(
                                3, reply(3, text("They looked.")).reply()));
        assertThat(story.state().calls().contains("tu_1")).isFalse();

        story.with(new ModelFact.ModelCalled(4), reply(4, read("tu_2", "call", "tu_1", "from", 1)));

        assertThat(result(story, "tu_2")).startsWith("egin 0123");
    }

    @Test
    void clear_andReplacement_forgetWholeResults() {
        assertThat(found(LONG)
                        .with(new PersonFact.Cleared(false, Optional.empty()))
                        .state()
                        .callBook()
                        .longResults())
                .isEmpty();
        ConversationScript story = found(LONG).with(replaced(Message.user("Other")));
        assertThat(story.state().callBook().longResults()).isEmpty();

        story.with(new ModelFact.ModelCalled(3), reply(3, read("tu_2", "call", "tu_1")));
        assertThat(result(story, "tu_2")).contains("is not kept any more");
    }

    @Test
    void result_thatAServiceRefusedToRead_canNotBeReadOnEither() {
        ConversationScript story = found(LONG)
                .with(
                        new ModelFact.ModelFailed(2, new Problem("Refused", "refused"), Spent.NOTHING),
                        said("Then go on"),
                        new ModelFact.ModelCalled(3),
                        reply(3, read("tu_2", "call", "tu_1")));

        assertThat(story.messages().toString()).contains("withheld: the service refused to read it");
        assertThat(result(story, "tu_2")).doesNotContain("begin");
    }

    @Test
    void forkAndResumption_keepWholeResults() {
        Conversation over = found(LONG).with(reply(2, text("Done"))).state();

        Conversation fork = Rules.fork(over, new ForkRequest("f", Optional.empty()), over.updatedAt());
        assertThat(fork.wholeResult("tu_1")).contains(LONG);
        Resumption how = new Resumption(
                "r",
                Optional.empty(),
                Optional.of("Go on"),
                Optional.empty(),
                false,
                Optional.empty(),
                Optional.empty(),
                FileCalls.CONTINUE);
        assertThat(Rules.resume(over, how, over.updatedAt()).wholeResult("tu_1"))
                .contains(LONG);
    }

    @Test
    void repeatedResult_ofASideEffect_isTheCutText_withTheHandleOfTheFirstCall() {
        ConversationScript story = called(use("tu_1", "pay"));
        Call call = story.with(new ToolFact.ToolDispatched("tu_1", 1)).call("tu_1");
        story.with(
                new ToolFact.ToolClaimed("tu_1", 1, "pay", call.argsDigest(), 0, "run/1", false, Optional.empty()),
                finished("tu_1", LONG),
                new ModelFact.ModelCalled(2),
                reply(2, use("tu_2", "pay")));

        assertThat(result(story, "tu_2"))
                .startsWith("[idempotent replay of tu_1]: begin")
                .contains("read_result {\"call\": \"tu_1\"");
        assertThat(story.state().callBook().longResults())
                .extracting(LongResult::callId)
                .containsExactly("tu_1");

        story.with(new ModelFact.ModelCalled(3), reply(3, read("tu_3", "call", "tu_2")));
        assertThat(result(story, "tu_3")).contains("the whole result of the call \"tu_2\" is not kept");
    }

    @Test
    void rule_outsideItsLimits_isRefused() {
        assertThatThrownBy(() -> new ResultRule(4 * 1024 - 1)).hasMessageContaining("expected 4 KiB to 256 KiB");
        assertThatThrownBy(() -> new ResultRule(256 * 1024 + 1)).hasMessageContaining("found 262145 bytes");
    }
}
