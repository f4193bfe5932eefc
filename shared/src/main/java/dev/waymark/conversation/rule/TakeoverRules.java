package dev.waymark.conversation.rule;

import dev.waymark.conversation.ForkRequest;
import dev.waymark.conversation.Resumption;
import dev.waymark.conversation.call.AgentPolicy;
import dev.waymark.conversation.call.Call;
import dev.waymark.conversation.call.FromFile;
import dev.waymark.conversation.call.ToolTexts;
import dev.waymark.conversation.decision.FileCalls;
import dev.waymark.conversation.fact.PersonFact;
import dev.waymark.conversation.fact.SignalNames;
import dev.waymark.conversation.message.Message;
import dev.waymark.conversation.message.Part;
import dev.waymark.conversation.message.Transcript;
import dev.waymark.conversation.state.Origin;
import dev.waymark.conversation.state.ThreadIdentity;
import dev.waymark.conversation.state.Turn;
import dev.waymark.conversation.value.Json;
import dev.waymark.conversation.value.Problem;
import dev.waymark.conversation.value.ProblemType;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;

/** Rules of threads that start with the state of another one: resumed, forked, or from a checkpoint. */
final class TakeoverRules {
    private TakeoverRules() {}

    /** Starts a thread from the final state of a closed one. */
    static void resume(Draft draft, Resumption how) {
        begin(draft, how.id());
        draft.identity.once = how.once();
        draft.money.maxIterations = how.maxIterations().or(() -> draft.money.maxIterations);
        Optional<Json> extras = draft.identity.origin.flatMap(Origin::extras);
        draft.identity.origin = how.session().isEmpty() && extras.isEmpty()
                ? Optional.empty()
                : Optional.of(new Origin(how.session(), extras));
        draft.binding.context = how.context().or(() -> draft.binding.context);
        how.agent().ifPresent(named -> draft.binding.agent = named);
        if (how.agent().isPresent() || draft.binding.policy.isEmpty() || namesItsThread(draft)) {
            forgetAgent(draft, how.agent().isPresent());
        }
        ModelRules.undoModelCall(draft); // Its reply will not arrive here.
        if (how.fileCalls() != FileCalls.CONTINUE) {
            Optional<FromFile> mark = Optional.of(new FromFile(how.fileCalls() == FileCalls.CONTINUE_SAFE, false));
            draft.book.openCalls().stream()
                    .filter(call -> call.fromFile().isEmpty())
                    .forEach(call -> draft.book.put(call.fromFile(mark)));
        }
        how.answer().ifPresent(words -> answerOrSay(draft, words));
        if (draft.book.openCalls().isEmpty() && draft.dialogue.queue.isEmpty()) {
            ModelRules.answerLastReply(draft);
        }
        if (!draft.book.openCalls().isEmpty() || (draft.dialogue.turn.canContinue() && !draft.dialogue.isBlank())) {
            draft.dialogue.turn = draft.dialogue.turn.continued();
        }
        takeUpOpenCalls(draft);
    }

    /** Starts a thread from the state of another one, which may continue independently. */
    static void fork(Draft draft, ForkRequest how) {
        begin(draft, how.id());
        draft.identity.once = false;
        draft.identity.origin = draft.identity
                .origin
                .flatMap(Origin::extras)
                .map(extras -> new Origin(Optional.empty(), Optional.of(extras)));
        draft.binding.agentRequested = draft.binding.policy.isPresent();
        EffectRules.inherit(draft);
        ModelRules.undoModelCall(draft); // Its reply will not arrive here.
        for (Call call : draft.book.openCalls()) {
            if (draft.policyOf(call).effect()
                    || call.status() == Call.Status.DELEGATED
                    || call.suspension().isPresent()) {
                LostCallRules.giveUp(draft, call);
            }
        }
        if (how.message().isPresent() || !draft.isInterrupted()) {
            TurnRules.stop(
                    draft,
                    Turn.Status.STOPPED,
                    "Cancelled: the conversation was forked here.",
                    new Problem(ProblemType.FORKED, "the thread was forked in the middle of this turn"));
        }
        how.message()
                .ifPresent(message -> PeopleRules.userSpoke(
                        draft, PersonFact.UserSpoke.of(message).withUntrusted(how.untrusted())));
        if (namesItsThread(draft)) {
            forgetAgent(draft, false);
        }
        restartWaits(draft);
    }

    /**
     * Whether the agent's definition names its thread. Signatures are bound to that thread, so another thread must not
     * reuse the definition.
     */
    private static boolean namesItsThread(Draft draft) {
        return draft.binding.policy.flatMap(AgentPolicy::signers).isPresent();
    }

    /** Lets the thread resolve its agent. Verdicts are dropped: the rules of the other definition may differ. */
    private static void forgetAgent(Draft draft, boolean isOther) {
        UntrustedRules.agentForgotten(draft, isOther);
        draft.binding.policy = Optional.empty();
        draft.binding.agentRequested = false;
        draft.beginPrefix();
        draft.book.openCalls().forEach(call -> draft.book.put(call.unjudged()));
    }

    /** Ends all grants, which end with their thread. Their calls that have not run need a decision in this thread. */
    private static void endGrants(Draft draft) {
        draft.book.grants = draft.book.grants.ended();
        draft.book.openCalls().stream()
                .filter(call -> call.grant().isPresent())
                .forEach(call -> draft.book.put(call.withoutGrant()));
    }

    private static void begin(Draft draft, String id) {
        draft.identity.rules = ThreadIdentity.RULES;
        draft.identity.life = ThreadIdentity.Life.OPEN;
        endGrants(draft);
        draft.parentLink.parent = Optional.empty();
        draft.parentLink.reported = Optional.empty();
        draft.counters.facts++;
        draft.arrivals.seen = draft.arrivals.seen.with(id, draft.counters.facts);
    }

    private static void answerOrSay(Draft draft, String words) {
        Optional<Call> question = draft.book.openCalls().stream()
                .filter(call -> call.status() == Call.Status.ASKING)
                .findFirst();
        if (question.isPresent()
                && draft.binding.policy.isEmpty()
                && question.get().lacksQuestion()) {
            // The call may wait for approval instead of an answer. Only the agent's tools show which.
            draft.book.put(question.get().answeredEarly(words));
        } else if (question.isPresent() && question.get().suspension().isPresent()) {
            PersonFact.HumanAnswered answer =
                    PersonFact.HumanAnswered.to(Optional.of(question.get().id()), words);
            Optional<Problem> misfit = Admission.misfit(question.get().request(draft.binding.policy), answer);
            if (misfit.isPresent()) {
                draft.ignore(SignalNames.ANSWER, misfit.get().message());
            } else {
                RemoteCallRules.answered(draft, question.get(), answer);
            }
        } else if (question.isPresent()) {
            draft.end(question.get(), Call.Status.COMPLETED, words);
        } else if (!words.isBlank()) {
            PeopleRules.userSpoke(draft, PersonFact.UserSpoke.message(words));
        }
    }

    /**
     * Handles the open calls of a thread once its agent is known. The agent determines who decides about calls of a
     * file, and until when.
     */
    static void agentResolved(Draft draft) {
        draft.book.openCalls().stream()
                .filter(call ->
                        call.status() == Call.Status.AWAITING && call.fromFile().isPresent())
                .forEach(call -> ApprovalRules.askFor(draft, call));
        takeUpOpenCalls(draft);
    }

    /** Handles the imported open calls if the agent's tools are known. */
    private static void takeUpOpenCalls(Draft draft) {
        if (draft.binding.policy.isPresent()) {
            List<Call> open = draft.book.openCalls();
            AgentPolicy policy = draft.binding.policy.get();
            open.stream()
                    .filter(call -> isExemptFromDecision(call, policy))
                    .forEach(call -> draft.book.put(call.fromFile(Optional.empty())));
            open.forEach(call -> takeUp(draft, draft.book.call(call.id()), policy));
            restartWaits(draft);
            draft.versionReached |= !open.isEmpty() && draft.book.openCalls().isEmpty();
        }
    }

    /** Restarts the time limits and ages of requests in a thread that takes them over. */
    private static void restartWaits(Draft draft) {
        if (draft.binding.policy.flatMap(AgentPolicy::approvals).isPresent()) {
            draft.book.openCalls().stream()
                    .filter(Call::waitsForPersonHere)
                    .forEach(call -> draft.book.put(call.withRestartedWait(draft.expiry(), draft.at)));
        }
    }

    /** Whether a call of a file needs no decision: its tool has no side effects, and the caller allowed such calls. */
    private static boolean isExemptFromDecision(Call call, AgentPolicy policy) {
        return call.fromFile().filter(FromFile::onlyEffects).isPresent() && policy.isHarmless(call.tool());
    }

    /**
     * Continues an imported open call, without waiting for an execution in the other thread. A checkpoint does not show
     * whether a call was claimed. It shows only that the call has no result and, if the conversation waited for people,
     * that the call waits too.
     */
    private static void takeUp(Draft draft, Call call, AgentPolicy policy) {
        Optional<AgentPolicy.Executor> executor =
                Optional.ofNullable(policy.tools().get(call.tool()));
        boolean mayHaveRun = call.wasBegun();
        if (call.status() == Call.Status.ASKING) {
            takeUpQuestion(draft, call);
        } else if (call.task().isPresent() && executor.isPresent()) {
            draft.book.put(call.remote(draft.at)); // Any thread can follow the task.
        } else if (executor.isEmpty() && !mayHaveRun && !call.mayHaveRunBefore()) {
            draft.fail(call, ToolTexts.notFound(call.tool(), policy));
        } else if (executor.isEmpty()) {
            LostCallRules.giveUp(draft, call);
        } else if (mayHaveRun && executor.get() == AgentPolicy.Executor.SUBAGENT) {
            LostCallRules.giveUp(
                    draft, call); // The effects of its thread are unknown, and a second thread could repeat them.
        } else if (mayHaveRun && !draft.policyOf(call).effect()) {
            if (isOverElsewhere(call) && executor.get() == AgentPolicy.Executor.ACTIVITY) {
                draft.book.put(
                        call.ended(Call.Status.LOST, ToolTexts.durabilityOfHarmless(call.tool(), call.id()), draft.at));
            } else {
                CallRules.advance(draft, call.issued(Optional.empty(), draft.at).withMayHaveRun(true));
            }
        } else if (call.status() == Call.Status.UNSETTLED && call.claim().isEmpty()) {
            if (isDecidable(draft, call)) {
                ApprovalRules.askFor(draft, call);
            } else {
                LostCallRules.askOrGiveUp(draft, call);
            }
        } else if (mayHaveRun && call.status() != Call.Status.UNSETTLED) {
            if (ApprovalRules.isUndecided(call) && draft.policyOf(call).verify()) {
                ApprovalRules.askFor(draft, call.withMayHaveRun(true)); // A check runs a program.
            } else {
                LostCallRules.checkAfterFence(draft, call);
            }
        } else if (call.status() == Call.Status.JUDGING) {
            CallRules.holdOrAdvance(draft, call); // The rules of the two definitions may differ.
        } else if (call.status() == Call.Status.DISPATCHED) {
            draft.book.put(call.issued(Optional.empty(), draft.at)); // If its approval is missing, it is judged first.
        } else if (call.status() == Call.Status.ISSUED
                && call.dispatches() == 0
                && call.wakeAt().isEmpty()) {
            CallRules.holdOrAdvance(draft, call);
        }
    }

    /** Whether a checkpoint shows that the call was executed, without its result. */
    private static boolean isOverElsewhere(Call call) {
        return call.claim().filter(Call.Claim::isElsewhere).isPresent();
    }

    /**
     * Rewrites the results of calls that have none in the checkpoint, once the agent shows which tools are safe to
     * retry.
     */
    static void rewriteLostResults(Draft draft) {
        Map<String, String> texts = new LinkedHashMap<>();
        for (Call call : callsOverElsewhere(draft)) {
            draft.book.put(call.withoutClaim());
            if (draft.binding.policy.orElseThrow().isHarmless(call.tool())) {
                texts.put(call.id(), ToolTexts.durabilityOfHarmless(call.tool(), call.id()));
            }
        }
        replaceResults(draft, texts);
    }

    /** Rewrites the results of calls that have none in the checkpoint, for a reader who does not know the agent. */
    static void rewriteLostResultsWithoutAgent(Draft draft, Set<String> harmlessTools) {
        Map<String, String> texts = new LinkedHashMap<>();
        for (Call call : callsOverElsewhere(draft)) {
            texts.put(
                    call.id(),
                    harmlessTools.contains(call.tool())
                            ? ToolTexts.durabilityOfHarmless(call.tool(), call.id())
                            : ToolTexts.durabilityWithoutAgent(call.tool(), call.id()));
        }
        replaceResults(draft, texts);
    }

    private static List<Call> callsOverElsewhere(Draft draft) {
        List<Call> found = new ArrayList<>();
        draft.book.calls.forEach((id, call) -> {
            if (call.status() == Call.Status.LOST && isOverElsewhere(call)) {
                found.add(call);
            }
        });
        return found;
    }

    /** Replaces the results of calls in the transcript, by call id. */
    private static void replaceResults(Draft draft, Map<String, String> texts) {
        if (!texts.isEmpty()) {
            draft.replaceTranscript(Transcript.EMPTY.plusAll(draft.dialogue.transcript.entries().toList().stream()
                    .map(entry -> entry.saying(corrected(entry.message(), texts)))
                    .toList()));
        }
    }

    private static Message corrected(Message message, Map<String, String> texts) {
        return new Message(
                message.role(),
                message.content().stream().map(part -> corrected(part, texts)).toList());
    }

    private static Part corrected(Part part, Map<String, String> texts) {
        if (part instanceof Part.ToolResult result) {
            String text = texts.get(result.toolUseId());
            return text == null ? part : new Part.ToolResult(result.toolUseId(), text, true);
        }
        return part;
    }

    private static void takeUpQuestion(Draft draft, Call call) {
        Optional<String> answer = call.result();
        if (isDecidable(draft, call) && call.lacksQuestion() && call.claim().isEmpty()) {
            answer.ifPresent(text -> draft.ignore(
                    SignalNames.ANSWER, "the call waits for a decision, which no answer is: " + call.id()));
            ApprovalRules.askFor(draft, call.withoutResult());
        } else if (answer.isPresent()) {
            draft.end(call, Call.Status.COMPLETED, answer.get());
        }
    }

    private static boolean isDecidable(Draft draft, Call call) {
        return draft.policyOf(call).approval() && call.approval().isEmpty();
    }
}
