package dev.waymark.client;

import dev.waymark.agent.AgentSpec;
import dev.waymark.agent.ToolSpec;
import dev.waymark.conversation.Conversation;
import dev.waymark.conversation.call.Call;
import dev.waymark.conversation.call.CallApproval;
import dev.waymark.conversation.fact.ModelFact;
import dev.waymark.conversation.message.Part;
import dev.waymark.conversation.policy.AgentPolicy;
import dev.waymark.conversation.value.CallVerdict;
import dev.waymark.conversation.value.Json;
import dev.waymark.history.Moment;
import dev.waymark.history.Timeline;
import dev.waymark.tool.JudgedCall;
import dev.waymark.tool.RuleCheck;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Optional;

/**
 * The rules of an agent's newest definition, applied to the calls of a recorded thread as they were when the model made
 * them. Reads only. Judges in Java are not asked.
 */
public final class RuleTrial {
    private final AgentSpec agent;
    private final Timeline timeline;
    private final Optional<String> owner;
    private final List<Difference> differences = new ArrayList<>();
    private int calls;

    private RuleTrial(AgentSpec agent, Timeline timeline, Optional<String> owner) {
        this.agent = agent;
        this.timeline = timeline;
        this.owner = owner;
    }

    /**
     * The calls of a thread.
     *
     * @param calls the number of calls that were compared
     */
    public record Result(String thread, int calls, List<Difference> differences) {}

    /**
     * A call that would be decided in another way.
     *
     * @param then what happened when the model made the call
     * @param now what the rules say about it
     * @param status how the call ended, as {@code calls} shows it
     * @param decided the decision of a person, if there was one
     */
    public record Difference(
            String thread,
            String callId,
            String tool,
            Json args,
            CallVerdict.Then then,
            CallVerdict now,
            String status,
            Optional<CallApproval> decided) {}

    static Result of(AgentSpec agent, Timeline timeline, Optional<String> owner) {
        RuleTrial trial = new RuleTrial(agent, timeline, owner);
        Optional<Conversation> before = Optional.empty();
        for (Moment moment : timeline.moments()) {
            if (moment.fact().orElse(null) instanceof ModelFact.ModelReplied replied && before.isPresent()) {
                trial.replied(before.get(), moment, replied);
            }
            before = Optional.of(moment.state());
        }
        return new Result(timeline.thread(), trial.calls, List.copyOf(trial.differences));
    }

    private void replied(Conversation before, Moment moment, ModelFact.ModelReplied fact) {
        if (!before.awaitsModel(fact.step())) {
            return; // The turn was stopped, so no call was made.
        }
        Conversation after = moment.state();
        List<Part.ToolUse> calls = fact.reply().calls();
        List<Integer> requested = before.requests(calls);
        for (int i = 0; i < Math.min(calls.size(), after.batch().size()); i++) {
            Part.ToolUse use = calls.get(i);
            Optional<ToolSpec> tool = agent.tool(use.name());
            if (tool.isPresent() && fact.reply().faultOf(i).isEmpty()) {
                compare(
                        tool.get(),
                        after,
                        after.batch().get(i),
                        new JudgedCall(use.name(), use.input(), owner, after.spent(), requested.get(i), moment.at()));
            }
        }
    }

    private void compare(ToolSpec tool, Conversation after, String callId, JudgedCall judged) {
        calls++;
        Call made = after.calls().get(callId).orElseThrow();
        CallVerdict now = RuleCheck.verdict(tool, judged);
        CallVerdict.Then then = made.verdict().map(CallVerdict::then).orElseGet(() -> decidedBefore(after, made));
        if (then != now.then()) {
            // A summary may have dropped the call, and a cleared conversation its decision.
            Call last = timeline.now().calls().get(callId).orElse(made);
            differences.add(new Difference(
                    timeline.thread(),
                    callId,
                    tool.name(),
                    judged.args(),
                    then,
                    now,
                    last.status().name().toLowerCase(Locale.ROOT),
                    last.approval().or(made::approval)));
        }
    }

    private static CallVerdict.Then decidedBefore(Conversation after, Call made) {
        boolean asked = after.policy()
                .map(policy -> policy.policyOf(made.tool()))
                .filter(AgentPolicy.ToolPolicy::approval)
                .isPresent();
        return asked ? CallVerdict.Then.ASK : CallVerdict.Then.ALLOW;
    }
}
