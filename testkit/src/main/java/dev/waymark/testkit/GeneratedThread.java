package dev.waymark.testkit;

import dev.waymark.agent.AgentSpec;
import dev.waymark.annotation.Internal;
import dev.waymark.conversation.Conversation;
import dev.waymark.conversation.Step;
import dev.waymark.conversation.call.Call;
import dev.waymark.conversation.call.CallSettlement;
import dev.waymark.conversation.call.PendingItem;
import dev.waymark.conversation.call.SubagentProgress;
import dev.waymark.conversation.fact.Fact;
import dev.waymark.conversation.fact.ModelFact;
import dev.waymark.conversation.fact.PersonFact;
import dev.waymark.conversation.fact.SubagentFact;
import dev.waymark.conversation.fact.ThreadFact;
import dev.waymark.conversation.fact.ToolFact;
import dev.waymark.conversation.message.Message;
import dev.waymark.conversation.message.Part;
import dev.waymark.conversation.message.Reply;
import dev.waymark.conversation.message.Role;
import dev.waymark.conversation.policy.AgentPolicy;
import dev.waymark.conversation.policy.SummaryRule;
import dev.waymark.conversation.rule.Rules;
import dev.waymark.conversation.state.ThreadIdentity;
import dev.waymark.conversation.value.Json;
import dev.waymark.conversation.value.Problem;
import dev.waymark.conversation.value.Sha256;
import dev.waymark.conversation.value.Spent;
import dev.waymark.conversation.value.Usage;
import dev.waymark.history.Moment;
import dev.waymark.history.Timeline;
import java.time.Instant;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Random;

/**
 * Generates a random thread from a seed, with all of its states. The threads have questions, approvals, tools that ask,
 * files, plans, lost calls, subagents, summaries, structured replies, and several turns, which complete, fail, reach
 * the iteration limit, or are stopped or cancelled. For tests of formats and stores.
 *
 * <pre>{@code
 * for (long seed = 0; seed < 200; seed++) {
 *     Json checkpoint = CheckpointFormat.THREAD.view(GeneratedThread.of(seed));
 * }
 * }</pre>
 */
@Internal
public final class GeneratedThread {
    /** The agent of all generated threads. */
    public static final AgentSpec AGENT = AgentSpec.of("helper", "scripted:helper")
            .with()
            .instructions("You help. 漢😀")
            .build();

    private static final String[] WORDS = {
        "Hello", "漢字 😀", "", "line\nline", "\"quoted\" \\ \u0001", "{\"a\": 1}", "ok"
    };

    private final Random random;
    /** A second generator, whose draws do not advance the first one. */
    private final Random extras;

    private final List<Moment> moments = new ArrayList<>();
    private Instant at = Instant.parse("2026-05-01T09:00:00Z");
    private Conversation state;
    private int calls;
    private int run = 1;
    private int eventsOfRun;
    private final int maxIterations;
    private final AgentPolicy policy;

    private GeneratedThread(long seed) {
        // Multiplied, because Random starts with similar values for neighboring seeds.
        this.random = new Random(seed * 0x9E3779B97F4A7C15L);
        this.extras = new Random(~seed);
        this.maxIterations = chance(2) ? 2 : 12;
        this.policy = extras.nextInt(3) > 0
                ? policy(maxIterations)
                : policy(maxIterations).withSummaries(new SummaryRule(40, 1 + extras.nextInt(4)));
        ThreadFact.RunStarted started =
                new ThreadFact.RunStarted(ThreadIdentity.RULES, "helper", false, Optional.empty());
        state = Rules.start(started, at);
        note(started);
    }

    /** Returns the thread of this seed, which is always the same. */
    public static Timeline of(long seed) {
        GeneratedThread thread = new GeneratedThread(seed);
        int steps = 4 + thread.random.nextInt(40);
        for (int i = 0; i < steps; i++) {
            thread.step();
            boolean settled = thread.state.turn().number() > 0 && thread.state.isSettled();
            if (settled && thread.chance(3)) {
                break;
            }
        }
        return thread.timeline();
    }

    /** Returns a thread that starts with this state and has no further facts. */
    public static Timeline begunWith(Conversation state, String thread) {
        Moment moment = new Moment("run-2", 1, state.updatedAt(), Optional.empty(), state);
        return new Timeline(thread, "run-2", List.of(moment), state, Optional.of(AGENT), Optional.empty(), 1, false);
    }

    private Timeline timeline() {
        return new Timeline(
                "team/a:42", "run-" + run, moments, state, Optional.of(AGENT), Optional.empty(), eventsOfRun, false);
    }

    /** Returns the agent's policy for the rules, with a limit of 12 model calls per turn. */
    public static AgentPolicy policy() {
        return policy(12);
    }

    private static AgentPolicy policy(int maxIterations) {
        Map<String, AgentPolicy.Executor> tools = new LinkedHashMap<>();
        tools.put("add", AgentPolicy.Executor.ACTIVITY);
        tools.put("charge", AgentPolicy.Executor.ACTIVITY);
        tools.put("refund", AgentPolicy.Executor.ACTIVITY);
        tools.put("ask_user", AgentPolicy.Executor.QUESTION);
        tools.put("write_todos", AgentPolicy.Executor.STATE);
        tools.put("write_plan", AgentPolicy.Executor.STATE);
        tools.put("write_file", AgentPolicy.Executor.STATE);
        tools.put("scout", AgentPolicy.Executor.SUBAGENT);
        Map<String, AgentPolicy.ToolPolicy> policies = new LinkedHashMap<>();
        policies.put("charge", new AgentPolicy.ToolPolicy(true, false, false, false, false, 60_000, false, false));
        policies.put("refund", new AgentPolicy.ToolPolicy(true, true, true, false, true, 60_000, true, false));
        return new AgentPolicy("helper", maxIterations, tools, policies, Optional.empty());
    }

    private void step() {
        if (state.life() == ThreadIdentity.Life.CANCELLED || (chance(30) && somethingRareHappens())) {
            return;
        }
        if (!state.turn().isRunning() && chance(2)) {
            Optional<Json> schema = extras.nextInt(4) == 0 ? Optional.of(Json.EMPTY_OBJECT) : Optional.empty();
            apply(new PersonFact.UserSpoke(
                    Optional.empty(), Optional.empty(), Optional.of(Message.user(words())), false, schema));
            return;
        }
        List<Step> steps = Rules.nextSteps(state);
        if (!steps.isEmpty() && !chance(6)) {
            steps.forEach(this::carryOut);
            return;
        }
        if (!state.agentRequested() || state.policy().isEmpty()) {
            apply(state.agentRequested() ? new ThreadFact.AgentResolved(policy) : new ThreadFact.AgentRequested());
            return;
        }
        if (state.modelCalled()) {
            int step = state.counters().steps();
            if (state.isSummarizing()) {
                apply(
                        extras.nextInt(6) == 0
                                ? new ModelFact.SummaryFailed(
                                        step, new Problem("Provider", "overloaded"), Spent.NOTHING)
                                : new ModelFact.Summarised(step, Reply.of(new Part.Text("They talked of " + words()))));
                return;
            }
            apply(
                    chance(6)
                            ? new ModelFact.ModelFailed(step, new Problem("Provider", "overloaded"))
                            : new ModelFact.ModelReplied(step, reply()));
            return;
        }
        List<Call> open = state.openCalls();
        if (!open.isEmpty()) {
            bringOn(open.get(random.nextInt(open.size())));
        } else if (chance(3)) {
            apply(new PersonFact.UserSpoke(
                    Optional.empty(), Optional.empty(), Optional.of(Message.user("More")), false));
        }
    }

    private boolean somethingRareHappens() {
        switch (random.nextInt(4)) {
            case 0 ->
                apply(new PersonFact.UserSpoke(Optional.empty(), Optional.of(replacement()), Optional.empty(), false));
            case 1 -> apply(new PersonFact.Cleared(chance(2), Optional.of("ann")));
            case 2 -> apply(new ThreadFact.CancelRequested());
            default -> {
                if (!state.isBetweenSteps()) {
                    return false;
                }
                run++;
                eventsOfRun = 0;
                note(Optional.<Fact>empty());
            }
        }
        return true;
    }

    private List<Message> replacement() {
        String id = "old_" + ++calls;
        List<Part> pictures = List.of(
                new Part.Text(words()),
                new Part.Image("https://images.example/a.png", Optional.empty()),
                new Part.ImageData("aGk=", "image/png"));
        return List.of(
                new Message(Role.USER, chance(2) ? pictures : pictures.subList(1, 3)),
                Message.assistant(new Part.ToolUse(id, "add", Json.EMPTY_OBJECT)),
                Message.results(List.of(new Part.ToolResult(id, words(), chance(3)))),
                Message.assistant(new Part.Text("So it was.")),
                Message.user("And now?"));
    }

    private void carryOut(Step step) {
        if (step instanceof Step.ResolveAgent) {
            apply(new ThreadFact.AgentRequested());
        } else if (step instanceof Step.CallModel call) {
            apply(new ModelFact.ModelCalled(call.step()));
        } else if (step instanceof Step.Summarize summarize) {
            apply(new ModelFact.SummaryRequested(summarize.step()));
        } else if (step instanceof Step.RunTool run) {
            apply(new ToolFact.ToolDispatched(run.call().id(), run.dispatch()));
        } else if (step instanceof Step.VerifyTool verify) {
            apply(new ToolFact.VerifyDispatched(
                    verify.call().id(), verify.call().dispatches()));
        } else if (step instanceof Step.StartSubagent start) {
            apply(new SubagentFact.SubagentStarted(start.call().id(), start.budget()));
        } else if (step instanceof Step.PassOn passOn) {
            apply(new SubagentFact.DecisionPassedOn(passOn.callId()));
        } else if (step instanceof Step.WakeAt wake && wake.time().isAfter(at)) {
            at = wake.time();
            apply(new ThreadFact.TimePassed());
        }
    }

    private void bringOn(Call call) {
        int dispatch = call.dispatches();
        switch (call.status()) {
            case DISPATCHED -> {
                boolean effect = call.tool().equals("charge") || call.tool().equals("refund");
                if (effect) {
                    String digest = Sha256.hex(call.args().canonical());
                    apply(new ToolFact.ToolClaimed(
                            call.id(), dispatch, call.tool(), digest, call.repeat(), "run-1/1/x", false));
                } else {
                    finish(call);
                }
            }
            case CLAIMED -> finish(call);
            case DELEGATED -> hearFrom(call);
            case ASKING ->
                apply(new PersonFact.HumanAnswered(
                        Optional.empty(), Optional.of(call.id()), words(), Optional.empty()));
            case AWAITING -> decide(call);
            case UNSETTLED ->
                apply(new PersonFact.OutcomeSettled(
                        call.id(), CallSettlement.Outcome.DONE, Optional.of("done"), Optional.empty()));
            default -> {
                // The rules continue the call.
            }
        }
        if (chance(10)) {
            apply(new PersonFact.Stopped(Optional.of("ann")));
        }
    }

    /** Lets the subagent of a call ask something, get an answer, or finish. */
    private void hearFrom(Call call) {
        Spent spent = new Spent(new Usage(++calls, 1), Optional.empty());
        Optional<PendingItem> ask = state.asks().stream()
                .filter(each -> each.callId().startsWith(call.id() + "/"))
                .findFirst();
        if (ask.isPresent()) {
            apply(new PersonFact.HumanAnswered(
                    Optional.empty(), Optional.of(ask.get().callId()), words(), Optional.empty()));
        } else if (chance(2)) {
            PendingItem question = PendingItem.of(
                    Call.issued(new Part.ToolUse("tu_" + calls, "ask_user", Json.EMPTY_OBJECT), 1, at)
                            .asking("Which day?", at),
                    Optional.empty());
            apply(new SubagentFact.SubagentReported(call.id(), new SubagentProgress(true, List.of(question), spent)));
        } else {
            String status = chance(4) ? "max-iterations" : "complete";
            apply(new SubagentFact.SubagentFinished(call.id(), status, words(), Optional.empty(), Optional.of(spent)));
        }
    }

    private void decide(Call call) {
        boolean approved = !chance(3);
        Optional<Json> others = approved && chance(3) ? Optional.of(Json.of(Map.of("cents", 9))) : Optional.empty();
        apply(new PersonFact.ApprovalDecided(
                approved,
                Optional.empty(),
                Optional.of(call.id()),
                others,
                Optional.empty(),
                Optional.of("ann"),
                Optional.empty()));
    }

    private void finish(Call call) {
        int dispatch = call.dispatches();
        if (extras.nextInt(5) == 0) {
            apply(new ToolFact.ToolInterrupted(call.id(), dispatch, WORDS[extras.nextInt(WORDS.length)]));
            return;
        }
        apply(
                switch (random.nextInt(6)) {
                    case 0 -> new ToolFact.ToolFinished(call.id(), dispatch, "Tool error: no", true);
                    case 1 -> new ToolFact.ToolLost(call.id(), dispatch, new Problem("Timeout", "the worker was lost"));
                    default -> new ToolFact.ToolFinished(call.id(), dispatch, words(), false);
                });
    }

    private Reply reply() {
        List<Part> parts = new ArrayList<>();
        if (chance(6)) {
            parts.add(new Part.Reasoning("hm", Json.of(Map.of("signature", "é😀"))));
        }
        int wanted = Math.max(0, random.nextInt(5) - 1);
        if (wanted == 0 || chance(2)) {
            parts.add(new Part.Text("Reply " + random.nextInt(1000)));
        }
        for (int i = 0; i < wanted; i++) {
            parts.add(use());
        }
        Reply reply = new Reply(parts, new Usage(random.nextInt(100), random.nextInt(100)), "end_turn");
        if (wanted > 0 || state.turn().schema().isEmpty()) {
            return reply;
        }
        return extras.nextInt(3) == 0
                ? reply.withMisfit("it is not one JSON value")
                : reply.withStructured(Json.of(Map.of("n", extras.nextInt(10))));
    }

    private Part.ToolUse use() {
        String id = "tu_" + ++calls;
        return switch (random.nextInt(9)) {
            case 0 -> new Part.ToolUse(id, "ask_user", Json.of(Map.of("question", "Which day? " + words())));
            case 1 -> new Part.ToolUse(id, "charge", Json.of(Map.of("cents", random.nextInt(3))));
            case 2 -> new Part.ToolUse(id, "refund", Json.of(Map.of("cents", random.nextInt(3))));
            case 3 ->
                new Part.ToolUse(
                        id,
                        "write_todos",
                        Json.of(Map.of(
                                "todos", List.of(Map.of("id", "1", "content", words(), "status", "in_progress")))));
            case 4 ->
                new Part.ToolUse(
                        id,
                        "write_plan",
                        Json.of(Map.of(
                                "goal",
                                words(),
                                "steps",
                                List.of(Map.of("id", "1", "description", "go", "status", "blocked")))));
            case 5 ->
                new Part.ToolUse(
                        id, "write_file", Json.of(Map.of("path", "a/" + random.nextInt(2), "content", words())));
            case 6 -> new Part.ToolUse(id, "missing", Json.of(Map.of("x", 1e-7, "y", List.of("漢", Map.of()))));
            case 7 -> new Part.ToolUse(id, "scout", Json.of(Map.of("task", "Look around. 漢")));
            default -> new Part.ToolUse(id, "add", Json.EMPTY_OBJECT);
        };
    }

    private String words() {
        String words = WORDS[random.nextInt(WORDS.length)];
        return words.isEmpty() && state.openCalls().isEmpty() ? "Hello" : words;
    }

    private void apply(Fact fact) {
        at = at.plusMillis(1 + random.nextInt(2_000));
        state = Rules.apply(state, fact, at);
        note(fact);
    }

    private void note(Fact fact) {
        note(Optional.of(fact));
    }

    private void note(Optional<Fact> fact) {
        moments.add(new Moment("run-" + run, ++eventsOfRun, at, fact, state));
    }

    private boolean chance(int oneIn) {
        return random.nextInt(oneIn) == 0;
    }
}
