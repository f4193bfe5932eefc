package dev.waymark.conversation.rule;

import dev.waymark.conversation.Conversation;
import dev.waymark.conversation.call.AgentPolicy;
import dev.waymark.conversation.call.Call;
import dev.waymark.conversation.call.EffectLog;
import dev.waymark.conversation.call.LongResult;
import dev.waymark.conversation.call.Parent;
import dev.waymark.conversation.call.ToolTexts;
import dev.waymark.conversation.fact.ToolFact;
import dev.waymark.conversation.message.Part;
import dev.waymark.conversation.message.Reply;
import dev.waymark.conversation.value.CallVerdict;
import java.nio.charset.StandardCharsets;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.stream.Stream;

/**
 * Rules of calls before they run: each call of a reply is checked, held behind an identical call, approved if it needs
 * approval, and answered at once if the thread can answer it itself.
 */
final class CallRules {
    /** The maximum length of a tool call's arguments: characters of canonical JSON. */
    static final int MAX_ARGS_LENGTH = 256 * 1024;

    private CallRules() {}

    /** Creates the calls of a reply. Calls that cannot run fail at once. */
    static void issue(Draft draft, List<Part.ToolUse> uses, Reply reply) {
        draft.book.batch = uses.stream().map(Part.ToolUse::id).toList();
        uses.forEach(use -> draft.book.put(Call.issued(use, draft.dialogue.turn.number(), draft.at)));
        for (int i = 0; i < uses.size(); i++) {
            Part.ToolUse use = uses.get(i);
            Optional<String> fault = reply.faultOf(i);
            Call call = draft.book.call(use.id());
            AgentPolicy policy = draft.binding.policy.orElseThrow();
            if (!policy.tools().containsKey(use.name())) {
                draft.fail(call, ToolTexts.notFound(use.name(), policy));
            } else if (i >= Conversation.MAX_CALLS) {
                draft.fail(call, ToolTexts.tooMany(Conversation.MAX_CALLS));
            } else if (fault.isPresent()) {
                draft.fail(call, ToolTexts.invalidInput(use.name(), fault.get()));
            } else if (use.input().canonical().length() > MAX_ARGS_LENGTH) {
                draft.fail(call, ToolTexts.invalidInput(use.name(), "too large"));
            } else {
                holdOrAdvance(
                        draft,
                        reply.verdictOf(i)
                                .filter(verdict -> ApprovalRules.takesVerdict(draft, call))
                                .map(call::judged)
                                .orElse(call));
            }
        }
        draft.reachVersionWhenBatchIsDone();
    }

    /** Holds a call with side effects, since identical calls run one after the other. Advances any other call. */
    static void holdOrAdvance(Draft draft, Call call) {
        if (draft.policyOf(call).effect()) {
            draft.book.put(call.held(draft.at));
        } else {
            advance(draft, call);
        }
    }

    /** Releases the first open call of each group of identical calls. The others follow when that call has ended. */
    static void releaseHeldCalls(Draft draft) {
        List<Call> open = draft.book.openCalls();
        if (draft.binding.policy.isEmpty() || open.stream().noneMatch(Call::isHeld)) {
            return;
        }
        Set<Call.Identity> busy = new LinkedHashSet<>();
        open.stream()
                .filter(call -> !call.isHeld() && draft.policyOf(call).effect())
                .forEach(call -> busy.add(call.identity()));
        List<Call> free = open.stream()
                .filter(call -> call.isHeld() && !busy.contains(call.identity()))
                .toList();
        for (Call call : inOrderOfRelease(draft, free)) {
            if (draft.book.call(call.id()).isHeld() && !busy.contains(call.identity())) {
                advance(draft, call);
                if (draft.book.call(call.id()).isOpen()) {
                    busy.add(call.identity());
                }
            }
        }
        draft.reachVersionWhenBatchIsDone();
    }

    /**
     * The order of the reply, except that calls whose own claim was restored come first. Otherwise an identical call
     * would take over that claim.
     */
    private static List<Call> inOrderOfRelease(Draft draft, List<Call> held) {
        List<Call> first =
                held.stream().filter(call -> hasRestoredClaim(draft, call)).toList();
        return first.isEmpty()
                ? held
                : Stream.concat(first.stream(), held.stream()).toList();
    }

    private static boolean hasRestoredClaim(Draft draft, Call call) {
        return draft.book.effectOf(call).remembered().stream()
                .anyMatch(claim -> claim.callId().equals(call.id()));
    }

    /** Continues a call that a person has approved. If it may have run before, its outcome is determined first. */
    static void continueApproved(Draft draft, Call call) {
        if (call.suspension().isPresent() && !call.mayHaveRunBefore()) {
            draft.book.put(call); // The server waits for the answer, so no execution of the call is running.
        } else if (!call.mayHaveRunBefore()) {
            holdOrAdvance(draft, call);
        } else if (draft.policyOf(call).effect()) {
            LostCallRules.checkAfterFence(draft, call);
        } else {
            advance(draft, call);
        }
    }

    /** Advances an undispatched call as far as the thread can without a worker or a person. */
    static void advance(Draft draft, Call call) {
        AgentPolicy.ToolPolicy policy = draft.policyOf(call);
        EffectLog.Effect effect = policy.effect() ? draft.book.effectOf(call) : EffectLog.Effect.NONE;
        AgentPolicy.Executor executor =
                draft.binding.policy.orElseThrow().tools().get(call.tool());
        Optional<EffectLog.Remembered> remembered = effect.rememberedFor(call.id());
        boolean returnsKnownResult =
                (policy.dedupe() || effect.inherited()) && effect.success().isPresent();
        if (ApprovalRules.lacksVerdict(draft, call)) {
            draft.book.put(call.issued(Optional.empty(), draft.at)); // The rules decide before anything else.
        } else if (ApprovalRules.isDeniedByRules(draft, call)) {
            ApprovalRules.denyByRules(draft, call);
        } else if (ApprovalRules.isUndecided(call)
                && !returnsKnownResult
                && executor != AgentPolicy.Executor.QUESTION) {
            ApprovalRules.askFor(draft, call); // A remembered claim may lead to a check, which runs a program.
        } else if (remembered.isPresent()) {
            LostCallRules.adoptUndoneExecution(draft, call, remembered.get());
        } else if (returnsKnownResult) {
            String known = ResultRules.told(draft, call, effect.result().orElse(""));
            draft.book.put(call.ended(
                    Call.Status.COMPLETED, ToolTexts.replay(effect.success().get(), known), draft.at));
        } else if (ApprovalRules.isMissingFor(draft, call)
                && (policy.approval() || executor != AgentPolicy.Executor.QUESTION)) {
            ApprovalRules.granted(draft, call)
                    .ifPresentOrElse(granted -> advance(draft, granted), () -> ApprovalRules.askFor(draft, call));
        } else if (executor == AgentPolicy.Executor.QUESTION) {
            ask(draft, call);
        } else if (executor == AgentPolicy.Executor.STATE && call.tool().equals(LongResult.READ_TOOL)) {
            ResultRules.read(draft, call);
        } else if (executor == AgentPolicy.Executor.STATE) {
            StateTools.Outcome outcome = StateTools.run(draft.book.workspace, call.tool(), call.args(), draft.at);
            draft.book.workspace = outcome.workspace();
            draft.put(call, outcome.isError() ? Call.Status.FAILED : Call.Status.COMPLETED, outcome.text());
        } else if (executor == AgentPolicy.Executor.SUBAGENT
                && taskFault(draft, call).isPresent()) {
            draft.fail(call, taskFault(draft, call).get());
        } else {
            // A call that may have been dispatched before keeps its key, even if other calls have ended since.
            boolean first = call.dispatches() == 0 && call.claim().isEmpty();
            draft.book.put((first ? call.repeating(effect.executions()) : call)
                    .issued(LostCallRules.pendingFence(draft, call), draft.at));
        }
    }

    static void verdictRequested(Draft draft, ToolFact.VerdictRequested fact) {
        draft.book
                .calls
                .get(fact.callId())
                .filter(call -> call.status() == Call.Status.ISSUED)
                .ifPresent(call -> draft.book.put(call.judging(draft.at)));
    }

    static void verdictGiven(Draft draft, ToolFact.VerdictGiven fact) {
        judged(draft, fact.callId(), fact.verdict());
    }

    /**
     * Treats rules that cannot be evaluated as a verdict to ask a person. A call that a person has already approved
     * runs.
     */
    static void verdictFailed(Draft draft, ToolFact.VerdictFailed fact) {
        if (Draft.isLeft(fact.problem())) {
            judging(draft, fact.callId()).ifPresent(call -> draft.book.put(call.issued(Optional.empty(), draft.at)));
        } else {
            judged(
                    draft,
                    fact.callId(),
                    CallVerdict.ask(
                            "the rules could not be asked: " + fact.problem().message()));
        }
    }

    private static void judged(Draft draft, String callId, CallVerdict verdict) {
        judging(draft, callId).ifPresent(call -> {
            advance(draft, ApprovalRules.judged(draft, call, verdict));
            draft.reachVersionWhenBatchIsDone();
        });
    }

    private static Optional<Call> judging(Draft draft, String callId) {
        return draft.book.calls.get(callId).filter(call -> call.status() == Call.Status.JUDGING);
    }

    private static void ask(Draft draft, Call call) {
        if (call.args().field("question") instanceof String question) {
            draft.book.put(call.asking(question, draft.at).expiring(draft.expiry()));
        } else {
            draft.fail(call, ToolTexts.invalidInput(call.tool(), "\"question\" is required and must be a string"));
        }
    }

    /** Why this task cannot be given to a subagent; empty if it can. */
    private static Optional<String> taskFault(Draft draft, Call call) {
        if (!(call.args().field("task") instanceof String task) || task.isBlank()) {
            return Optional.of(ToolTexts.invalidInput(
                    call.tool(), "\"task\" is required and must be a string that says something"));
        }
        if (task.getBytes(StandardCharsets.UTF_8).length > MAX_ARGS_LENGTH) {
            return Optional.of(ToolTexts.invalidInput(call.tool(), "too large"));
        }
        if (call.id().contains("/")) {
            return Optional.of(ToolTexts.failure("no thread can be named after a call whose id has a slash in it"));
        }
        return draft.parentLink.parent.map(Parent::depth).orElse(0) >= Conversation.MAX_DEPTH
                ? Optional.of(ToolTexts.failure("there are " + Conversation.MAX_DEPTH + " threads above this one"
                        + " already, and a subagent may have no more"))
                : Optional.empty();
    }

    /**
     * Ends a question that was not answered in time. If a tool's server asked it, tells the server that it was
     * cancelled.
     */
    private static void leaveUnanswered(Draft draft, Call call) {
        if (call.suspension().isPresent()) {
            RemoteCallRules.unanswered(draft, call);
        } else {
            draft.end(call, Call.Status.FAILED, ToolTexts.unanswered() + Draft.claimNote(call));
        }
    }

    static void timePassed(Draft draft) {
        for (Call call : draft.book.openCalls()) {
            if (call.wakeAt().filter(time -> !time.isAfter(draft.at)).isPresent()) {
                if (call.status() == Call.Status.AWAITING) {
                    ApprovalRules.denyByTimeout(draft, call);
                } else if (call.status() == Call.Status.ASKING) {
                    leaveUnanswered(draft, call);
                } else if (call.status() == Call.Status.UNSETTLED) {
                    LostCallRules.giveUp(draft, call);
                    draft.reachVersionWhenBatchIsDone();
                } else if (call.status() == Call.Status.UNKNOWN) {
                    LostCallRules.giveUpWaiting(draft, call);
                } else {
                    draft.book.put(call.awake());
                }
            }
        }
    }
}
