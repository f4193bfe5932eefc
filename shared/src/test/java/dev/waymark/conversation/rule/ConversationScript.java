package dev.waymark.conversation.rule;

import dev.waymark.conversation.Conversation;
import dev.waymark.conversation.Step;
import dev.waymark.conversation.call.AgentPolicy;
import dev.waymark.conversation.call.Call;
import dev.waymark.conversation.fact.Fact;
import dev.waymark.conversation.fact.ModelFact;
import dev.waymark.conversation.fact.PersonFact;
import dev.waymark.conversation.fact.ThreadFact;
import dev.waymark.conversation.fact.ToolFact;
import dev.waymark.conversation.message.Message;
import dev.waymark.conversation.message.Part;
import dev.waymark.conversation.message.Reply;
import dev.waymark.conversation.state.ThreadIdentity;
import dev.waymark.conversation.state.Turn;
import dev.waymark.conversation.value.Json;
import dev.waymark.conversation.value.Problem;
import dev.waymark.conversation.value.Usage;
import java.time.Duration;
import java.time.Instant;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/** Builds a thread fact by fact, one second apart. Steps are not executed: tests give the facts that they record. */
public final class ConversationScript {
    public static final Instant START = Instant.parse("2026-05-01T09:00:00Z");
    public static final Optional<String> NONE = Optional.empty();

    private Conversation state;
    private int facts = 1;

    private ConversationScript(Conversation state) {
        this.state = state;
    }

    public static ConversationScript begun(ThreadFact.RunStarted started) {
        return new ConversationScript(Rules.start(started, START));
    }

    /** A thread of the agent helper, which is resolved. */
    public static ConversationScript of(AgentPolicy helper) {
        return begun(new ThreadFact.RunStarted(ThreadIdentity.RULES, "helper", false, Optional.empty()))
                .with(new ThreadFact.AgentRequested(), new ThreadFact.AgentResolved(helper));
    }

    /** A thread whose agent is resolved, has the tools add, lookup and ask_user, and is limited to 4 iterations. */
    public static ConversationScript ready() {
        return of(policy(4));
    }

    /** A thread in which a model was called and replied with these parts. */
    public static ConversationScript replied(Part... parts) {
        return ready().with(said("Hello"), new ModelFact.ModelCalled(1), reply(1, parts));
    }

    public static AgentPolicy policy(int maxIterations) {
        Map<String, AgentPolicy.Executor> tools = new LinkedHashMap<>();
        tools.put("add", AgentPolicy.Executor.ACTIVITY);
        tools.put("lookup", AgentPolicy.Executor.ACTIVITY);
        tools.put("ask_user", AgentPolicy.Executor.QUESTION);
        return new AgentPolicy("helper", maxIterations, tools);
    }

    ConversationScript with(Fact... more) {
        for (Fact fact : more) {
            state = Rules.apply(state, fact, START.plusSeconds(facts));
            facts++;
        }
        return this;
    }

    /** Applies all of these facts at the same time. {@link #with} continues one second later. */
    ConversationScript at(Instant time, Fact... more) {
        for (Fact fact : more) {
            state = Rules.apply(state, fact, time);
        }
        facts = (int) Duration.between(START, time).toSeconds() + 1;
        return this;
    }

    Conversation state() {
        return state;
    }

    List<Step> decides() {
        return Rules.nextSteps(state);
    }

    Turn.Status status() {
        return state.turn().status();
    }

    List<Message> messages() {
        return state.transcript().messages();
    }

    Call call(String id) {
        return state.calls().get(id).orElseThrow();
    }

    Optional<String> refusal(Fact.Inbound fact) {
        return Rules.refusal(state, fact).map(Problem::type);
    }

    public static PersonFact.UserSpoke said(String text) {
        return new PersonFact.UserSpoke(NONE, Optional.empty(), Optional.of(Message.user(text)), false);
    }

    public static PersonFact.UserSpoke said(String id, String text) {
        return new PersonFact.UserSpoke(Optional.of(id), Optional.empty(), Optional.of(Message.user(text)), false);
    }

    public static PersonFact.UserSpoke replaced(Message... messages) {
        return new PersonFact.UserSpoke(NONE, Optional.of(List.of(messages)), Optional.empty(), false);
    }

    public static PersonFact.UserSpoke retried() {
        return new PersonFact.UserSpoke(NONE, Optional.empty(), Optional.empty(), true);
    }

    public static PersonFact.UserSpoke goOn() {
        return new PersonFact.UserSpoke(NONE, Optional.empty(), Optional.empty(), false);
    }

    public static PersonFact.HumanAnswered answered(String text) {
        return new PersonFact.HumanAnswered(NONE, NONE, text, NONE);
    }

    public static PersonFact.HumanAnswered answered(String callId, String text) {
        return new PersonFact.HumanAnswered(NONE, Optional.of(callId), text, NONE);
    }

    public static PersonFact.BudgetRaised raised(int iterations) {
        return new PersonFact.BudgetRaised(Optional.of(iterations), NONE);
    }

    public static ModelFact.ModelReplied reply(int step, Part... parts) {
        return new ModelFact.ModelReplied(step, new Reply(List.of(parts), new Usage(10, 5), "end_turn"));
    }

    public static Part.Text text(String words) {
        return new Part.Text(words);
    }

    public static Part.ToolUse use(String id, String tool) {
        return new Part.ToolUse(id, tool, Json.EMPTY_OBJECT);
    }

    public static Part.ToolUse use(String id, String tool, int n) {
        return new Part.ToolUse(id, tool, Json.of(Map.of("n", n)));
    }

    public static Part.ToolUse ask(String id, String question) {
        return new Part.ToolUse(id, "ask_user", Json.of(Map.of("question", question)));
    }

    public static Fact finished(String id, String text) {
        return new ToolFact.ToolFinished(id, 1, text, false);
    }

    public static Part.ToolResult result(String id, String text) {
        return new Part.ToolResult(id, text, false);
    }

    public static Part.ToolResult error(String id, String text) {
        return new Part.ToolResult(id, text, true);
    }

    public static Message results(Part.ToolResult... results) {
        return Message.results(List.of(results));
    }
}
