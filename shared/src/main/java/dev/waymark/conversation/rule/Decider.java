package dev.waymark.conversation.rule;

import dev.waymark.conversation.Conversation;
import dev.waymark.conversation.Step;
import dev.waymark.conversation.call.AgentPolicy;
import dev.waymark.conversation.call.Call;
import dev.waymark.conversation.call.Delegation;
import dev.waymark.conversation.call.SubagentProgress;
import dev.waymark.conversation.message.Message;
import dev.waymark.conversation.message.Part;
import dev.waymark.conversation.message.Summary;
import dev.waymark.conversation.policy.SummaryRule;
import dev.waymark.conversation.state.Announcements;
import dev.waymark.conversation.state.ThreadIdentity;
import dev.waymark.conversation.state.TokenEstimate;
import dev.waymark.conversation.value.Budget;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Optional;

/** Decides what should happen now. */
final class Decider {
    /** The maximum number of calls of a reply that run concurrently. */
    static final int MAX_PARALLEL_CALLS = 50;

    /**
     * The maximum number of concurrent calls with side effects. A server accepts ten updates at a time, and people need
     * some of them.
     */
    private static final int MAX_PARALLEL_EFFECTS = 5;

    private final Conversation state;
    private final List<Step> steps = new ArrayList<>();

    private Decider(Conversation state) {
        this.state = state;
    }

    static List<Step> nextSteps(Conversation state) {
        Decider decider = new Decider(state);
        decider.reportToParent();
        decider.passOnDecisions();
        state.announcementsDue().forEach(what -> decider.steps.add(new Step.Announce(what)));
        state.callBook().tasksToCancel().forEach(task -> decider.steps.add(new Step.CancelTask(task)));
        decider.goOn();
        state.announcements().flatMap(Announcements::until).ifPresent(time -> decider.steps.add(new Step.WakeAt(time)));
        return Collections.unmodifiableList(decider.steps);
    }

    static List<Step.RunTool> callsToRunWithReply(Conversation state) {
        List<Step.RunTool> calls = new ArrayList<>();
        for (Step step : nextSteps(state)) {
            if (step instanceof Step.Announce) {
                continue; // Announcements do not affect the calls.
            }
            if (!(step instanceof Step.RunTool run) || run.dispatch() != 1 || hasEffect(state, run.call())) {
                return List.of();
            }
            if (run.call().grant().isPresent()) {
                return List.of(); // The grant may be revoked before the reply arrives.
            }
            calls.add(run);
        }
        // If a call is missing here, it has failed, waits, or has changed the thread's own state. The order of the
        // reply may then matter, so no call runs with the reply.
        boolean all = calls.size() == state.batch().size();
        return all ? List.copyOf(calls) : List.of();
    }

    private void reportToParent() {
        if (state.parent().isPresent()) {
            SubagentProgress now = state.progress();
            boolean isTold =
                    state.turn().isRunning() || isCancelled() || now.ended().isPresent();
            if (isTold && isReportDue(now, state.reported().orElse(SubagentProgress.NONE))) {
                steps.add(new Step.ReportToParent(state.parent().get(), now));
            }
        }
    }

    /**
     * Whether the parent needs a report. If only the spending has changed, only a cancelled thread reports it: other
     * threads return their spending when they end, but a cancelled thread cannot.
     */
    private boolean isReportDue(SubagentProgress now, SubagentProgress before) {
        return now.waiting() != before.waiting()
                || !now.asks().equals(before.asks())
                || (now.ended().isPresent() && !now.ended().equals(before.ended()))
                || (isCancelled() && !now.spent().equals(before.spent()));
    }

    private boolean isCancelled() {
        return state.life() == ThreadIdentity.Life.CANCELLED;
    }

    private void passOnDecisions() {
        for (Call call : state.batchCalls()) {
            call.subagent().stream()
                    .flatMap(known -> known.outbox().stream())
                    .forEach(decision -> steps.add(new Step.PassOn(call.id(), decision)));
        }
    }

    private void goOn() {
        if (isCancelled()) {
            steps.add(new Step.Close(true));
        } else if (!state.agentRequested()) {
            steps.add(new Step.ResolveAgent(state.agent()));
        } else if (!state.turn().isRunning()) {
            closeWhenOver();
        } else if (state.policy().isPresent() && !state.modelCalled()) {
            List<Call> open = state.openCalls();
            if (open.isEmpty()) {
                callModel();
            } else {
                carryOut(open);
            }
        }
    }

    private void closeWhenOver() {
        // A subagent without a task closes at once.
        boolean once =
                state.once() && (state.turn().number() > 0 || state.parent().isPresent());
        if (once || state.life() == ThreadIdentity.Life.CLOSING) {
            steps.add(new Step.Close(false));
        }
    }

    private void callModel() {
        int next = state.counters().steps() + 1;
        steps.add(isSummaryDue() ? new Step.Summarize(next) : new Step.CallModel(next));
    }

    /**
     * Whether the next model call would reach the token limit and the older part of the conversation can be summarized.
     */
    private boolean isSummaryDue() {
        Optional<SummaryRule> rule = state.policy().flatMap(AgentPolicy::summaries);
        TokenEstimate read = state.dialogue().estimate();
        if (rule.isEmpty() || read.isSummary(state.counters().steps())) {
            return false;
        }
        List<Message> fresh = new ArrayList<>();
        state.transcript()
                .entries()
                .tail(state.counters().messages() - read.messages())
                .forEach(entry -> fresh.add(entry.message()));
        List<Message> uncommitted = uncommitted();
        fresh.addAll(uncommitted);
        if (read.tokens() + TokenEstimate.guess(fresh) < rule.get().whenTokens()) {
            return false;
        }
        List<Message> all = new ArrayList<>(state.transcript().messages());
        all.addAll(uncommitted);
        return Summary.cut(all, rule.get().keepMessages()) > 1;
    }

    /** The messages that the next model call adds to the transcript. */
    private List<Message> uncommitted() {
        List<Message> messages = new ArrayList<>();
        List<Part.ToolResult> results = state.uncommittedResults();
        if (!results.isEmpty()) {
            messages.add(Message.results(results));
        }
        state.queue().forEach(queued -> messages.add(queued.message()));
        return messages;
    }

    private void carryOut(List<Call> open) {
        int running = 0;
        int effectsRunning = 0;
        for (Call call : open) {
            running += call.isInFlight() ? 1 : 0;
            effectsRunning += isClaiming(call) && hasEffect(state, call) ? 1 : 0;
        }
        List<Call> delegated = new ArrayList<>();
        for (Call call : open) {
            boolean effect = hasEffect(state, call);
            if (call.status() == Call.Status.DOUBTED && running < MAX_PARALLEL_CALLS) {
                steps.add(new Step.VerifyTool(call));
                running++;
            } else if (call.status() == Call.Status.REMOTE && running < MAX_PARALLEL_CALLS) {
                steps.add(new Step.FollowTask(call));
                running++;
            } else if (call.status() == Call.Status.ISSUED
                    && call.wakeAt().isEmpty()
                    && running < MAX_PARALLEL_CALLS
                    && (!effect || effectsRunning < MAX_PARALLEL_EFFECTS)) {
                if (lacksVerdict(call)) {
                    steps.add(new Step.Judge(call));
                } else if (state.isForSubagent(call)) {
                    delegated.add(call);
                } else {
                    steps.add(new Step.RunTool(call, call.dispatches() + 1));
                }
                running++;
                effectsRunning += effect ? 1 : 0;
            }
        }
        Optional<Budget> share = shareOf(delegated.size());
        delegated.forEach(call -> steps.add(new Step.StartSubagent(call, share)));
        open.stream()
                .flatMap(call -> call.wakeAt().stream())
                .min(Instant::compareTo)
                .ifPresent(time -> steps.add(new Step.WakeAt(time)));
    }

    /**
     * Whether an activity has to judge the call before it runs. If the call needs approval and is not waiting for it,
     * the activity determines whether a grant lets it run.
     */
    private boolean lacksVerdict(Call call) {
        AgentPolicy.ToolPolicy policy = state.policy().orElseThrow().policyOf(call.tool());
        return (policy.ruled() && call.verdict().isEmpty()) || ApprovalRules.isMissingFor(policy, call);
    }

    /** Whether the call is in flight and may still be claimed. A call whose task is followed is claimed already. */
    private static boolean isClaiming(Call call) {
        return call.isInFlight() && call.status() != Call.Status.FOLLOWING;
    }

    /**
     * The budget for each of this many subagents: an equal share of the budget that is neither spent nor reserved for
     * running subagents.
     */
    private Optional<Budget> shareOf(int subagents) {
        if (subagents == 0 || state.limits().equals(Budget.UNLIMITED)) {
            return Optional.empty();
        }
        Budget left = state.limits().minus(state.spent());
        for (Call call : state.batchCalls()) {
            left = left.minus(call.subagent().map(Delegation::outstanding).orElse(Budget.UNLIMITED));
        }
        return Optional.of(left.share(subagents));
    }

    private static boolean hasEffect(Conversation state, Call call) {
        return state.policy().orElseThrow().policyOf(call.tool()).effect();
    }
}
