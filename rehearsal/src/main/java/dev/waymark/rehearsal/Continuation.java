package dev.waymark.rehearsal;

import dev.waymark.agent.AgentSpec;
import dev.waymark.contract.work.AgentPolicies;
import dev.waymark.contract.work.JudgedCalls;
import dev.waymark.conversation.Conversation;
import dev.waymark.conversation.Step;
import dev.waymark.conversation.call.Call;
import dev.waymark.conversation.fact.AnnouncementFact;
import dev.waymark.conversation.fact.Fact;
import dev.waymark.conversation.fact.ModelFact;
import dev.waymark.conversation.fact.SubagentFact;
import dev.waymark.conversation.fact.ToolFact;
import dev.waymark.conversation.message.Reply;
import dev.waymark.conversation.rule.Rules;
import dev.waymark.conversation.state.Turn;
import dev.waymark.conversation.value.CallVerdict;
import dev.waymark.history.RecordedReply;
import dev.waymark.model.ModelFailure;
import dev.waymark.model.ModelRequest;
import dev.waymark.tool.JudgedCall;
import dev.waymark.tool.RuleCheck;
import dev.waymark.worker.model.ModelPrompt;
import dev.waymark.worker.provider.ModelProviders;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.stream.IntStream;

/**
 * Continues a thread in memory from another reply, under the rules of conversations and with the given {@link
 * CallResults results}. Ends at a call without a result, and where a person or the passing of time would be needed.
 */
final class Continuation {
    private static final String COMPLETE = "the turn is complete";

    private final CandidateCaller caller;
    private final AgentSpec agent;
    private final ModelProviders.Bound bound;
    private final CallResults results;
    private final RecordedReply from;
    private final Optional<String> owner;
    private final Optional<String> encryptedThread;
    private final List<String> lines = new ArrayList<>();
    private final Steps steps = new Steps();
    private final Instant at;
    private Conversation state;
    private int most;
    private int decided;

    /** What happened, a line for each step, and why it ended. */
    record Continued(List<String> steps, String end) {
        Continued {
            steps = List.copyOf(steps);
        }
    }

    /**
     * @param from the recorded reply that the candidate's reply replaces
     * @param results what calls return
     */
    Continuation(
            CandidateCaller caller,
            AgentSpec agent,
            ModelProviders.Bound bound,
            RecordedReply from,
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
        this.state = Rules.inRehearsal(from.state(), AgentPolicies.of(agent));
    }

    /**
     * Runs the continuation.
     *
     * @param reply the candidate's reply, examined
     * @param most the maximum number of further model calls
     */
    Continued run(Reply reply, int most) throws Spending.CeilingReached, InterruptedException {
        apply(new ModelFact.ModelReplied(state.counters().steps(), judged(reply)));
        this.most = most;
        while (true) {
            Optional<Step> next = Rules.nextSteps(state).stream()
                    .filter(step -> !(step instanceof Step.WakeAt))
                    .findFirst();
            if (next.isEmpty()) {
                return new Continued(lines, endReason());
            }
            Optional<String> end = next.get().match(steps).run();
            if (end.isPresent()) {
                return new Continued(lines, end.get());
            }
        }
    }

    private String endReason() {
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
        state = Rules.apply(state, fact, at);
    }

    private Optional<String> callModel(Step step) throws Spending.CeilingReached, InterruptedException {
        if (decided == most) {
            return Optional.of("stopped after " + most + " more replies");
        }
        decided++;
        boolean isSummary = step instanceof Step.Summarize;
        int number = state.counters().steps() + 1;
        apply(isSummary ? new ModelFact.SummaryRequested(number) : new ModelFact.ModelCalled(number));
        ModelRequest request = isSummary ? ModelPrompt.summary(state, agent) : ModelPrompt.request(state, agent);
        Reply reply;
        try {
            reply = caller.answer(CandidateRequest.of(agent, bound, request), agent, encryptedThread, 1)
                    .answer()
                    .reply();
        } catch (ModelFailure failure) {
            return Optional.of("no answer: " + failure.getMessage());
        }
        if (isSummary) {
            lines.add("summarizes");
            apply(new ModelFact.Summarised(number, reply));
            return Optional.empty();
        }
        Reply examined = ModelPrompt.examined(reply, agent, state.turn().schema());
        String text = Comparison.text(examined);
        if (!text.isBlank()) {
            lines.add("says: " + text);
        }
        apply(new ModelFact.ModelReplied(number, judged(examined)));
        return Optional.empty();
    }

    /** The reply with the verdicts of the agent's rules. Calls that need a judge in Java wait for a person. */
    private Reply judged(Reply reply) {
        List<JudgedCall> calls = JudgedCalls.of(reply, state, owner, at);
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

    private Optional<String> runTool(Step.RunTool step) {
        Call call = step.call();
        Optional<CallResults.CallResult> result = results.of(call, from);
        if (result.isEmpty()) {
            return withoutResult(call);
        }
        apply(new ToolFact.ToolDispatched(call.id(), step.dispatch()));
        apply(new ToolFact.ToolFinished(
                call.id(), step.dispatch(), result.get().content(), result.get().isError()));
        return given(call, result.get());
    }

    private Optional<String> startSubagent(Step.StartSubagent step) {
        Call call = step.call();
        Optional<CallResults.CallResult> result = results.of(call, from).filter(given -> !given.isError());
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

    private Optional<String> judge(Call call) {
        JudgedCall judged = new JudgedCall(
                call.tool(), call.args(), owner, state.spent(), state.requests(call), at, state.untrusted());
        apply(new ToolFact.VerdictRequested(call.id()));
        apply(new ToolFact.VerdictGiven(
                call.id(),
                agent.tool(call.tool())
                        .map(tool -> RuleCheck.verdict(tool, judged))
                        .orElseGet(() -> CallVerdict.ask("the agent has no tool " + call.tool()))));
        return Optional.empty();
    }

    private Optional<String> given(Call call, CallResults.CallResult result) {
        lines.add(words(call) + " → " + result.content() + " (" + result.source() + ")");
        return Optional.empty();
    }

    private static Optional<String> withoutResult(Call call) {
        return Optional.of("stopped before " + words(call) + ": there is no result of this call");
    }

    /** Carries out a step. Returns why the continuation ends, if it does. */
    private interface Work {
        Optional<String> run() throws Spending.CeilingReached, InterruptedException;

        static Work end(String why) {
            return () -> Optional.of(why);
        }
    }

    /** The work for each kind of step. */
    private final class Steps implements Step.Cases<Work> {
        @Override
        public Work callModel(Step.CallModel step) {
            return () -> Continuation.this.callModel(step);
        }

        @Override
        public Work summarize(Step.Summarize step) {
            return () -> Continuation.this.callModel(step);
        }

        @Override
        public Work runTool(Step.RunTool step) {
            return () -> Continuation.this.runTool(step);
        }

        @Override
        public Work startSubagent(Step.StartSubagent step) {
            return () -> Continuation.this.startSubagent(step);
        }

        @Override
        public Work judge(Step.Judge step) {
            return () -> Continuation.this.judge(step.call());
        }

        /** The task stays with the recorded thread. */
        @Override
        public Work cancelTask(Step.CancelTask step) {
            return () -> {
                apply(new ToolFact.TaskCancelRequested(step.task().callId()));
                return Optional.empty();
            };
        }

        /** A continuation announces nothing, because nothing has really happened. */
        @Override
        public Work announce(Step.Announce step) {
            return () -> {
                apply(new AnnouncementFact.AnnouncementEnded(step.what().number(), Optional.empty()));
                return Optional.empty();
            };
        }

        @Override
        public Work verifyTool(Step.VerifyTool step) {
            return Work.end("stopped before the check of " + words(step.call()));
        }

        @Override
        public Work followTask(Step.FollowTask step) {
            return Work.end("stopped while the server of " + words(step.call()) + " works on it");
        }

        @Override
        public Work passOn(Step.PassOn step) {
            return Work.end("stopped before a decision is passed on to a subagent");
        }

        @Override
        public Work reportToParent(Step.ReportToParent step) {
            return Work.end("stopped before a report to the thread that started it");
        }

        @Override
        public Work resolveAgent(Step.ResolveAgent step) {
            return Work.end("stopped before another agent is found");
        }

        @Override
        public Work wakeAt(Step.WakeAt step) {
            return Work.end(endReason());
        }

        @Override
        public Work close(Step.Close step) {
            return Work.end(endReason());
        }
    }
}
