package dev.waymark.conversation.rule;

import dev.waymark.conversation.call.AgentPolicy;
import dev.waymark.conversation.decision.CallSettlement;
import dev.waymark.conversation.fact.Fact;
import dev.waymark.conversation.fact.ModelFact;
import dev.waymark.conversation.fact.PersonFact;
import dev.waymark.conversation.fact.ToolFact;
import dev.waymark.conversation.message.Part;
import dev.waymark.conversation.value.Json;
import dev.waymark.conversation.value.Problem;
import dev.waymark.conversation.value.ProblemType;
import dev.waymark.conversation.value.Sha256;
import java.time.Instant;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Optional;

/** Facts and tools for tests about side effects. */
final class ToolConversationScript {
    static final String DIGEST = Sha256.hex("{}");

    private ToolConversationScript() {}

    static AgentPolicy policy(Optional<AgentPolicy.Approvals> approvals) {
        Map<String, AgentPolicy.Executor> tools = new LinkedHashMap<>();
        Map<String, AgentPolicy.ToolPolicy> policies = new LinkedHashMap<>();
        tools.put("add", AgentPolicy.Executor.ACTIVITY);
        tools.put("ask_user", AgentPolicy.Executor.QUESTION);
        tools.put("write_file", AgentPolicy.Executor.STATE);
        tools.put("write_todos", AgentPolicy.Executor.STATE);
        policies.put("charge", new AgentPolicy.ToolPolicy(true, false, false, false, false, 60_000, false, false));
        policies.put("pay", new AgentPolicy.ToolPolicy(true, false, false, true, false, 60_000, true, false));
        policies.put("wire", new AgentPolicy.ToolPolicy(true, false, false, true, false, 60_000, false, false));
        policies.put("mail", new AgentPolicy.ToolPolicy(true, false, false, false, true, 60_000, true, false));
        policies.put("send", new AgentPolicy.ToolPolicy(true, false, false, true, false, 60_000, false, true));
        policies.put("post", new AgentPolicy.ToolPolicy(true, false, false, true, true, 60_000, false, false));
        policies.put("sign", new AgentPolicy.ToolPolicy(true, false, false, false, true, 60_000, false, false));
        policies.put("book", new AgentPolicy.ToolPolicy(true, false, true, false, false, 60_000, false, false));
        policies.put("fire", new AgentPolicy.ToolPolicy(true, true, false, false, false, 60_000, false, false));
        policies.put("drop", new AgentPolicy.ToolPolicy(true, true, false, false, true, 60_000, true, false));
        policies.keySet().forEach(tool -> tools.put(tool, AgentPolicy.Executor.ACTIVITY));
        return new AgentPolicy("helper", 9, tools, policies, approvals);
    }

    static ConversationScript begun(Optional<AgentPolicy.Approvals> approvals) {
        return ConversationScript.of(policy(approvals));
    }

    /** A thread in which a model was called and replied with these parts. */
    static ConversationScript replied(Part... parts) {
        return begun(Optional.empty())
                .with(
                        ConversationScript.said("Hello"),
                        new ModelFact.ModelCalled(1),
                        ConversationScript.reply(1, parts));
    }

    static Fact dispatched(String callId, int dispatch) {
        return new ToolFact.ToolDispatched(callId, dispatch);
    }

    static ToolFact.ToolClaimed claimed(String callId, int dispatch, String tool, String execution) {
        return new ToolFact.ToolClaimed(callId, dispatch, tool, DIGEST, 0, execution, false);
    }

    /** A claim that a reset has restored. */
    static ToolFact.ToolClaimed restored(String callId, int dispatch, String tool, String execution) {
        return new ToolFact.ToolClaimed(callId, dispatch, tool, DIGEST, 0, execution, true);
    }

    static Fact finished(String callId, int dispatch, String text) {
        return new ToolFact.ToolFinished(callId, dispatch, text, false);
    }

    /** The fact that a call has ended with an unknown outcome. */
    static Fact lost(String callId, int dispatch) {
        return new ToolFact.ToolLost(callId, dispatch, new Problem(ProblemType.OUTCOME_UNKNOWN, "HTTP 504"));
    }

    /** The fact that the server considers an execution lost, although it may still be running. */
    static Fact timedOut(String callId, int dispatch) {
        return new ToolFact.ToolLost(callId, dispatch, new Problem("Timeout", "the worker was lost"));
    }

    /** The fact that the execution's process has ended, as the next process on its host reports. */
    static Fact workerEnded(String callId, int dispatch) {
        return new ToolFact.ToolLost(callId, dispatch, new Problem(ProblemType.WORKER_ENDED, "the worker has ended"));
    }

    /** The fact that an execution has reported its outcome late. */
    static ToolFact.ToolEndedLate endedLate(String callId, String execution, Fact end) {
        return new ToolFact.ToolEndedLate(callId, execution, end);
    }

    static Fact notStarted(String callId, int dispatch, String execution) {
        return new ToolFact.ToolNotStarted(callId, dispatch, execution, "the worker is stopping");
    }

    static Fact verified(String callId, int dispatch, boolean landed) {
        return new ToolFact.ToolVerified(callId, dispatch, Optional.of(landed), Optional.empty());
    }

    static PersonFact.OutcomeSettled settled(String callId, CallSettlement.Outcome how) {
        return new PersonFact.OutcomeSettled(callId, how, Optional.empty(), Optional.of("ann"));
    }

    static PersonFact.ApprovalDecided approved(String callId) {
        return decided(true, Optional.of(callId), Optional.empty(), Optional.empty(), Optional.empty());
    }

    static PersonFact.ApprovalDecided denied(String callId) {
        return decided(false, Optional.of(callId), Optional.empty(), Optional.empty(), Optional.empty());
    }

    static PersonFact.ApprovalDecided decided(
            boolean approved,
            Optional<String> callId,
            Optional<Json> args,
            Optional<String> digest,
            Optional<String> reason) {
        return new PersonFact.ApprovalDecided(
                approved, Optional.empty(), callId, args, digest, Optional.of("ann"), reason);
    }

    static String durability(String tool, String callId, Instant claimedAt) {
        return "{\"error\":\"Tool '" + tool + "' (call " + callId + ") was requested but its execution did not complete"
                + " durably before the process ended. The tool is not declared 'safeToRetry: true', so the framework will"
                + " not automatically re-invoke it. Decide recovery based on observable external state — e.g., check"
                + " whether the side effect already occurred. If this tool is a pure read with no side effects, add"
                + " `safeToRetry: true` to its declaration. The call had been claimed for execution at " + claimedAt
                + "; whether it took effect is not known. What was seen of it: HTTP 504\",\"kind\":\"tool-durability-error\",\"toolName\":\""
                + tool
                + "\",\"toolCallId\":\"" + callId + "\"}";
    }
}
