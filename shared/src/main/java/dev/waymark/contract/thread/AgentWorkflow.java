package dev.waymark.contract.thread;

import dev.waymark.contract.WireNames;
import dev.waymark.contract.work.RunOutcome;
import dev.waymark.conversation.decision.PendingItem;
import dev.waymark.conversation.fact.SignalNames;
import dev.waymark.conversation.value.Json;
import dev.waymark.thread.StatusReport;
import io.temporal.common.converter.RawValue;
import io.temporal.workflow.QueryMethod;
import io.temporal.workflow.SignalMethod;
import io.temporal.workflow.WorkflowInterface;
import io.temporal.workflow.WorkflowMethod;
import java.util.List;

/**
 * A thread: a conversation with an agent, over its whole life.
 *
 * <p>Signals take raw payloads: otherwise a payload that cannot be decoded would fail every workflow task from then on.
 * Every signal also exists as an update with the same name, which is acknowledged or refused; updates are registered
 * dynamically.
 */
@WorkflowInterface
public interface AgentWorkflow {
    @WorkflowMethod(name = WireNames.WORKFLOW_TYPE)
    RunOutcome run(StartInput input);

    @SignalMethod(
            name = SignalNames.SAY,
            description = "A message to the agent. JSON: a string, or {\"content\": \"…\"}.")
    void say(RawValue payload);

    @SignalMethod(
            name = SignalNames.ANSWER,
            description = "The answer to the open question. JSON: a string, or {\"answer\": \"…\", \"callId\": \"…\"}.")
    void answer(RawValue payload);

    @SignalMethod(
            name = SignalNames.APPROVE,
            description = "Approves a call. JSON: nothing, or {\"callId\": \"…\", \"argsDigest\": \"…\", \"args\":"
                    + " {…}, \"by\": \"…\", \"reason\": \"…\", \"grant\": {\"times\": 3}}.")
    void approve(RawValue payload);

    @SignalMethod(
            name = SignalNames.DENY,
            description = "Denies a call. JSON: nothing, or {\"callId\": \"…\", \"argsDigest\": \"…\", \"by\": \"…\","
                    + " \"reason\": \"…\"}.")
    void deny(RawValue payload);

    @SignalMethod(name = SignalNames.REVOKE, description = "Revokes a grant. JSON: {\"grant\": 1, \"by\": \"…\"}.")
    void revoke(RawValue payload);

    @SignalMethod(
            name = SignalNames.SETTLE,
            description = "Settles a call with an unknown outcome. JSON: {\"callId\": \"…\", \"outcome\":"
                    + " \"done\" | \"not-done\" | \"rerun\" | \"give-up\", \"result\": \"…\", \"note\": \"…\","
                    + " \"by\": \"…\"}.")
    void settle(RawValue payload);

    @SignalMethod(
            name = SignalNames.BUDGET,
            description = "Raises a limit. JSON: {\"usd\": 2.5}, {\"tokens\": 200000} or {\"iterations\": 20}.")
    void budget(RawValue payload);

    @SignalMethod(name = SignalNames.STOP, description = "Ends the turn. JSON: nothing, or {\"by\": \"…\"}.")
    void stop(RawValue payload);

    @SignalMethod(
            name = SignalNames.CLEAR,
            description =
                    "Deletes the conversation. JSON: nothing, or {\"by\": \"…\", \"all\": true}, where all also deletes"
                            + " the record of side effects.")
    void clear(RawValue payload);

    @SignalMethod(
            name = SignalNames.CLOSE,
            description = "Closes the thread once it is idle. JSON: nothing, or {\"by\": \"…\"}.")
    void close(RawValue payload);

    @QueryMethod(name = WireNames.STATUS_QUERY, description = "A summary of the thread.")
    StatusReport status();

    @QueryMethod(name = WireNames.PENDING_QUERY, description = "The requests that wait for a person.")
    List<PendingItem> pending();

    @QueryMethod(name = WireNames.CALLS_QUERY, description = "The newest tool calls.")
    List<CallItem> calls();

    @QueryMethod(name = WireNames.CHECKPOINT_QUERY, description = "The conversation as a runner checkpoint.")
    Json checkpoint();

    @QueryMethod(name = WireNames.STATE_QUERY, description = "Digests of the state, for comparison with a projection.")
    StateReport state();
}
