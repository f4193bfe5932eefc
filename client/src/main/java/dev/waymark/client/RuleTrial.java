package dev.waymark.client;

import dev.waymark.agent.AgentSpec;
import dev.waymark.agent.ToolSpec;
import dev.waymark.contract.work.JudgedCalls;
import dev.waymark.conversation.call.Call;
import dev.waymark.conversation.decision.CallApproval;
import dev.waymark.conversation.value.CallVerdict;
import dev.waymark.conversation.value.Json;
import dev.waymark.history.RecordedReply;
import dev.waymark.timeline.Timeline;
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
    private boolean notKnown;

    private RuleTrial(AgentSpec agent, Timeline timeline, Optional<String> owner) {
        this.agent = agent;
        this.timeline = timeline;
        this.owner = owner;
    }

    /**
     * The calls of a thread.
     *
     * @param calls the number of calls that were compared
     * @param notKnown whether calls were left out, because rules ask about untrusted words and the recorded agent did
     *     not say which words are untrusted
     */
    public record Result(String thread, int calls, List<Difference> differences, boolean notKnown) {}

    /**
     * A call that would be decided differently.
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
        RecordedReply.in(timeline).stream().filter(past -> !past.summary()).forEach(trial::compare);
        return new Result(timeline.thread(), trial.calls, List.copyOf(trial.differences), trial.notKnown);
    }

    private void compare(RecordedReply past) {
        List<JudgedCall> calls =
                JudgedCalls.of(past.reply(), past.state(), owner, past.replied().at());
        for (int i = 0; i < calls.size(); i++) {
            Optional<ToolSpec> tool = agent.tool(calls.get(i).tool());
            Optional<CallVerdict.Then> then = past.thenOf(i);
            if (tool.isEmpty() || then.isEmpty()) {
                continue;
            }
            if (calls.get(i).untrusted().isEmpty()
                    && tool.get().rules().stream()
                            .anyMatch(rule -> rule.whenUntrusted().isPresent())) {
                notKnown = true;
            } else {
                compare(tool.get(), past.made(i), then.get(), calls.get(i));
            }
        }
    }

    private void compare(ToolSpec tool, Call made, CallVerdict.Then then, JudgedCall judged) {
        calls++;
        CallVerdict now = RuleCheck.verdict(tool, judged);
        if (then != now.then()) {
            // A summary may have dropped the call, and a cleared conversation its decision.
            Call last = timeline.now().calls().get(made.id()).orElse(made);
            differences.add(new Difference(
                    timeline.thread(),
                    made.id(),
                    tool.name(),
                    judged.args(),
                    then,
                    now,
                    last.status().name().toLowerCase(Locale.ROOT),
                    last.approval().or(made::approval)));
        }
    }
}
