package dev.waymark.worker.rehearsal;

import dev.waymark.agent.AgentSpec;
import dev.waymark.conversation.Conversation;
import dev.waymark.conversation.Step;
import dev.waymark.conversation.call.Call;
import dev.waymark.conversation.fact.Fact;
import dev.waymark.conversation.fact.ModelFact;
import dev.waymark.conversation.fact.SubagentFact;
import dev.waymark.conversation.fact.ToolFact;
import dev.waymark.conversation.message.Reply;
import dev.waymark.conversation.state.Turn;
import dev.waymark.conversation.value.CallVerdict;
import dev.waymark.history.RecordedDecision;
import dev.waymark.model.ModelFailure;
import dev.waymark.model.ModelRequest;
import dev.waymark.tool.JudgedCall;
import dev.waymark.tool.RuleCheck;
import dev.waymark.worker.model.ModelCalls;
import dev.waymark.worker.model.ModelProviders;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.stream.IntStream;

/**
 * Continues a thread in memory from another decision, under the rules of conversations, as far as {@link CallResults
 * results} reach. A call without one, a person, or time that would have to pass ends the continuation.
 */
final class Continuation {
    private static final String COMPLETE = "the turn is complete";

    private final CandidateCaller caller;
    private final AgentSpec agent;
    private final ModelProviders.Bound bound;
    private final CallResults results;
    private final RecordedDecision from;
    private final Optional<String> owner;
    private final Optional<String> encryptedThread;
    private final List<String> steps = new ArrayList<>();
    private final Instant at;
    private Conversation state;

    /** What happened, a line for each step, and why it ended. */
    record Continued(List<String> steps, String end) {
        Continued {
            steps = List.copyOf(steps);
        }
    }

    /**
     * @param from the decision in whose place the candidate has decided
     * @param results what calls return
     */
    Continuation(
            CandidateCaller caller,
            AgentSpec agent,
            ModelProviders.Bound bound,
            RecordedDecision from,
            CallResults results,
            Optional<String> owner,
            Optional<String> encryptedThread) {
        this.caller = caller;
        this.agent = agent;
        this.bound = bound;
        this.results = results;
        this.owner = owner;
        this.encryptedThread = encryptedThread;
        this.at = from.replied().at();
        this.from = from;
        this.state = from.state().inRehearsal(agent.policy());
    }

    /**
     * Continues.
     *
     * @param reply the candidate's reply, examined
     * @param most the maximum number of further model calls
     */
    Continued run(Reply reply, int most) throws SpendingLedger.CeilingReached, InterruptedException {
        apply(new ModelFact.ModelReplied(state.counters().steps(), judged(reply)));
        int left = most;
        while (true) {
            Optional<Step> next = state.decide().stream()
                    .filter(step -> !(step instanceof Step.WakeAt))
                    .findFirst();
            if (next.isEmpty()) {
                return new Continued(steps, restingPlace());
            }
            Optional<String> end;
            if (next.get() instanceof Step.CallModel || next.get() instanceof Step.Summarise) {
                end = left-- == 0 ? Optional.of("stopped after " + most + " more decisions") : callModel(next.get());
            } else if (next.get() instanceof Step.RunTool run) {
                end = runTool(run);
            } else if (next.get() instanceof Step.StartSubagent start) {
                end = startSubagent(start);
            } else {
                end = next.get().match(new WithoutTools());
            }
            if (end.isPresent()) {
                return new Continued(steps, end.get());
            }
        }
    }

    private String restingPlace() {
        Turn turn = state.turn();
        if (!turn.isRunning()) {
            return turn.status() == Turn.Status.COMPLETE
                    ? COMPLETE
                    : "the turn ended: "
                            + turn.problem()
                                    .map(problem -> problem.message())
                                    .orElse(turn.status().wireName());
        }
        return state.waitingCalls().stream()
                .findFirst()
                .map(call -> "waits for a person: " + words(call))
                .orElse("waits");
    }

    private void apply(Fact fact) {
        state = state.apply(fact, at);
    }

    private Optional<String> callModel(Step step) throws SpendingLedger.CeilingReached, InterruptedException {
        boolean isSummary = step instanceof Step.Summarise;
        int number = state.counters().steps() + 1;
        apply(isSummary ? new ModelFact.SummaryRequested(number) : new ModelFact.ModelCalled(number));
        ModelRequest request = isSummary ? ModelCalls.summary(state, agent) : ModelCalls.request(state, agent);
        Reply reply;
        try {
            reply = caller.answer(CandidateRequest.of(agent, bound, request), agent, encryptedThread, 1)
                    .answer()
                    .reply();
        } catch (ModelFailure failure) {
            return Optional.of("no answer: " + failure.getMessage());
        }
        if (isSummary) {
            steps.add("summarizes");
            apply(new ModelFact.Summarised(number, reply));
            return Optional.empty();
        }
        Reply examined = ModelCalls.examined(reply, agent, state.turn().schema());
        String text = Comparison.text(examined);
        if (!text.isBlank()) {
            steps.add("says: " + text);
        }
        apply(new ModelFact.ModelReplied(number, judged(examined)));
        return Optional.empty();
    }

    /** The reply with the verdicts of the agent's rules. A judge in Java is not asked, so its calls wait for a person. */
    private Reply judged(Reply reply) {
        List<JudgedCall> calls = JudgedCall.of(reply, state, owner, at);
        List<Reply.Judged> verdicts = IntStream.range(0, calls.size())
                .filter(i -> reply.faultOf(i).isEmpty())
                .boxed()
                .flatMap(i -> agent
                        .tool(calls.get(i).tool())
                        .filter(tool -> tool.isRuled())
                        .map(tool -> new Reply.Judged(i, RuleCheck.verdict(tool, calls.get(i))))
                        .stream())
                .toList();
        return verdicts.isEmpty() ? reply : reply.withVerdicts(verdicts);
    }

    private static String words(Call call) {
        return call.tool() + " " + call.args().canonical();
    }

    private Optional<String> runTool(Step.RunTool step) throws InterruptedException {
        Call call = step.call();
        Optional<CallResults.CallResult> result = results.of(call, agent, from);
        if (result.isEmpty()) {
            return withoutResult(call);
        }
        apply(new ToolFact.ToolDispatched(call.id(), step.dispatch()));
        apply(new ToolFact.ToolFinished(
                call.id(), step.dispatch(), result.get().content(), result.get().isError()));
        return given(call, result.get());
    }

    private Optional<String> startSubagent(Step.StartSubagent step) throws InterruptedException {
        Call call = step.call();
        Optional<CallResults.CallResult> result = results.of(call, agent, from).filter(given -> !given.isError());
        if (result.isEmpty()) {
            return withoutResult(call);
        }
        apply(new SubagentFact.SubagentStarted(call.id(), step.budget()));
        apply(new SubagentFact.SubagentFinished(
                call.id(),
                Turn.Status.COMPLETE.wireName(),
                result.get().content(),
                Optional.empty(),
                Optional.empty()));
        return given(call, result.get());
    }

    private Optional<String> given(Call call, CallResults.CallResult result) {
        steps.add(words(call) + " → " + result.content() + " (" + result.source() + ")");
        return Optional.empty();
    }

    private static Optional<String> withoutResult(Call call) {
        return Optional.of("stopped before " + words(call) + ": there is no result of this call");
    }

    /** Carries out what needs no result of a call. Returns why the continuation ends, if it does. */
    private final class WithoutTools implements Step.Cases<Optional<String>> {
        @Override
        public Optional<String> runTool(Step.RunTool step) {
            throw new IllegalStateException("calls get their results before");
        }

        @Override
        public Optional<String> startSubagent(Step.StartSubagent step) {
            throw new IllegalStateException("calls get their results before");
        }

        @Override
        public Optional<String> judge(Step.Judge step) {
            Call call = step.call();
            JudgedCall judged =
                    new JudgedCall(call.tool(), call.args(), owner, state.spent(), state.requests(call), at);
            apply(new ToolFact.VerdictRequested(call.id()));
            apply(new ToolFact.VerdictGiven(
                    call.id(),
                    agent.tool(call.tool())
                            .map(tool -> RuleCheck.verdict(tool, judged))
                            .orElseGet(() -> CallVerdict.ask("the agent has no tool " + call.tool()))));
            return Optional.empty();
        }

        @Override
        public Optional<String> close(Step.Close step) {
            return Optional.of(restingPlace());
        }

        @Override
        public Optional<String> callModel(Step.CallModel step) {
            throw new IllegalStateException("models are called before");
        }

        @Override
        public Optional<String> summarise(Step.Summarise step) {
            throw new IllegalStateException("models are called before");
        }

        @Override
        public Optional<String> wakeAt(Step.WakeAt step) {
            return Optional.of(restingPlace());
        }

        @Override
        public Optional<String> verifyTool(Step.VerifyTool step) {
            return Optional.of("stopped before the check of " + words(step.call()));
        }

        @Override
        public Optional<String> followTask(Step.FollowTask step) {
            return Optional.of("stopped while the server of " + words(step.call()) + " works on it");
        }

        /** The task stays with the recorded thread. */
        @Override
        public Optional<String> cancelTask(Step.CancelTask step) {
            apply(new ToolFact.TaskCancelRequested(step.task().callId()));
            return Optional.empty();
        }

        @Override
        public Optional<String> passOn(Step.PassOn step) {
            return Optional.of("stopped before a decision is passed on to a subagent");
        }

        @Override
        public Optional<String> reportToParent(Step.ReportToParent step) {
            throw new IllegalStateException("a rehearsed thread has no parent");
        }

        @Override
        public Optional<String> resolveAgent(Step.ResolveAgent step) {
            throw new IllegalStateException("a rehearsed thread has its agent");
        }
    }
}
