package dev.waymark.worker.judge;

import dev.waymark.agent.AgentSpec;
import dev.waymark.agent.ToolSpec;
import dev.waymark.connect.DaemonThreads;
import dev.waymark.contract.work.JudgeInput;
import dev.waymark.contract.work.JudgedCalls;
import dev.waymark.conversation.Conversation;
import dev.waymark.conversation.message.Reply;
import dev.waymark.conversation.value.CallVerdict;
import dev.waymark.conversation.value.Json;
import dev.waymark.tool.CallJudge;
import dev.waymark.tool.JudgedCall;
import dev.waymark.tool.RuleCheck;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;

/**
 * Gives verdicts about calls: first by the recorded rules of a tool, then by a judge in Java. For calls that are left
 * to a person, it also compares the arguments with grants, and looks up the definition of the tool. Thread-safe.
 */
public final class CallJudges {
    public static final CallJudges NONE = new CallJudges(List.of(), CurrentDefinitions.NONE);

    private static final Duration PATIENCE = Duration.ofSeconds(5);

    /**
     * Time limit for all calls of a reply together. The remaining calls are judged in separate activities, after the
     * reply is recorded.
     */
    private static final Duration PATIENCE_PER_REPLY = Duration.ofSeconds(20);

    private final Map<String, CallJudge> judges = new LinkedHashMap<>();
    private final CurrentDefinitions definitions;
    private final InstantSource clock;
    private final ExecutorService threads = Executors.newCachedThreadPool(DaemonThreads.named("waymark-judge"));

    /** @throws IllegalArgumentException if two judges are for the same tool */
    public CallJudges(List<CallJudge> all, CurrentDefinitions definitions) {
        this(all, definitions, InstantSource.system());
    }

    CallJudges(List<CallJudge> all, CurrentDefinitions definitions, InstantSource clock) {
        this.definitions = definitions;
        this.clock = clock;
        for (CallJudge judge : all) {
            if (judges.put(judge.tool(), judge) != null) {
                throw new IllegalArgumentException("two judges for the tool " + judge.tool());
            }
        }
    }

    /** Returns the agent with a mark on each tool that has a judge. */
    public AgentSpec marked(AgentSpec agent) {
        if (agent.allTools().stream().noneMatch(tool -> judges.containsKey(tool.name()))) {
            return agent;
        }
        return agent.withEach(
                tool -> judges.containsKey(tool.name()) ? tool.with().judged().build() : tool);
    }

    /**
     * Returns the reply with verdicts about its calls, for a reply to a model call of this state. Calls with invalid
     * arguments get no verdict.
     */
    public Reply judged(Reply reply, Conversation state, AgentSpec agent, Optional<String> owner)
            throws InterruptedException {
        Instant at = clock.instant();
        List<JudgedCall> calls = JudgedCalls.of(reply, state, owner, at);
        Map<String, Optional<String>> digests = new HashMap<>();
        List<Reply.Judged> verdicts = new ArrayList<>();
        for (int i = 0; i < calls.size(); i++) {
            if (Thread.interrupted()) {
                throw new InterruptedException("cancelled while rules were asked");
            }
            JudgedCall call = calls.get(i);
            Optional<ToolSpec> tool = agent.tool(call.tool()).filter(each -> each.isRuled() || each.approval());
            boolean isLate = clock.instant().isAfter(at.plus(PATIENCE_PER_REPLY));
            if (tool.isPresent() && !isLate && reply.faultOf(i).isEmpty()) {
                CallVerdict verdict = verdict(tool.get(), call);
                if (verdict.then() == CallVerdict.Then.ASK) {
                    if (!digests.containsKey(call.tool())) {
                        digests.put(call.tool(), definitions.digest(agent, tool.get(), PATIENCE, true));
                    }
                    verdict = verdict.comparedWith(compared(
                                    JudgeInput.GrantSchema.of(state, call.tool()),
                                    state.grants().last(),
                                    tool.get().input(),
                                    call.args()))
                            .about(digests.getOrDefault(call.tool(), Optional.empty()));
                }
                verdicts.add(new Reply.Judged(i, verdict));
            }
        }
        return verdicts.isEmpty() ? reply : reply.withVerdicts(verdicts);
    }

    /** The verdict about one call. */
    public CallVerdict judged(JudgeInput input, AgentSpec agent) throws InterruptedException {
        Optional<ToolSpec> tool = agent.tool(input.tool());
        if (tool.isEmpty()) {
            return CallVerdict.ask("the agent has no tool " + input.tool());
        }
        CallVerdict verdict = input.judged()
                ? CallVerdict.ask("the rules were asked before")
                : verdict(
                        tool.get(),
                        new JudgedCall(
                                input.tool(),
                                input.args(),
                                input.owner(),
                                input.spent(),
                                input.requested(),
                                clock.instant(),
                                input.untrusted()));
        return verdict.comparedWith(
                        compared(input.grants(), input.lastGrant(), tool.get().input(), input.args()))
                .about(
                        input.definition()
                                ? definitions.digest(agent, tool.get(), PATIENCE_PER_REPLY, false)
                                : Optional.empty());
    }

    private static Optional<CallVerdict.Compared> compared(
            List<JudgeInput.GrantSchema> grants, int last, Json input, Json args) {
        return grants.isEmpty()
                ? Optional.empty()
                : Optional.of(new CallVerdict.Compared(
                        last,
                        grants.stream()
                                .filter(grant -> RuleCheck.isLike(grant.like(), input, args))
                                .map(JudgeInput.GrantSchema::number)
                                .toList()));
    }

    private CallVerdict verdict(ToolSpec tool, JudgedCall call) throws InterruptedException {
        return RuleCheck.verdict(tool, call, () -> tool.judged() ? byJudge(call) : Optional.empty());
    }

    private Optional<CallVerdict> byJudge(JudgedCall call) throws InterruptedException {
        CallJudge judge = judges.get(call.tool());
        return judge == null
                ? Optional.of(CallVerdict.ask("this worker has no judge for " + call.tool()))
                : ask(judge, call);
    }

    private Optional<CallVerdict> ask(CallJudge judge, JudgedCall call) throws InterruptedException {
        Future<Optional<CallVerdict>> answer = threads.submit(() -> judge.judge(call));
        try {
            return answer.get(PATIENCE.toMillis(), TimeUnit.MILLISECONDS);
        } catch (ExecutionException e) {
            return Optional.of(CallVerdict.ask("the judge failed: " + e.getCause()));
        } catch (TimeoutException e) {
            return Optional.of(CallVerdict.ask("the judge took longer than " + PATIENCE.toSeconds() + " s"));
        } finally {
            answer.cancel(true);
        }
    }
}
